"""A response failed or was refused, and then nothing is heard for a long time.

A listener hears silence, and does not know whether anybody is still there.

`response.done` with the status `failed` (a server error, a rate limit) or `incomplete`, and an `error` that refuses a
`response.create`, end the matter for the server. Nothing more comes unless the client asks for it.

To mend: ask again (after a pause when it was a rate limit; after the active response's `response.done` when it was
refused for that), and after some tries say so to the caller, or hang up with a word.

The limit is `failure_ms`.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.silence import dead_air


@rule("AGT211", "dead-air-after-failure", "Silence after a response that failed, or a refused response.create")
def check(case: Case) -> Iterator[Finding]:
    """Dead air after what went wrong on the server's side."""
    for air in dead_air(case, "failed", "refused"):
        what = "a response failed" if air.debt.kind == "failed" else "a response.create was refused"
        yield found(
            air.start_us,
            f"{air.quiet_ms / 1000:.1f} s of silence after {what}: the client lets it rest at that",
            event=air.debt.event,
            quiet_ms=air.quiet_ms,
        )
