"""An append was refused, and what it said never reached the agent.

A listener is not told what the client had found out, or the agent goes on as it was. The server refuses an append of
more than 500 tokens, one for a delegation that it does not know, and any field that it does not have; nothing of it is
used.

To mend: send facts, not documents; split what is long. Match the error's `client_event_id`, and send again what can be
mended.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.live import live_connections, told
from simrt.delegations import NOT_PLACED
from simrt.dialect.live_rules import CONTENT_TOKENS
from simrt.dialect.tokens import exceeds


@rule("LIV606", "append-refused", "An append was refused, and nothing was sent in its place")
def check(case: Case) -> Iterator[Finding]:
    """Each refused append after which none of its kind was taken for the same delegation."""
    for connection in live_connections(case):
        appends = told(case, connection)
        for number, one in enumerate(appends):
            append = one.append
            count = exceeds([append.content], CONTENT_TOKENS)
            if append.error in (None, NOT_PLACED) and (count is None or one.placed_us is not None):
                continue
            mended = any(
                other.append.kind == append.kind
                and other.append.delegation_id in (append.delegation_id, None)
                and other.append.error is None
                for other in appends[number + 1 :]
            )
            if mended:
                continue
            why = f"has {count} tokens, and may have {CONTENT_TOKENS}" if count else f"was refused ({append.error})"
            yield found(
                one.event,
                f"a {append.kind} {why}: the agent never got it",
                severity="note" if append.kind == "thinking" else "error",  # which nobody would have heard of
                error=append.error,
                tokens=count,
            )
