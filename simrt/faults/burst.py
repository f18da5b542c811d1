"""A reply's audio comes far ahead of real time."""

from __future__ import annotations

from typing import ClassVar

from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw
from simrt.replay.score import Score, ScoredFrame


class Burst(Fault, frozen=True):
    """All of reply `reply`, to its `response.done`, is delivered within `within` ms of its first audio."""

    name: ClassVar[str] = "burst"
    reply: int = -1
    within: Ms = 300

    @classmethod
    def draw(cls, draw: Draw) -> Burst:
        """Any reply; at once, or in a second."""
        return cls(draw.reply(), draw.pick((300, 0, 100, 1000)))

    def check(self, score: Score) -> None:
        """The reply must be there."""
        self.find_reply(score, self.reply)

    def arm(self, context: Context, number: int) -> Armed:
        """Brings the frames of the reply forward."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: Burst
    by_place = True

    def __init__(self, fault: Burst, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.reply, _ = fault.find_reply(context.cassette, fault.reply)
        self.spans: dict[int | None, tuple[int, int]] = {}  # by response: another fault may have it given again
        mine = [frame for frame in context.score.frames if frame.reply == self.reply]
        for response in {frame.response for frame in mine}:
            delays = [frame.delay_us for frame in mine if frame.response == response]
            first_us = min((f.delay_us for f in mine if f.response == response and f.audio_us), default=max(delays))
            self.spans[response] = first_us, max(1, max(delays) - first_us)

    def shift(self, frame: ScoredFrame, due_us: int) -> int:
        first_us, span_us = self.spans.get(frame.response, (0, 1))
        behind_us = frame.delay_us - first_us
        if frame.reply != self.reply or behind_us <= 0:
            return due_us
        return due_us - behind_us + min(behind_us, behind_us * self.fault.within * 1000 // span_us)
