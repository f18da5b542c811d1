"""The client hung up while the caller was speaking, or waited for an answer to what they had just said.

A listener is cut off in the middle of a question. The client knew of it: the server had told it that the caller talks
(`input_audio_buffer.speech_started`), or the response that says goodbye had ended as `cancelled`.

To mend: a goodbye that the caller talks over is none. Call off the hang-up when its `response.done` says anything but
`completed`, tell the model that the line is still open, and let it answer.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.calls import Turn
from simrt.checks.case import Case


@rule("END402", "hung-up-on-caller", "The client hung up while the caller spoke or waited for an answer")
def check(case: Case) -> Iterator[Finding]:
    """The caller's last turn, if it was open at the end and the client knew of it."""
    if case.result is None or case.hung_up_by != "client" or case.result.error:
        return  # in a recording it may have been the caller
    if any(connection.closed_by in ("server", "network") for connection in case.connections):
        return
    known = [turn for turn in case.turns if turn.started is not None and turn.text != ""]
    if not known or case.dialect != "realtime":
        return
    last = known[-1]
    end_us = case.end_us
    cut = any(r.reason == "turn_detected" and last.first_us <= (r.done_us or 0) <= end_us for r in case.responses)
    race_us = 0 if cut else round(case.limits.race_ms * 1000)
    if last.first_us + race_us > end_us or _answered(case, last):
        return
    if last.over_us is None:
        doing = f"{(end_us - last.first_us) / 1000:.0f} ms after they began to speak"
    elif end_us - last.over_us < case.limits.failure_ms * 1000:
        doing = f"{(end_us - last.over_us) / 1000:.0f} ms after they had spoken, before any answer"
    else:
        return  # the server owes the answer, and did not give it
    what = f" ({last.text!r})" if last.text else ""
    yield found(end_us, f"hung up on the caller, {doing}{what}", event=last.started, text=last.text or "")


def _answered(case: Case, turn: Turn) -> bool:
    """Whether a response began after this turn was over, or the turn was no reason for one."""
    if turn.over_us is None:
        return case.detection(turn.connection, turn.first_us) is None
    return any(r.connection == turn.connection and r.first_us >= turn.over_us for r in case.responses)
