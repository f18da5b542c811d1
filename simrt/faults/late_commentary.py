"""The agent says what it was told to say later than usual.

A commentary was placed and acknowledged, and the agent takes its time: it finishes a thought, or waits for the caller.
A client that hangs up, counts the caller as told, or tells it again in the meantime has the caller cut off or told
twice.
"""

from __future__ import annotations

from typing import ClassVar

from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw, Harm
from simrt.faults.live import appends, check_append
from simrt.faults.unspoken import COMMENTARY
from simrt.replay.score import Score

_LONG_MS = 3000


class LateCommentary(Fault, frozen=True):
    """The session's `nth` commentary, from 0, is spoken `by` ms of the timeline later."""

    name: ClassVar[str] = "late-commentary"
    nth: int = 0
    by: Ms = 2000

    @classmethod
    def draw(cls, draw: Draw) -> LateCommentary:
        """Any of them; up to what a caller would wait."""
        return cls(draw.pick(range(appends(draw.score, COMMENTARY))), draw.ms(300, 7500, typical=2000))

    def harm(self) -> Harm:
        """Nothing says when it is spoken; in some seconds a client may well think that it was forgotten."""
        return "legal" if self.by <= _LONG_MS else "survivable"

    def check(self, score: Score) -> None:
        """The cassette's client must have so much said."""
        check_append(self, score, self.nth, COMMENTARY)

    def arm(self, context: Context, number: int) -> Armed:
        """Delays it."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: LateCommentary

    def speak(self, nth: int, now_us: int) -> int | None:
        if nth != self.fault.nth:
            return 0
        self.fire(now_us)
        return self.fault.by * 1000
