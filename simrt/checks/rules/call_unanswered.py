"""The model called a function and never got an output, though the call went on.

A listener hears "one moment, please", and then nothing, or an agent that does not know what became of the matter and
does it again. The model waits for a `function_call_output` with the call's `call_id`; without one the conversation
holds half a pair.

Every call is owed an output, also when the caller spoke meanwhile (a barge-in does not undo the call), and when the
function failed: say so in the output. Not blamed is who hangs up within `tool_ms` of the call, as after a goodbye
tool, and nobody owes one to a call that was cancelled before it was whole (PRO309).

To mend: answer in one place, whatever the function does; do not drop the task when the caller cuts in.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.protocol import is_whole, owed


@rule("PRO307", "call-unanswered", "A function call never got an output")
def check(case: Case) -> Iterator[Finding]:
    """Each call that is owed an output and had the time; one whose arguments are broken is PRO310's."""
    if not case.timed:
        return
    for call in case.calls:
        if not owed(case, call) or not is_whole(call.arguments):
            continue
        told = call.told[0]
        waited_ms = (case.end_us - told.t_us) / 1000
        if waited_ms >= case.limits.tool_ms:
            yield found(
                told,
                f"{call.name or 'a function'} ({call.call_id}) never got an output; the call went on for "
                f"{waited_ms / 1000:.1f} s",
                call_id=call.call_id,
                function=call.name,
            )
