"""The connection was kept open although the call was over: seconds that are billed for nothing.

Nobody on the line notices; the bill does. Connected time is billed until the socket closes, and so is each second of
silence that is sent. The call is over when the line is hung up, by whoever; or when the model has called the tool that
hangs up, and its goodbye was heard (`idle_ms` are forgiven).

To mend: close the connection first thing when the caller hangs up; after a goodbye, hang up when it has been heard.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.protocol import is_open

_HANDSHAKE_US = 1_500_000  # both ways on a slow network, behind what is still on its way


@rule("END408", "billed-after-the-end", "The connection stayed open after the end of the call", harm="fatal")
def check(case: Case) -> Iterator[Finding]:
    """A connection that outlived the line, and a line that was kept though nothing was said on it any more."""
    result = case.result
    if result is None or result.closed_by == "cap":
        return
    for connection in case.connections:
        over_us = connection.closed_us
        if over_us is not None and over_us - case.end_us > case.limits.goodbye_ms * 1000 + _HANDSHAKE_US:
            yield found(
                case.end_us,
                f"the line was hung up, and the connection stayed open for {(over_us - case.end_us) / 1e6:.1f} s more",
                connection=connection.number,
                billed_ms=(over_us - case.end_us) / 1000,
            )
            return
    if case.hung_up_by != "client" or case.agent_speech is None or case.line is None:
        return
    goodbyes = [call for call in case.calls if is_open(call)]
    if not goodbyes:
        return
    ends = [end for _, end in (*case.caller_speech, *case.agent_speech)]
    acted = [event.t_us for event in case.events if not event.kind.endswith(".delta") and event.t_us <= case.end_us]
    since_us = max(goodbyes[-1].told[0].t_us, *ends, *acted)
    if case.end_us - since_us > case.limits.idle_ms * 1000:
        yield found(
            since_us,
            f"the goodbye was over, and the line was kept for {(case.end_us - since_us) / 1e6:.1f} s more",
            billed_ms=(case.end_us - since_us) / 1000,
        )
