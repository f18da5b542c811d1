"""The `session.update` was refused, and the client went on as if it had not been.

A listener talks to an agent without its instructions, or is not heard at all: a refused update is dropped whole, with
the audio formats, the instructions and the tools that it named. One field that the server does not know is enough.

To mend: wait for `session.updated`; if an `error` comes in its place, say clearly what was refused and end the call,
or send an update that can be taken.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case


@rule("PRO315", "refused-session-used", "A session is used though its session.update was refused")
def check(case: Case) -> Iterator[Finding]:
    """A refusal after which audio is sent on, and no update was ever taken."""
    if not case.timed:
        return
    for error in case.errors:
        event = error.event
        if error.refuses is None or error.refuses.kind != "session.update":
            continue
        connection = case.connections[event.connection]
        if any(e.connection == connection.number for e in case.received("session.updated")):
            continue
        limit_us = event.t_us + round(case.limits.notice_ms * 1000)
        late = [append for append in connection.appends if append.t_us > limit_us]
        if late:
            seconds = (late[-1].t_us - event.t_us) / 1e6
            what = error.event.text("error", "message") or error.code
            yield found(event, f"the session.update is refused ({what}), and audio is sent for {seconds:.1f} s more")
