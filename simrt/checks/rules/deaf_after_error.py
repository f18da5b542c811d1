"""After an `error` event the client does nothing more, though the call goes on: whatever received events has died.

A listener hears the agent fall silent for good, or is never understood again, on a line that stays open. The server
goes on sending replies and calls; none of it is played, none answered.

An `error` is an answer like any other: it tells that one event of the client's was refused, or that the server failed
at something, and the session stays open. A loop that ends, or raises, on one leaves a connection that nobody reads.

To mend: note the error, undo what was waiting for the refused event, and read on. If receiving does end, hang up.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.protocol import is_open
from simrt.checks.responses import Error


@rule("PRO312", "deaf-after-error", "After an error event the client reacts to nothing any more")
def check(case: Case) -> Iterator[Finding]:
    """The last error after which something was due and nothing was done, if nothing was done until the end."""
    if not case.timed:
        return
    for error in case.errors:
        event = error.event
        if any(e.sender == "client" and e.t_us > event.t_us for e in case.events):
            continue
        if not _was_alive(case, error):
            continue
        missed = _missed(case, error)
        if missed is not None:
            what = error.code or error.message
            yield found(event, f"after the error {what!r} the client does nothing any more: {missed}", error=what)
            return


def _was_alive(case: Case, error: Error) -> bool:
    """Whether the client had done anything before: played something, or sent something but its audio."""
    t_us = error.event.t_us
    played = case.hearing is not None and any(heard.start_us < t_us for heard in case.hearing.heard)
    return played or any(e.sender == "client" and e.t_us <= t_us for e in case.events)


def _missed(case: Case, error: Error) -> str | None:
    """What called for a reaction and got none."""
    t_us, limits, connection = error.event.t_us, case.limits, case.connections[error.event.connection]
    end_us = case.end_us if connection.closed_us is None else min(case.end_us, connection.closed_us)
    hearing = case.hearing
    if hearing is not None:
        pieces = [
            piece
            for response in case.responses
            if response.connection == connection.number
            for piece in response.pieces
            if piece.t_us > t_us and piece.audio_us and hearing.known(piece)
        ]
        sent_us = sum(piece.audio_us for piece in pieces)
        if sent_us > limits.unheard_ms * 1000 and not any(hearing.of(piece) for piece in pieces):
            if end_us - pieces[0].t_us > limits.late_play_ms * 1000:
                return f"{sent_us / 1000:.0f} ms of speech that came later were never played"
        elif pieces:
            return None
    due_us = end_us - round(limits.tool_ms * 1000)
    for call in case.calls:
        if is_open(call) and t_us < call.told[0].t_us < due_us:
            return f"{call.name or 'a call'} was never answered"
    sent = [append.t_us for append in connection.appends]
    quiet_us = round(limits.notice_ms * 1000)
    before = [t for t in sent if t_us - 1_000_000 <= t <= t_us]
    if before and not any(t > t_us + 1_000_000 for t in sent) and end_us - t_us > quiet_us:
        return f"it does not even send the caller's audio on, for {(end_us - t_us) / 1e6:.1f} s"
    return None
