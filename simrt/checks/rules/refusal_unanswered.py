"""A `response.create` was refused, and the client never asked again: the caller waits for an answer that nobody gives.

A listener hears the agent say "one moment", and then nothing. An `error` event is all that comes of a refused
`response.create`: no response.created, no response.done. What it was asked for (a tool's output, a message) lies in
the conversation, and the server speaks of it only if it is asked, or when the caller speaks.

Not blamed is a refusal after which nothing is owed: the response that stood in the way began after the output was in
the conversation, so it knows of it.

To mend: match the error's `error.event_id` with the `event_id` that was sent along, keep what the reply was for, and
ask again at the next `response.done`.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.events import Event
from simrt.checks.protocol import last_us, out_of_band
from simrt.checks.responses import Ask, Response


@rule("PRO302", "refusal-unanswered", "A refused response.create is never asked again")
def check(case: Case) -> Iterator[Finding]:
    """Each refusal after which something was owed, the line was free, and nothing was done."""
    if not case.timed:
        return
    limit_us = round(case.limits.ask_ms * 1000)
    for ask in case.asks:
        if ask.refused is None or out_of_band(ask.event):
            continue
        blocking = _blocking(case, ask)
        owed = _owed(case, ask, blocking)
        if owed is None:
            continue
        free_us = ask.refused.t_us
        if blocking is not None:
            over_us = blocking.done_us if blocking.done_us is not None else last_us(case, blocking)
            free_us = max(free_us, over_us)
        if case.end_us < free_us + limit_us or _acted(case, ask, free_us + limit_us, blocking):
            continue
        error = ask.refused.text("error", "code") or ask.refused.text("error", "message")
        waited_ms = (_next_us(case, ask, free_us) - free_us) / 1000
        yield found(
            ask.refused,
            f"the reply for {owed} was refused ({error}) and not asked for again: the caller waits {waited_ms:.0f} ms",
            waited_ms=waited_ms,
        )


def _blocking(case: Case, ask: Ask) -> Response | None:
    """The response that stood in the way: under way when it was asked, or about to begin."""
    refused = ask.refused
    assert refused is not None
    near = [r for r in case.responses if r.connection == ask.event.connection]
    active = [r for r in near if r.active(ask.event.t_us)]
    early = [r for r in near if r.asked is None or r.asked.frame < ask.event.frame]
    soon = [r for r in early if ask.event.t_us < r.first_us <= refused.t_us + 1_000_000]
    return active[-1] if active else soon[0] if soon else None


def _owed(case: Case, ask: Ask, blocking: Response | None) -> str | None:
    """What the refused reply was to speak of, that the one in the way cannot know; None: nothing."""
    if blocking is None:
        return "the caller"
    if blocking.asked is not None:
        since = blocking.asked.frame
    else:
        since = blocking.created.frame if blocking.created is not None else ask.event.frame
    fresh = [
        event
        for event in case.sent("conversation.item.create")
        if event.connection == ask.event.connection and since < event.frame < ask.event.frame
    ]
    if fresh:
        return "a tool's output" if fresh[-1].text("item", "type") == "function_call_output" else "a message"
    if since < ask.event.frame and (ask.event.at("response", "instructions") or ask.event.at("response", "input")):
        return "instructions of its own"
    return None


def _after(case: Case, ask: Ask, blocking: Response | None) -> Iterator[Event | Response]:
    refused = ask.refused
    assert refused is not None
    yield from (other.event for other in case.asks if other.event.t_us >= refused.t_us and other is not ask)
    yield from (r for r in case.responses if r.first_us > refused.t_us and r is not blocking)
    yield from (turn.started for turn in case.turns if turn.started is not None and turn.started.t_us > refused.t_us)


def _acted(case: Case, ask: Ask, by_us: int, blocking: Response | None) -> bool:
    """Whether anybody did something about it by then: the client asked, the server replied, the caller spoke."""
    return any(_when(what) <= by_us for what in _after(case, ask, blocking))


def _next_us(case: Case, ask: Ask, free_us: int) -> int:
    """Until when the caller waited."""
    later = [_when(what) for what in _after(case, ask, None)]
    return min([t_us for t_us in later if t_us > free_us] or [case.end_us])


def _when(what: Event | Response) -> int:
    return what.t_us if isinstance(what, Event) else what.first_us
