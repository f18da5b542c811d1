"""The server refuses the connection."""

from __future__ import annotations

from typing import ClassVar

import msgspec

from simrt.errors import PlanError
from simrt.faults.base import Armed, Context, Fault
from simrt.faults.draw import Draw, Harm
from simrt.replay.score import Score
from simrt.wire import Refusal, Request

_BODIES = {
    401: ("invalid_request_error", "invalid_api_key", "Incorrect API key provided."),
    403: ("invalid_request_error", "forbidden", "Forbidden."),
    429: ("requests", "rate_limit_exceeded", "Too many concurrent sessions."),
    503: ("server_error", "service_unavailable", "The service is overloaded."),
}


class Refuse(Fault, frozen=True):
    """The opening handshake is answered with HTTP `status` (and a JSON error body) instead of 101, `times` times."""

    name: ClassVar[str] = "refuse"
    status: int = 429
    times: int = 1_000_000

    @classmethod
    def draw(cls, draw: Draw) -> Refuse:
        """For good, or once: a client may come again."""
        return cls(draw.pick((429, 401, 503)), draw.pick((1_000_000, 1)))

    def harm(self) -> Harm:
        """There is no call, at least at first; nobody has to come again."""
        return "fatal"

    def check(self, score: Score) -> None:
        """A refusal has a status from 300 to 599."""
        if not 300 <= self.status <= 599:
            raise PlanError(f"fault {self}: an HTTP refusal has a status from 300 to 599")

    def arm(self, context: Context, number: int) -> Armed:
        """Answers the handshake."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: Refuse

    def refuse(self, request: Request) -> Refusal | None:
        if self.fault.times:  # a connection that is let in after refusals says so too
            self.fire(0, status=self.fault.status)
        if self.context.refusals >= self.fault.times:
            return None
        kind, code, message = _BODIES.get(self.fault.status, ("server_error", "error", "Refused."))
        body = msgspec.json.encode({"error": {"type": kind, "code": code, "message": message}}).decode()
        return Refusal(self.fault.status, body, [("Content-Type", "application/json")])
