"""One event never comes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from simrt.faults.base import Action, Armed, Context, Fault, Send
from simrt.replay.score import Score


class Drop(Fault, frozen=True):
    """The `nth` server event of type `event` is left out."""

    name: ClassVar[str] = "drop"
    event: str = "response.done"
    nth: int = -1

    def check(self, score: Score) -> None:
        """The event must be there."""
        self.find_event(score, self.event, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Swallows that frame."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: Drop

    def __init__(self, fault: Drop, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.index = fault.find_event(context.score, fault.event, fault.nth).index

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        if send.frame is None or send.frame.index != self.index:
            return (send,)
        self.fire(now_us)
        return ()
