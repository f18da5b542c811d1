"""The client stopped sending audio while a Live session was open: the session's timeline stood still.

A listener hears the agent break off in the middle, or never get to say what the client found out. A Live session moves
with the caller's audio: where none is sent, nothing is said, and what is appended waits, unacknowledged, until audio
flows again or the session closes (`context_injection_incomplete`).

Voice detection in the client, a "mute" that sends nothing, and a microphone that has run dry do it.

To mend: send silence where there is nothing to send, 20 ms after 20 ms, from `session.started` to the end.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.live import live_connections, silences, told


@rule("LIV601", "timeline-frozen", "A Live session was sent no audio, and stood still")
def check(case: Case) -> Iterator[Finding]:
    """Each gap in the audio beyond the limit."""
    if not case.timed or not (case.simulated or case.caller_audio_whole):
        return
    for connection in live_connections(case):
        appends = told(case, connection)
        for start, end in silences(case, connection):
            stood_ms = (end - start) / 1000
            if stood_ms <= case.limits.frozen_ms:
                continue
            waiting = [one for one in appends if one.t_us < end and (one.placed_us is None or one.placed_us > start)]
            more = f"; {len(waiting)} appended things waited" if waiting else ""
            yield found(
                start,
                f"no audio was sent for {stood_ms:.0f} ms: the session stood still{more}",
                connection=connection.number,
                stood_ms=stood_ms,
                waiting=len(waiting),
            )
