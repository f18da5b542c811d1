"""The client ended a Live session while the agent was speaking, or had just been given something to say.

A listener hears the agent break off, and the line is dead. Live has no event that says that a reply is over: its audio
is one track, with silence between replies. It is over when the track is quiet and the transcript's last `end_ms` has
been played.

To mend: hang up when the speaker has played past the last `end_ms` of the agent's transcript, and the track has been
quiet since.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.live import closed_by_client, live_connections

_GRACE_MS = 200.0


@rule("LIV607", "hung-up-mid-speech", "The client ended a Live session while the agent was speaking")
def check(case: Case) -> Iterator[Finding]:
    """The agent's last words, if the client cut them off."""
    if case.result is None or case.result.error:
        return
    for connection in live_connections(case):
        ended_us = closed_by_client(case, connection)
        if ended_us is None or not case.result.replies:
            continue
        last = case.result.replies[-1]
        left_ms = last.audio_ms - last.heard_ms
        cancelled = any(
            e.kind == "kugel.response.cancelled" and e.t_us > (last.from_ms or 0) * 1000 for e in case.events
        )
        if last.from_ms is None or cancelled or left_ms <= max(_GRACE_MS, case.limits.unheard_ms):
            continue
        over_us = (last.from_ms + last.heard_ms) * 1000
        if over_us < ended_us - case.limits.goodbye_ms * 1000:
            continue  # it had fallen silent before
        yield found(
            ended_us,
            f"ended the session in the middle of {last.transcript[:60]!r}: {left_ms:.0f} of {last.audio_ms:.0f} ms "
            "of it were still to be heard",
            connection=connection.number,
            left_ms=left_ms,
        )
