"""The client was done, and had not closed the connection.

A listener notices nothing. The session goes on until the server ends it, at its limit or by a ping that nobody
answers: PolyAI bills connected time until the socket closes, and each open session counts against the limit of
concurrent ones.

To mend: close the connection in a `finally` (or `async with`), whatever ended the call, and wait for it.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case


@rule("END404", "socket-left-open", "A connection was still open when the client was done", harm="fatal")
def check(case: Case) -> Iterator[Finding]:
    """Each connection of a simulated call that has no end."""
    if case.result is None or case.result.closed_by == "cap":
        return
    for connection in case.connections:
        if connection.closed_us is None and connection.trace.frames:
            opened_s = connection.opened_us / 1e6
            yield found(
                case.end_us,
                f"the client is done, and the connection that it opened at {opened_s:.2f} s is open",
                connection=connection.number,
            )
