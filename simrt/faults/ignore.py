"""The server does not react to something that the client asked for.

The event is lost behind the front end: no answer, no error. Reported: a reply after a tool call that never comes, with
nobody noticing (livekit/agents#5096, pipecat-ai/pipecat#917).
"""

from __future__ import annotations

from typing import ClassVar

from simrt.faults.base import Armed, Context, Fault
from simrt.faults.draw import Draw, Harm
from simrt.faults.reject import ArmedGate, draw_asked, find_asked
from simrt.replay.score import Score


class Ignore(Fault, frozen=True):
    """The client's `nth` event of type `event` has no effect at all; asked again, the server obliges."""

    name: ClassVar[str] = "ignore"
    event: str = "response.create"
    nth: int = -1

    @classmethod
    def draw(cls, draw: Draw) -> Ignore:
        """A request for a response; on Live an append."""
        return cls(*draw_asked(draw))

    def harm(self) -> Harm:
        """Without a session there is no call."""
        return "fatal" if self.event in ("session.update", "session.start") else "survivable"

    def check(self, score: Score) -> None:
        """The cassette's client must have sent it."""
        find_asked(self, score, self.event, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Swallows that event."""
        return ArmedGate(self, context, number, self.event, self.nth)
