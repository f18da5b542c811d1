"""A `response.cancel` is sent although no response is active, as the client knows.

A listener notices nothing, unless the client takes the answer for a disaster: the server sends an `error`
(`response_cancel_not_active`) and the session goes on.

A reply that is sent faster than it is spoken is over for the server long before it is over for the caller. When the
caller then cuts in, there is nothing left to cancel: what has to stop is the playback, and what has to be told is how
much was heard. Where `response.done` and the cancel cross on the wire (`race_ms`) nobody is to blame.

To mend: cancel only between `response.created` and `response.done`; clear the speaker and truncate in any case.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case


@rule("PRO303", "cancel-of-nothing", "A response.cancel with no response active")
def check(case: Case) -> Iterator[Finding]:
    """Each cancel that the client knew to be idle."""
    if not case.timed:
        return
    race_us = round(case.limits.race_ms * 1000)
    for cancel in case.sent("response.cancel"):
        here = [r for r in case.responses if r.connection == cancel.connection and r.first_us <= cancel.t_us]
        wanted = cancel.text("response_id")
        if wanted:
            here = [r for r in here if r.id == wanted]
        elif any(
            ask.event.connection == cancel.connection
            and ask.event.t_us <= cancel.t_us
            and (ask.response is None or ask.response.first_us > cancel.t_us)
            and (ask.refused is None or ask.refused.t_us > cancel.t_us)
            for ask in case.asks
        ):
            continue  # it is meant for the one that was asked for
        if any(r.done_us is None or r.done_us + race_us > cancel.t_us for r in here):
            continue
        if not here:
            yield found(cancel, "cancels a response where there has been none")
            continue
        last = max(here, key=lambda r: r.done_us or 0)
        ms = (cancel.t_us - (last.done_us or 0)) / 1000
        yield found(
            cancel,
            f"cancels a response where none is active: the last, {last.id}, was over {ms:.0f} ms ago",
            idle_ms=ms,
        )
