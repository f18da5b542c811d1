"""A `response.create` is sent although, as the client knows, a response is under way, or one has just been asked for.

A listener notices nothing at first, then silence: the server refuses it (`conversation_already_has_active_response`),
and whatever it was for, a tool's result or a message, is not spoken of.

One conversation has one response at a time. A response that the server began by itself (it answers each turn of the
caller's under server VAD) counts as well. Where the two cross on the wire nobody is to blame, so `race_ms` of
knowledge are forgiven; what was refused then has to be asked for again (PRO302).

To mend: keep track of `response.created` and `response.done`, hold the wish for a reply while one is active or asked
for, and ask when `response.done` comes. Out of band responses (`"conversation": "none"`) may overlap.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.protocol import last_us, out_of_band
from simrt.checks.responses import Ask, Response


@rule("PRO301", "reply-asked-twice", "A reply is asked for while one is active or asked for")
def check(case: Case) -> Iterator[Finding]:
    """Each ask that the client knew to be one too many."""
    race_us = round(case.limits.race_ms * 1000) if case.timed else 0
    for ask in case.asks:
        if out_of_band(ask.event):
            continue
        before = _waiting(case, ask)
        if before is not None:
            ms = (ask.event.t_us - before.event.t_us) / 1000
            message = f"asks for a reply {ms:.0f} ms after asking for one, which has not begun"
            yield found(ask.event, message, refused=ask.refused is not None)
            continue
        active = _active(case, ask, race_us)
        if active is not None and ask.response is None:
            ms = (ask.event.t_us - active.first_us) / 1000
            yield found(
                ask.event,
                f"asks for a reply while {active.id} has been under way for {ms:.0f} ms: the server gives it none",
                response=active.id,
                refused=ask.refused is not None,
            )


def _waiting(case: Case, ask: Ask) -> Ask | None:
    """An ask that was sent shortly before and had neither begun nor been refused."""
    here = [a for a in case.asks if a.event.connection == ask.event.connection and not out_of_band(a.event)]
    at = here.index(ask)
    if not at:
        return None
    before = here[at - 1]
    ends = [before.refused.t_us if before.refused else None, before.response.first_us if before.response else None]
    begun = [r.created.frame for r in case.responses if r.created and r.connection == ask.event.connection]
    open_still = all(end is None or end > ask.event.t_us for end in ends) and not any(
        before.event.frame < frame < ask.event.frame for frame in begun
    )
    recent = ask.event.t_us - before.event.t_us < case.limits.ask_ms * 1000
    return before if open_still and recent else None


def _active(case: Case, ask: Ask, race_us: int) -> Response | None:
    """The response that was under way, for long enough that the client knew it."""
    t_us, connection = ask.event.t_us, ask.event.connection
    for response in reversed(case.responses):
        if response.connection != connection or out_of_band(response.asked):
            continue
        if response.first_us + race_us < t_us and response.active(t_us):
            if _given_up(case, response, ask):
                continue
            if response.done is None and t_us - last_us(case, response) > case.limits.ask_ms * 1000:
                continue  # its end got lost
            return response
    return None


def _given_up(case: Case, response: Response, ask: Ask) -> bool:
    """Whether the client had cancelled it: events are dealt with in their order, so it may ask for the next at once."""
    return any(
        cancel.connection == response.connection
        and response.first_us <= cancel.t_us
        and cancel.frame < ask.event.frame
        and cancel.text("response_id") in ("", response.id)
        for cancel in case.sent("response.cancel")
    )
