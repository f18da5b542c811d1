"""The source pauses in the middle of a reply; all later audio of it shifts."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw
from simrt.replay.score import Score, ScoredFrame


class Stall(Fault, frozen=True):
    """At `at` ms of reply `reply`'s audio the server falls silent for `for` ms; what is left comes that much later."""

    name: ClassVar[str] = "stall"
    reply: int = -1
    at: Ms = 0
    for_: Ms = msgspec.field(name="for", default=500)

    @classmethod
    def draw(cls, draw: Draw) -> Stall:
        """In any reply, anywhere."""
        reply = draw.reply()
        return cls(reply, at=draw.place(reply), for_=draw.ms(100, 3000, typical=500))

    def check(self, score: Score) -> None:
        """The reply must be there, and must have audio beyond `at`."""
        _, length = self.find_reply(score, self.reply)
        if self.at >= length:
            raise self.never(f"reply {self.reply} has {length} ms of audio, at={self.at}ms lies beyond")

    def arm(self, context: Context, number: int) -> Armed:
        """Shifts the later frames of the reply."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: Stall
    by_place = True

    def __init__(self, fault: Stall, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.reply, _ = fault.find_reply(context.cassette, fault.reply)

    def shift(self, frame: ScoredFrame, due_us: int) -> int:
        if frame.reply != self.reply or frame.audio_start_us + frame.audio_us <= self.fault.at * 1000:
            return due_us
        inside = frame.audio_us > 0 and frame.audio_start_us < self.fault.at * 1000
        return due_us if inside else due_us + self.fault.for_ * 1000
