"""One event never comes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from simrt.faults.base import Action, Armed, Context, Fault, Send
from simrt.faults.draw import Draw, Harm
from simrt.faults.trigger import ArmedEvent
from simrt.replay.score import Score

_AWAITED = (
    "response.done",
    "response.output_audio.done",
    "response.output_item.done",
    "conversation.item.input_audio_transcription.completed",
    "session.updated",
    "kugel.input_transcript.committed",
    "kugel.response.cancelled",
    "session.usage.updated",
    "session.closed",
)


class Drop(Fault, frozen=True):
    """The `nth` server event of type `event` is left out."""

    name: ClassVar[str] = "drop"
    event: str = "response.done"
    nth: int = -1

    @classmethod
    def draw(cls, draw: Draw) -> Drop:
        """One that a client may be waiting for."""
        return cls(*draw.event(*_AWAITED))

    def harm(self) -> Harm:
        """A session that is never ready is no call."""
        return "fatal" if self.event in ("session.created", "session.updated", "session.started") else "survivable"

    def check(self, score: Score) -> None:
        """The event must be there."""
        self.find_event(score, self.event, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Swallows that frame."""
        return _Armed(self, context, number, self.find_event(context.cassette, self.event, self.nth).index)


class _Armed(ArmedEvent):
    fault: Drop

    def act(self, send: Send, now_us: int) -> Iterable[Action]:
        self.fire(now_us)
        return ()
