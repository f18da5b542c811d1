"""The client ended the call as soon as its commentary was placed, before the caller had heard it.

A listener is cut off before the answer that they had been waiting for. `session.commentary.appended` says where on the
timeline the agent got to know it; the agent says it when it can, a second later or more, and it may never do.

To mend: take for heard what was played: the agent's transcript up to where the speaker has got (its `end_ms`). Hang up
when that covers what had to be said.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.live import Told, closed_by_client, live_connections, told


@rule("LIV602", "placed-is-not-heard", "The client hung up before a commentary that was placed had been heard")
def check(case: Case) -> Iterator[Finding]:
    """Each commentary that was placed shortly before the client ended the call, and not heard."""
    if case.result is None:
        return
    for connection in live_connections(case):
        ended_us = closed_by_client(case, connection)
        if ended_us is None:
            continue
        for one in told(case, connection):
            if one.append.kind != "commentary" or one.placed_us is None or one.append.dropped:
                continue
            if not _cut_by_the_end(case, one, ended_us):
                continue
            ms = (ended_us - one.placed_us) / 1000
            yield found(
                one.event,
                f"ended the call {ms:.0f} ms after {one.append.content[:60]!r} was placed: it had not been heard",
                placed_ms=one.placed_us / 1000,
            )


def _cut_by_the_end(case: Case, one: Told, ended_us: int) -> bool:
    """Whether the agent was saying it at the end, or had not had the time to."""
    assert case.result is not None
    assert one.placed_us is not None
    for reply in case.result.replies:
        if reply.reply == one.append.reply and reply.from_ms is not None:
            heard_until_us = (reply.from_ms + reply.heard_ms) * 1000
            unheard_ms = reply.audio_ms - reply.heard_ms
            return unheard_ms > case.limits.unheard_ms and heard_until_us > ended_us - case.limits.goodbye_ms * 1000
    return ended_us - one.placed_us < case.limits.failure_ms * 1000
