"""The client closed the session while a commentary of its own was still waiting to be placed.

A listener never hears what the client had found out: it was sent, and the agent never got it. The server says so at
the close, with one `context_injection_incomplete` for each. An append is placed when the timeline moves past it,
within a second where audio flows; with no audio (LIV601) it waits for ever.

To mend: wait for `session.commentary.appended`, and then until it has been heard, before closing.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.live import Told, closed_by_client, live_connections, told
from simrt.delegations import NOT_PLACED


@rule("LIV605", "append-waits-at-close", "The client closed a session with a commentary that was not yet placed")
def check(case: Case) -> Iterator[Finding]:
    """Each commentary that was neither placed nor refused when the client ended the session."""
    for connection in live_connections(case):
        ended_us = closed_by_client(case, connection)
        if ended_us is None:
            continue
        appends = told(case, connection)
        for k, one in enumerate(appends):
            waits = one.append.open or one.append.error == NOT_PLACED
            if one.append.kind == "commentary" and waits and one.t_us <= ended_us and not _said(one, appends[k + 1 :]):
                ms = (ended_us - one.t_us) / 1000
                yield found(
                    one.event, f"{one.append.content[:60]!r} was not placed when the client closed, {ms:.0f} ms later"
                )


def _said(one: Told, later: list[Told]) -> bool:
    """Whether the agent said it all the same (the acknowledgement was lost), or was told the same again."""
    again = [other for other in later if other.append.content == one.append.content and other.placed_us is not None]
    return one.append.reply is not None or bool(again)
