"""Two acknowledgements of appends come in the other order.

An acknowledgement names no content, and those who match them by their order count on it. Behind the front end
commentary, thinking and instructions are different things, which may be ready at different times. A client that matches
each acknowledgement with the oldest append, whatever its kind, takes one for the other.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from simrt.faults.base import Action, Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw, Harm
from simrt.faults.live import ArmedAck, appends, check_append
from simrt.replay.score import Score


class AckReorder(Fault, frozen=True):
    """The session's `nth` acknowledgement, of whatever kind and from 0, comes behind the next one; or `within` ms late,
    if there is none by then."""

    name: ClassVar[str] = "ack-reorder"
    nth: int = 0
    within: Ms = 2000

    @classmethod
    def draw(cls, draw: Draw) -> AckReorder:
        """Any but the last; long enough for one that is sent later."""
        return cls(draw.pick(range(appends(draw.score) - 1)), draw.pick((2000, 500, 8000)))

    def harm(self) -> Harm:
        """The server acknowledges in the order of sending."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The cassette's client must append one thing more."""
        check_append(self, score, self.nth)
        check_append(self, score, self.nth + 1)

    def arm(self, context: Context, number: int) -> Armed:
        """Holds it."""
        return _Armed(self, context, number, self.nth)


class _Armed(ArmedAck):
    fault: AckReorder
    _held: Send | None = None

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        number, held = self.number_of(send), self._held
        if number == self.nth:
            self._held = send
            self.send_at(now_us + self.fault.within * 1000, send)
            return ()
        if held is None and send in self.mine:
            return ()  # it went out behind the next one
        if held is None or (number is None and send is not held):
            return (send,)
        self._held = None
        if send is held:
            return (send,)
        self.fire(now_us)
        return (send, held)
