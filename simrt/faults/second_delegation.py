"""The agent delegates the same turn twice, and both delegations are open at once.

A model that is not sure whether it has asked asks again; two pieces of one turn are taken for two. There is no text in
a delegation to tell them apart. A client that does the work twice cancels two orders, or has the caller told twice; one
that keeps one delegation only answers the wrong one.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from simrt.dialect import live_events
from simrt.faults.base import Action, Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw, Harm
from simrt.faults.live import draw_delegation, find_delegation
from simrt.replay.score import Score
from simrt.trace import parse_event


class SecondDelegation(Fault, frozen=True):
    """`after` ms behind the `nth` delegation another one of the same turn comes, with an id of its own."""

    name: ClassVar[str] = "second-delegation"
    nth: int = -1
    after: Ms = 200

    @classmethod
    def draw(cls, draw: Draw) -> SecondDelegation:
        """Any of them; at once, or while the client is at work."""
        return cls(draw_delegation(draw), draw.pick((200, 0, 1000, 3000)))

    def harm(self) -> Harm:
        """One question is asked once."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The delegation must be there."""
        find_delegation(self, score, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Waits for the first."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: SecondDelegation

    def __init__(self, fault: SecondDelegation, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.number = number
        self.index = find_delegation(fault, context.cassette, fault.nth).index
        self.offset_ms = 0

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        if send.frame is not None and send.frame.index == self.index:
            offset_ms = (parse_event(send.payload) or {}).get("offset_ms")
            self.offset_ms = offset_ms if isinstance(offset_ms, int) else 0
            self.context.do(now_us + self.fault.after * 1000, self, self._again)
        return (send,)

    def _again(self, now_us: int) -> None:
        live = self.context.live
        event = live_events.delegation_created(
            f"event_second{self.number}", f"item_second{self.number}", self.offset_ms
        )
        live.delegate(event, 0, now_us)
