"""The client ends the call because of an `error` event that was no reason to.

A listener is thrown out in the middle: the line goes dead while the agent speaks, or while they wait for an answer.

An `error` event says that one thing was refused, or went wrong; the session stays open. A cancel that came too late, a
truncate of what was not there, a second `response.create` are answered with one, and cost nothing.

To mend: note it and go on. Give up only where the session itself is refused (the `session.update`, the key, the
quota), or has run out.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.events import Event
from simrt.checks.responses import Error

_GRAVE = frozenset(
    {
        "session_expired",
        "insufficient_quota",
        "rate_limit_exceeded",
        "invalid_api_key",
        "authentication_error",
        "permission_error",
        "model_not_found",
        "context_length_exceeded",
    }
)
_SOON_US = 1_000_000


@rule("PRO313", "hung-up-over-error", "The client ends the call over an error that leaves the session open")
def check(case: Case) -> Iterator[Finding]:
    """The error that was followed by the end, where the call was not over."""
    if not case.timed or case.hung_up_by != "client":
        return
    for error in case.errors:
        event, connection = error.event, case.connections[error.event.connection]
        if connection.closed_by not in (None, "client") or _grave(case, error):
            continue
        ended_us = case.end_us if connection.closed_us is None else min(case.end_us, connection.closed_us)
        if not event.t_us <= ended_us <= event.t_us + _SOON_US:
            continue
        left = _left(case, ended_us, event)
        if left is not None:
            what = error.code or error.message
            ms = (ended_us - event.t_us) / 1000
            yield found(event, f"ends the call {ms:.0f} ms after the error {what!r}, while {left}", error=what)
            return


def _grave(case: Case, error: Error) -> bool:
    """Whether this error is the end, or comes before the session was ready."""
    kinds = {error.code, error.event.text("error", "type")}
    refuses = error.refuses.kind if error.refuses is not None else ""
    ready = case.ready_us is not None and case.ready_us <= error.event.t_us
    return bool(kinds & _GRAVE) or refuses in ("session.update", "session.start") or not ready


def _left(case: Case, t_us: int, error: Event) -> str | None:
    """What was still going on when the client ended it; None: nothing, the call was over."""
    active = case.active_at(error.connection, t_us - 1)
    over = active.done if active is not None else None
    if active is not None and (over is None or (over.frame > error.frame and not error.t_us < over.t_us <= t_us)):
        return f"{active.id} is under way"
    if case.hearing is not None:
        for response in case.responses:
            unheard_us = sum(
                piece.audio_us - case.hearing.heard_us(piece)
                for piece in response.pieces
                if not any(piece.t_us <= clear.t_us < t_us for clear in case.hearing.clears)
            )
            if unheard_us > case.limits.unheard_ms * 1000:
                return "the agent is being heard"
    for turn in case.turns:
        if turn.first_us <= t_us and not any(r.first_us > turn.first_us for r in case.responses):
            return "the caller waits for an answer"
    if case.result is not None and case.result.verdict.unsaid and not _called_off(case, t_us):
        return "the caller has more to say"
    return None


def _called_off(case: Case, t_us: int) -> bool:
    """Whether the last response was over, with a call that the client has not answered: that may be what hangs up."""
    last = max(case.responses, key=lambda response: response.first_us, default=None)
    if last is None or last.done is None or last.done.t_us > t_us:
        return False
    return any(call.response is last and not call.outputs for call in case.calls)
