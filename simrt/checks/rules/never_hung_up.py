"""The call was over, and the client stayed on the line until simrt ended it at the cap (`run_call(cap_ms=…)`).

A listener has long put the phone down; the session goes on being billed, and the next caller finds the line taken. A
call is over when the caller has hung up, when the connection is lost for good, or when the model has called the tool
that hangs up and its goodbye was heard.

Where the caller was still there and the server owed the next step, the client may wait: that is a note, not an error.

To mend: end the call from each of these, and put a cap on every wait for something that may never come.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.protocol import is_open


@rule("END403", "never-hung-up", "The client never ended the call", harm="fatal")
def check(case: Case) -> Iterator[Finding]:
    """What the client should have ended the call for."""
    result = case.result
    if result is None or result.closed_by != "cap" or case.line is None:
        return
    connection = case.connections[-1] if case.connections else None
    lost = connection is not None and connection.closed_by in ("server", "network")
    open_calls = [call for call in case.calls if is_open(call)]
    if case.line.hung_up_by == "caller":
        yield found(case.end_us, f"the caller hung up, and the client was still there {_cap(case)} later")
    elif lost and connection is not None and connection.closed_us is not None:
        when_us = connection.closed_us
        yield found(when_us, "the connection was lost, and the client stayed on the line", connection=connection.number)
    elif open_calls:
        call = open_calls[-1]
        yield found(
            call.told[0],
            f"{call.name or 'a tool'} was called and never answered, and the client did not hang up for {_cap(case)}",
            function=call.name,
        )
    else:
        quiet_us = max([end for _, end in (*case.caller_speech, *(case.agent_speech or ()))], default=0)
        yield found(quiet_us, f"nobody said anything any more, and the client stayed for {_cap(case)}", severity="note")


def _cap(case: Case) -> str:
    result = case.result
    last_us = max((said.started_us for said in case.utterances), default=0)
    return f"{(result.virtual_ms - last_us / 1000) / 1000:.0f} s" if result is not None else ""
