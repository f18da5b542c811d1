"""The model called a function with arguments that are empty or no JSON object, and got no output.

A listener hears nothing more, or the line goes dead: the client passed the call by, or broke on it. Models do leave
the arguments empty (`"arguments": ""`, mostly where a function has no parameters) or break off in the middle of them.

To mend: take empty arguments for `{}`; where they cannot be read, send an output that says so and have the model try
again. An error in one call must not end the task that receives events.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.protocol import is_whole, owed


@rule("PRO310", "arguments-unhandled", "A call with empty or broken arguments was never answered")
def check(case: Case) -> Iterator[Finding]:
    """Each such call on which the client broke, or that it never answered."""
    if not case.timed:
        return
    for call in case.calls:
        if not owed(case, call) or is_whole(call.arguments):
            continue
        told = call.told[0]
        after_ms = (case.end_us - told.t_us) / 1000
        raised = case.result is not None and "raised" in (case.result.error or "") and after_ms < 1000
        if not raised and after_ms < case.limits.tool_ms:
            continue
        what = "empty" if not call.arguments.strip() else f"{call.arguments[:40]!r}, which is no JSON object"
        end = "the client broke on it" if raised else "it was never answered"
        yield found(
            told,
            f"the arguments of {call.name or 'a call'} ({call.call_id}) are {what}: {end}",
            call_id=call.call_id,
            arguments=call.arguments[:200],
        )
