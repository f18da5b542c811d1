"""The client hung up while the agent's reply was still coming.

A listener hears the last words break off, and the line is dead. What had arrived may all have been played: the server
had more, and was about to send it. Audio comes in pieces, with pauses between them whenever the server or the network
takes its time; an empty queue says nothing about the end of a reply.

To mend: hang up when `response.done` has come (status completed) and the speaker has played what was queued, with a
cap on both. Who has waited `hang_up_ms` since the call of the tool that hangs up is not blamed. In a recording nobody
knows whether it was the caller who hung up: there it is a note.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.responses import Response


@rule("END401", "hung-up-mid-reply", "The client hung up before the reply had come to its end")
def check(case: Case) -> Iterator[Finding]:
    """The last response that had audio, if it was under way at the end."""
    if case.hung_up_by != "client" or not case.timed or (case.result is not None and case.result.error):
        return
    spoken = [response for response in case.responses if response.pieces]
    if not spoken:
        return
    last = spoken[-1]
    if case.connections[last.connection].closed_by in ("server", "network"):
        return  # nothing more could come
    end_us = case.end_us if case.line is not None else case.connections[last.connection].closed_us
    if end_us is None or not last.active(end_us) or _waited(case, last, end_us) or _interrupted(case, last):
        return
    more_ms = _to_come(case, last)
    if more_ms <= case.limits.unheard_ms:
        return
    sent_ms = last.audio_us / 1000
    rest = f", and {more_ms:.0f} ms were still to come" if case.result is not None else ""
    yield found(
        end_us,
        f"hung up {(end_us - last.pieces[-1].t_us) / 1000:.0f} ms after a piece of {last.id}, which was not over: "
        f"{sent_ms:.0f} ms of it had been sent{rest}",
        event=last.pieces[-1].event,
        severity="error" if case.line is not None else "note",  # in a recording it may have been the caller
        sent_ms=sent_ms,
        to_come_ms=more_ms,
    )


def _to_come(case: Case, last: Response) -> float:
    """How much of it was still to be sent, in ms; of a recording that is not known."""
    if all(item.audio_done is not None for item in last.items if item.pieces):
        return 0.0
    if case.result is None:
        return case.limits.unheard_ms + 1
    reply = case.result.replies[-1] if case.result.replies else None
    return reply.audio_ms - reply.sent_ms if reply is not None else 0.0


def _waited(case: Case, last: Response, end_us: int) -> bool:
    """Whether the client had waited for as long as can be asked of it."""
    told = [call.ready_us for call in case.calls if call.response is last and call.ready_us is not None]
    return any(end_us - ready_us >= case.limits.hang_up_ms * 1000 for ready_us in told)


def _interrupted(case: Case, last: Response) -> bool:
    """Whether the caller was talking over it, or a cancel for it was under way."""
    cancels = case.sent("response.cancel")
    turns = [turn.started.t_us for turn in case.turns if turn.started is not None]
    return any(t_us >= last.first_us for t_us in (*turns, *(cancel.t_us for cancel in cancels)))
