"""A response stops and never ends.

The service has lost the work behind it: no more audio, no call, no `response.done`, and no error either. To the server
the response is still active, so that a `response.create` is refused until the client cancels it or the caller speaks.
Reported: silence after a tool call (pipecat-ai/pipecat#917), a reply that never came (livekit/agents#5096).
"""

from __future__ import annotations

from typing import ClassVar

from msgspec.structs import replace

from simrt.faults.base import Armed, Context, Ms
from simrt.faults.draw import Draw, Harm
from simrt.faults.rewrite import Again, Broken, draw_response, ended_early, find_response, first_from
from simrt.replay.edit import Changes
from simrt.replay.score import Score, ScoredFrame

_NEVER_US = 24 * 3600 * 1_000_000  # what would close it waits, and comes when the response is cut


class Hang(Broken, frozen=True):
    """Of response `response` (all are counted, those with tool calls too) nothing comes behind `at` ms of its audio;
    with at=0 only `response.created` does.

    It ends when the client cancels it, or when the caller talks over it; a client that then asks for a response gets
    this one anew, whole.
    """

    name: ClassVar[str] = "hang"
    response: int = -1
    at: Ms = 0

    @classmethod
    def draw(cls, draw: Draw) -> Hang:
        """Any response, from its beginning or from within its audio."""
        response = draw_response(draw)
        return cls(response, draw.pick((0, 500, 1500)))

    def harm(self) -> Harm:
        """A client can only lose patience; what it asks for then it gets."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The response must be there, and have audio beyond `at`."""
        length = sum(frame.audio_us for frame in find_response(self, score, self.response)) // 1000
        if self.at and self.at >= length:
            raise self.never(f"response {self.response} has {length} ms of audio, at={self.at}ms lies beyond")

    def changes(self, score: Score) -> tuple[list[ScoredFrame], Changes]:
        """The rest is left out."""
        frames = find_response(self, score, self.response)
        changes = ended_early(frames, first_from(frames, self.at * 1000), "incomplete", None)
        later = {k: replace(f, delay_us=f.delay_us + _NEVER_US) for k, f in changes.items() if f is not None}
        return frames, changes | later

    def arm(self, context: Context, number: int) -> Armed:
        """Waits to give it again."""
        frames, changes = self.changes(context.cassette)
        return Again(self, context, number, [f.index for f in frames if f.index not in changes][-1])
