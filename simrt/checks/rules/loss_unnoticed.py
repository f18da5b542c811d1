"""The connection was lost, and the client stayed on the line as if nothing had happened.

A listener talks to nobody: no answer, no word of regret, no hang-up. The close frame (1001 at the session limit, 1011
after pongs that never came), or the reset, had reached the client.

To mend: when receiving ends, end the call or connect again within seconds (`notice_ms`), and say so.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case


@rule("END405", "loss-unnoticed", "The client stayed on the line after the connection was lost", harm="fatal")
def check(case: Case) -> Iterator[Finding]:
    """Each loss after which the client neither hung up nor connected again in time."""
    if case.line is None:
        return
    limit_us = round(case.limits.notice_ms * 1000)
    for connection in case.connections:
        lost_us = connection.closed_us
        if connection.closed_by not in ("server", "network") or lost_us is None:
            continue
        others = [c for c in case.connections if c is not connection]
        if any(c.opened_us <= lost_us + limit_us and (c.closed_us is None or c.closed_us > lost_us) for c in others):
            continue
        if case.end_us - lost_us <= limit_us:
            continue
        closing = connection.trace.closing
        stayed_s = (case.end_us - lost_us) / 1e6
        code = f"{closing.code} {closing.reason}".strip() if closing is not None else ""
        yield found(
            lost_us,
            f"the connection was lost ({code}), and the client stayed on the line for {stayed_s:.1f} s without another",
            connection=connection.number,
            code=closing.code if closing is not None else None,
        )
