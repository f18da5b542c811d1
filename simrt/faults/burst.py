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
        mine = [f for f in context.score.own_frames if f.reply == self.reply]
        self.first_us = min((f.delay_us for f in mine if f.audio_us), default=0)
        self.span_us = max(1, max((f.delay_us for f in mine), default=0) - self.first_us)

    def shift(self, frame: ScoredFrame, due_us: int) -> int:
        behind_us = frame.delay_us - self.first_us
        if frame.reply != self.reply or behind_us <= 0:
            return due_us
        return due_us - behind_us + min(behind_us, behind_us * self.fault.within * 1000 // self.span_us)
