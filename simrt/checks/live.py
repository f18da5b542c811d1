"""What the Live rules look up in a case. Pure."""

import msgspec

from simrt.checks.case import Case
from simrt.checks.events import Connection, Event
from simrt.checks.hearing import Stretch, gaps
from simrt.delegations import Append, Delegation, delegations


class Told(msgspec.Struct, frozen=True):
    """One append of the client's: the delegation that it belongs to (id "": none) and the event that sent it. Times are
    µs of the call; `placed_us` None: it never was."""

    append: Append
    delegation: Delegation
    event: Event
    placed_us: int | None

    @property
    def t_us(self) -> int:
        """When it was sent."""
        return self.event.t_us


def live_connections(case: Case) -> list[Connection]:
    """The connections on which a Live session began."""
    if case.dialect != "live":
        return []
    return [c for c in case.connections if any(e.kind == "session.started" for e in c.events)]


def delegated(case: Case, connection: Connection) -> list[Delegation]:
    """The delegations of a connection; of a simulated call with what the server made of each append."""
    if case.result is not None and len(case.connections) == 1:
        return case.result.delegations
    return delegations(connection.trace)


def told(case: Case, connection: Connection) -> list[Told]:
    """Everything that the client appended, in the order of being sent."""
    kinds = {f"session.{kind}.append": kind for kind in ("commentary", "thinking", "instructions")}
    sent = [event for event in connection.events if event.sender == "client" and event.kind in kinds]
    found = []
    for delegation in delegated(case, connection):
        for append in delegation.appends:
            event = next(
                (
                    e
                    for e in sent
                    if kinds[e.kind] == append.kind and e.t_us - connection.opened_us == append.sent_us
                    if e.text("content") == append.content
                ),
                None,
            )
            if event is not None:
                placed = None if append.acked_us is None else connection.opened_us + append.acked_us
                found.append(Told(append, delegation, event, placed))
    return sorted(found, key=lambda one: (one.event.t_us, one.event.frame))


def session_span(case: Case, connection: Connection) -> Stretch:
    """From `session.started` to the moment from which the client need not speak any more: it or the caller hung up, or
    the session closed. µs of the call."""
    start = next(e.t_us for e in connection.events if e.kind == "session.started")
    ends = [e.t_us for e in connection.events if e.kind in ("session.close", "session.closed")]
    ends += [case.end_us] if connection.closed_us is None else [case.end_us, connection.closed_us]
    return start, max(start, min(ends))


def closed_by_client(case: Case, connection: Connection) -> int | None:
    """When the client ended the session, or hung up; None: it did not, somebody else did."""
    if case.line is not None and case.line.hung_up_by != "client":
        return None
    closes = [e.t_us for e in connection.events if e.kind == "session.close" and e.sender == "client"]
    if closes:
        return closes[0]
    return connection.closed_us if connection.closed_by == "client" else None


def silences(case: Case, connection: Connection) -> list[Stretch]:
    """When the client sent no audio though the session was open, but for when it had muted it. µs of the call."""
    start, end = session_span(case, connection)
    sent = [(append.t_us, append.t_us + 1) for append in connection.appends]
    muted, since = [], None
    for event in connection.events:
        if event.sender == "client" and event.kind == "session.input_audio.mute" and since is None:
            since = event.t_us
        elif event.sender == "client" and event.kind == "session.input_audio.unmute" and since is not None:
            muted.append((since, event.t_us))
            since = None
    if since is not None:
        muted.append((since, end))
    return gaps(sorted([*sent, *muted]), start, end)
