"""One event comes later than on the cassette."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw, Harm
from simrt.replay.score import Score, ScoredFrame

_WHENEVER = (
    "response.done",
    "conversation.item.input_audio_transcription.completed",
    "conversation.item.truncated",
    "session.updated",
    "session.usage.updated",
    "session.closed",
)


class Delay(Fault, frozen=True):
    """The `nth` server event of type `event` comes `for` ms later; those behind it do not wait for it, but a response
    waits for the `response.done` of the one before."""

    name: ClassVar[str] = "delay"
    event: str = "response.done"
    nth: int = -1
    for_: Ms = msgspec.field(name="for", default=1000)

    @classmethod
    def draw(cls, draw: Draw) -> Delay:
        """One that nothing else has to wait for."""
        event, nth = draw.event(*_WHENEVER)
        return cls(event, nth, draw.ms(100, 5000, typical=1000))

    def harm(self) -> Harm:
        """Some events may come whenever they like; others belong before or after their neighbours."""
        return "legal" if self.event in _WHENEVER else "survivable"

    def check(self, score: Score) -> None:
        """The event must be there."""
        self.find_event(score, self.event, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Shifts that frame."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: Delay

    def __init__(self, fault: Delay, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        frame = fault.find_event(context.cassette, fault.event, fault.nth)
        self.index, self.response = frame.index, frame.response
        self.until_us: int | None = None  # no other response may begin before
        self.pushed_us: dict[int, int] = {}

    def shift(self, frame: ScoredFrame, due_us: int) -> int:
        if frame.index == self.index:
            due_us += self.fault.for_ * 1000
            if frame.kind == "response.done":
                self.until_us = due_us
            return due_us
        if self.until_us is None or frame.response is None or frame.response == self.response:
            return due_us
        return due_us + self.pushed_us.setdefault(frame.response, max(0, self.until_us + 1 - due_us))
