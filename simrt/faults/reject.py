"""The server refuses something that the client asked for.

An `error` event that quotes the client's event_id, and nothing else: no `response.created`, no `response.done`.
Reported: a refused `response.create` left the caller waiting for ten seconds (livekit/agents#6818).
"""

from __future__ import annotations

from typing import Any, ClassVar

from simrt.faults.base import Armed, Context, Fault
from simrt.faults.draw import Draw, Harm
from simrt.replay.score import Score


class Reject(Fault, frozen=True):
    """The client's `nth` event of type `event` is refused with `code`; asked again, the server obliges."""

    name: ClassVar[str] = "reject"
    event: str = "response.create"
    nth: int = -1
    code: str = "server_error"
    type: str = "server_error"
    message: str = "The server had an error while processing your request. Please retry."

    @classmethod
    def draw(cls, draw: Draw) -> Reject:
        """A request for a response."""
        return cls(nth=draw.pick(range(-1, -1 - len(asked(draw.score, "response.create")), -1)))

    def harm(self) -> Harm:
        """Without a session there is no call."""
        return "fatal" if self.event == "session.update" else "survivable"

    def check(self, score: Score) -> None:
        """The cassette's client must have sent it."""
        find_asked(self, score, self.event, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Stops that event."""
        return _Armed(self, context, number)


def asked(score: Score, event: str) -> list[str]:
    """The control events of that type that the cassette's client sent, or is expected to."""
    return [sent.kind for sent in score.client_events if sent.kind.partition(":")[0] == event]


def find_asked(fault: Fault, score: Score, event: str, nth: int) -> int:
    """Which of the client's events of that type `nth` means, from 0; PlanError if there is none."""
    if score.dialect != "realtime":
        raise fault.never(f"it is about the Realtime protocol, and this cassette's is {score.dialect}")
    count = len(asked(score, event))
    if not -count <= nth < count:
        kinds = ", ".join(sorted({sent.kind.partition(":")[0] for sent in score.client_events}))
        raise fault.never(f"the client sends {count} {event!r} events (it sends: {kinds}), so nth={nth} is not there")
    return nth % count


class ArmedGate(Armed):
    """Acts on the client's nth event of a type."""

    def __init__(self, fault: Fault, context: Context, number: int, event: str, nth: int) -> None:
        super().__init__(fault, context, number)
        self.event = event
        self.nth = find_asked(fault, context.cassette, event, nth)
        self.count = -1

    def gate(self, event: dict[str, Any], now_us: int) -> bool:
        """Count; act when it is that one."""
        if self.fired or event.get("type") != self.event:
            return False
        self.count += 1
        return self.count == self.nth and self.stop(event, now_us)

    def stop(self, event: dict[str, Any], now_us: int) -> bool:
        """This is the one: True if it goes no further."""
        self.fire(now_us)
        return True


class _Armed(ArmedGate):
    fault: Reject

    def __init__(self, fault: Reject, context: Context, number: int) -> None:
        super().__init__(fault, context, number, fault.event, fault.nth)

    def stop(self, event: dict[str, Any], now_us: int) -> bool:
        """An error is all that comes."""
        fault = self.fault
        self.context.session.answers.error(now_us, event, fault.type, fault.code, fault.message)
        return super().stop(event, now_us)
