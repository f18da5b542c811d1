"""The acknowledgement of an append comes late.

`session.*.appended` came 602 to 959 ms after the append in published runs; nothing promises that. A client that waits
for it before it goes on, or takes the append for lost and sends it again, says things twice or late.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from simrt.faults.base import Action, Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw
from simrt.faults.live import ACKS, ArmedAck, appends, check_append
from simrt.replay.score import Score


class LateAck(Fault, frozen=True):
    """The session's `nth` acknowledgement, of whatever kind and from 0, comes `for` ms later; those behind it wait."""

    name: ClassVar[str] = "late-ack"
    nth: int = 0
    for_: Ms = msgspec.field(name="for", default=2000)

    @classmethod
    def draw(cls, draw: Draw) -> LateAck:
        """Any of them; up to some seconds."""
        return cls(draw.pick(range(appends(draw.score))), draw.ms(300, 5000, typical=2000))

    def check(self, score: Score) -> None:
        """The cassette's client must append so much."""
        check_append(self, score, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Holds it."""
        return _Armed(self, context, number, self.nth)


class _Armed(ArmedAck):
    fault: LateAck
    _until_us = 0

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        number = self.number_of(send)
        if number == self.nth:
            self._until_us = now_us + self.fault.for_ * 1000
        if send.kind not in ACKS or number is None or now_us >= self._until_us:
            return (send,)
        self.send_at(self._until_us, send)
        return ()
