"""The client raised in the middle of a call.

A listener hears the line go dead. The session was up, and the caller was being served: whatever came then, an event
that is odd, an empty field, a connection that is lost, was more than the client could take.

An error that says why the call could not be set up (no key, a refused session) is no crash: it comes before
`session.updated`.

To mend: read events as they come, not as they should; catch what one event does wrong, and end the call in order when
the connection is gone.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case


@rule("END409", "crashed", "The client raised in the middle of the call")
def check(case: Case) -> Iterator[Finding]:
    """The error, with the last event that came before it."""
    result = case.result
    if result is None or result.error is None or not result.error.startswith("the client raised"):
        return
    if case.ready_us is None:
        return
    before = [e for e in case.events if e.sender == "server" and e.t_us <= case.end_us and not e.kind.endswith("delta")]
    last = before[-1] if before else None
    after = f", after {last.kind}" if last is not None else ""
    yield found(case.end_us, result.error + after, event=last, error=result.error)
