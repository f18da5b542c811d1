"""Audio of a cancelled response is played.

A listener hears the agent fall silent, as it should, and then start again in the middle of the old sentence.

A response that was cancelled, by the caller's speech or by `response.cancel`, is over, but audio of it may still be on
its way: deltas can arrive after `speech_started`, and after the `response.done` with the status `cancelled`. They have
the `response_id` of the old response.

To mend: remember the ids of responses that are cancelled (on `speech_started`, on your own `response.cancel`, on
`response.done`) and throw away every delta that names one of them; clear the queue when you cancel.

`barge_in_ms` are allowed for what is queued when the client itself cancels. What was queued when the caller began to
talk is in AGT203.
"""

from collections.abc import Iterator

from simrt.checks.barge_in import interruptions
from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.events import Event
from simrt.checks.hearing import Heard
from simrt.checks.noise import static
from simrt.checks.responses import Response


@rule("AGT204", "played-after-cancel", "Audio of a response is played although it was cancelled")
def check(case: Case) -> Iterator[Finding]:
    """Each response that was cancelled and is heard all the same."""
    hearing = case.hearing
    if hearing is None or static(case) is not None:
        return
    for response in case.responses:
        cancel = _own_cancel(case, response)
        late = [heard for heard in hearing.of(response) if _too_late(case, response, heard, cancel)]
        late_us = sum(heard.end_us - heard.start_us for heard in late)
        if late_us <= case.limits.again_ms * 1000:
            continue
        piece = late[0].piece
        yield found(
            late[0].start_us,
            f"{late_us / 1000:.0f} ms of a response are heard after it was cancelled",
            event=cancel or (piece.event if piece is not None else response.done),
            response_id=response.id,
            late_ms=late_us / 1000,
        )


def _too_late(case: Case, response: Response, heard: Heard, cancel: Event | None) -> bool:
    """Whether this came after the response was over, or was still queued when the client had cancelled it."""
    if heard.piece is None:
        return False
    if response.status == "cancelled" and response.done is not None and heard.piece.event.frame > response.done.frame:
        return True
    return cancel is not None and heard.start_us > cancel.t_us + case.limits.barge_in_ms * 1000


def _own_cancel(case: Case, response: Response) -> Event | None:
    """The client's `response.cancel` of it that took effect, unless the caller had begun to talk (AGT203)."""
    if response.status != "cancelled" or response.done is None:
        return None
    if any(response in one.responses and one.event.t_us <= response.done.t_us for one in interruptions(case)):
        return None
    return next((event for event in case.sent("response.cancel") if names(event, response)), None)


def names(cancel: Event, response: Response) -> bool:
    """Whether a `response.cancel` is meant for this response."""
    if cancel.connection != response.connection or not response.active(cancel.t_us):
        return False
    return cancel.text("response_id") in ("", response.id)
