"""An acknowledgement of an append never comes, though it was placed.

The event is lost between the server and the client. The agent says what it was told all the same: a client that takes
the append for lost has it said twice, one that waits for the acknowledgement before it goes on waits for ever, and one
that counts acknowledgements takes each for the one before.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from simrt.faults.base import Action, Armed, Context, Fault, Send
from simrt.faults.draw import Draw, Harm
from simrt.faults.live import ArmedAck, appends, check_append
from simrt.replay.score import Score


class LostAck(Fault, frozen=True):
    """The session's `nth` acknowledgement, of whatever kind and from 0, is left out."""

    name: ClassVar[str] = "lost-ack"
    nth: int = 0

    @classmethod
    def draw(cls, draw: Draw) -> LostAck:
        """Any of them."""
        return cls(draw.pick(range(appends(draw.score))))

    def harm(self) -> Harm:
        """Each append that is placed is acknowledged."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The cassette's client must append so much."""
        check_append(self, score, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Swallows it."""
        return _Armed(self, context, number, self.nth)


class _Armed(ArmedAck):
    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        if self.number_of(send) != self.nth:
            return (send,)
        self.fire(now_us)
        return ()
