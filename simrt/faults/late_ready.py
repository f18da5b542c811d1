"""The session becomes ready late: `session.updated`, on Live `session.started`."""

from __future__ import annotations

from typing import ClassVar

from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw
from simrt.replay.score import Score, ScoredFrame


class LateReady(Fault, frozen=True):
    """The first `session.updated` (Live: `session.started`) comes no earlier than `at` ms after the connection
    opened."""

    name: ClassVar[str] = "late-ready"
    at: Ms = 3000

    @classmethod
    def draw(cls, draw: Draw) -> LateReady:
        """Up to five seconds: what a caller says in that time can be kept."""
        return cls(draw.ms(300, 5000, typical=3000))

    def check(self, score: Score) -> None:
        """The session must become ready."""
        self.find_event(score, ready_event(score), 0)

    def arm(self, context: Context, number: int) -> Armed:
        """Holds that one event."""
        return _Armed(self, context, number)


def ready_event(score: Score) -> str:
    """What says that the session is ready."""
    return "session.started" if score.dialect == "live" else "session.updated"


class _Armed(Armed):
    fault: LateReady
    _opened_us = 0

    def __init__(self, fault: Fault, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.event = ready_event(context.cassette)

    def opened(self, now_us: int) -> None:
        self._opened_us = now_us

    def shift(self, frame: ScoredFrame, due_us: int) -> int:
        if frame.kind != self.event or frame.nth != 0:
            return due_us
        return max(due_us, self._opened_us + self.fault.at * 1000)
