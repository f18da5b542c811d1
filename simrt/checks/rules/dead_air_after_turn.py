"""The caller has spoken, and nothing is heard for a long time, though the client could have moved the call on.

A listener hears silence, and says "hello?".

Three things are the client's own: with `turn_detection: null` or `create_response: false` the server answers no turn
by itself, and waits for a `response.create`; a noise that the server took for the caller (`speech_started`, then an
empty transcript) cuts the reply off, and brings no other one unless it is asked for; and a turn that the server should
answer and does not can be answered by asking, too.

To mend: ask for the reply when the turn is committed; after a turn of which nothing was understood take the cut reply
up again, or ask for a new one; when a turn has brought no response for some seconds, ask for one.

The limits are `ask_ms`, and `answer_ms` where the server should have answered by itself.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.silence import DeadAir, dead_air


@rule("AGT209", "dead-air-after-turn", "Silence after the caller's turn that the client could have ended")
def check(case: Case) -> Iterator[Finding]:
    """Dead air on debts that a turn brings."""
    for air in dead_air(case, "turn", "cough", "server"):
        yield found(air.start_us, _said(air), event=air.debt.event, quiet_ms=air.quiet_ms)


def _said(air: DeadAir) -> str:
    quiet = f"{air.quiet_ms / 1000:.1f} s of silence"
    if air.debt.kind == "turn":
        return f"{quiet} after the caller's turn: the client ends the turns itself and asks for no reply"
    if air.debt.kind == "cough":
        return f"{quiet} after a noise cut the reply off: nothing was understood, and nobody takes the reply up again"
    return f"{quiet} after the caller's turn: the server does not answer it, and the client asks for no reply"
