"""The server ends a Live session by itself.

`session.closed` says why: `content` (a safety filter), `expired` (the session's longest duration, an hour with
fluid-1), `remote_hangup`, or `connection_lost` (upstream). What was appended and not placed is told first, one error
each; then the connection is closed. A client that only knows `close_requested` takes it for its own doing, connects
again into a session that is refused, or never hangs up.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from simrt.faults.base import Armed, Context
from simrt.faults.draw import Draw, Harm
from simrt.faults.trigger import ArmedStroke, Triggered
from simrt.replay.score import Score

Reason = Literal["content", "expired", "connection_lost", "remote_hangup"]


class SessionClosed(Triggered, frozen=True):
    """At its moment (`at`, `reply` and `at`, or `event`) the server closes the session for this reason."""

    name: ClassVar[str] = "session-closed"
    reason: Reason = "content"

    @classmethod
    def draw(cls, draw: Draw) -> SessionClosed:
        """At any interesting moment."""
        trigger = draw.trigger()
        reason: Reason = draw.pick(("content", "expired", "connection_lost", "remote_hangup"))
        return cls(**trigger, reason=reason)

    def harm(self) -> Harm:
        """The call is over."""
        return "fatal"

    def check(self, score: Score) -> None:
        """There must be a Live session."""
        self.about("live", score)
        super().check(score)

    def arm(self, context: Context, number: int) -> Armed:
        """Waits for its moment."""
        return _Armed(self, context, number)


class _Armed(ArmedStroke):
    fault: SessionClosed

    def strike(self, now_us: int) -> None:
        self.context.live.close(self.fault.reason, now_us)
