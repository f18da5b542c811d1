"""The server refuses something that the client asked for.

An `error` event that quotes the client's event_id, and nothing else: no `response.created`, no `response.done`.
Reported: a refused `response.create` left the caller waiting for ten seconds (livekit/agents#6818).
"""

from __future__ import annotations

from typing import Any, ClassVar

from simrt.dialect.live_rules import RATE_LIMITED, Problem
from simrt.faults.base import Armed, Context, Fault
from simrt.faults.draw import Draw, Harm
from simrt.replay.score import Score

APPENDS = ("session.commentary.append", "session.thinking.append", "session.instructions.append")


class Reject(Fault, frozen=True):
    """The client's `nth` event of type `event` is refused with `code`; asked again, the server obliges.

    On Live that may be one of its appends; or its `session.start`, which each connection has one of: with
    code=rate_limit_exceeded the server closes with 1013, try again later.
    """

    name: ClassVar[str] = "reject"
    event: str = "response.create"
    nth: int = -1
    code: str = "server_error"
    type: str = "server_error"
    message: str = "The server had an error while processing your request. Please retry."

    @classmethod
    def draw(cls, draw: Draw) -> Reject:
        """A request for a response; on Live an append, or too many sessions."""
        event, nth = draw_asked(draw, "session.start")
        return cls(event, nth, code="rate_limit_exceeded") if event == "session.start" else cls(event, nth)

    def harm(self) -> Harm:
        """Without a session there is no call."""
        return "fatal" if self.event in ("session.update", "session.start") else "survivable"

    def check(self, score: Score) -> None:
        """The cassette's client must have sent it."""
        find_asked(self, score, self.event, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Stops that event."""
        return _Armed(self, context, number)


def asked(score: Score, event: str) -> list[str]:
    """The control events of that type that the cassette's client sent, or is expected to."""
    if score.dialect == "live" and score.authored and event == APPENDS[0]:
        return [event for reply in score.replies if reply.cause[0] == "commentary"]
    return [sent.kind for sent in score.client_events if sent.kind.partition(":")[0] == event]


def draw_asked(draw: Draw, *more: str) -> tuple[str, int]:
    """Something that the cassette's client asks for, and which: a response; on Live an append, or one of `more`."""
    kinds = (*APPENDS, *more) if draw.score.dialect == "live" else ("response.create",)
    event = draw.pick([kind for kind in kinds if asked(draw.score, kind)])
    return event, draw.pick(range(-1, -1 - len(asked(draw.score, event)), -1))


def find_asked(fault: Fault, score: Score, event: str, nth: int) -> int:
    """Which of the client's events of that type `nth` means, from 0; PlanError if there is none."""
    if score.dialect not in ("realtime", "live"):
        raise fault.never(f"what a client asks for is not known of this cassette's protocol, {score.dialect}")
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
        before = self.context.connections if self.event == "session.start" else 0
        return before + self.count == self.nth and self.stop(event, now_us)

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
        if self.context.cassette.dialect == "live":
            self.context.live.refuse(event, self._problem(), now_us)
            return super().stop(event, now_us)
        self.context.session.answers.error(now_us, event, fault.type, fault.code, fault.message)
        return super().stop(event, now_us)

    def _problem(self) -> Problem:
        """What the error of a Live server says."""
        fault = self.fault
        if fault.event == "session.start" and fault.code == RATE_LIMITED.code:
            return RATE_LIMITED
        return Problem(fault.code, fault.message, None, fault.type)
