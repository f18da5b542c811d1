"""An output was sent for a function call that never became one: it was cancelled half-way, is incomplete, or unknown.

A listener may not notice; the store does: what the function does was done for arguments that nobody has said to their
end. When a response is cancelled or runs out of tokens, its `function_call` item ends with the status `incomplete`. A
call is whole with `response.function_call_arguments.done` and arguments that are a JSON object, or when its item is
done with the status `completed`.

`response.function_call_arguments.done` comes for broken arguments too. Who answers those with an output that says what
is wrong with them is right.

To mend: look at the status of the item before running it; leave incomplete ones alone.
"""

import re
from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.calls import Call
from simrt.checks.case import Case
from simrt.checks.events import Event
from simrt.checks.protocol import is_whole

_REGRETS = re.compile(r"error|fail|invalid|incomplete|missing|unable|again|not\b|n't\b", re.IGNORECASE)
_BROKEN_OFF = ("incomplete", "cancelled", "failed")


@rule("PRO309", "output-for-no-call", "An output for a call that was cancelled, incomplete or never made")
def check(case: Case) -> Iterator[Finding]:
    """Each output that belongs to no whole call."""
    known = {call.call_id for call in case.calls}
    known |= {
        event.text("item", "call_id")
        for event in case.events
        if event.kind.startswith("conversation.item.") and event.text("item", "type") == "function_call"
    }
    for call in case.calls:
        for output in call.outputs:
            if _broken_off(case, call, output):
                message = f"runs {call.name or 'a call'} ({call.call_id}), which was broken off before it was whole"
                yield found(output, message, call_id=call.call_id, arguments=call.arguments)
    for output in case.sent("conversation.item.create"):
        call_id = output.text("item", "call_id")
        if output.text("item", "type") == "function_call_output" and call_id not in known:
            yield found(output, f"an output for {call_id!r}, a call that was never made", call_id=call_id)


def _broken_off(case: Case, call: Call, output: Event) -> bool:
    """Whether the client knew, when it sent the output, that the call had never become whole."""
    if output.connection != call.connection:
        return False
    before = [event for event in case.connections[call.connection].events if event.frame < output.frame]
    arguments, ended = "", False
    for event in before:
        if event.sender != "server":
            continue
        if event.kind == "response.function_call_arguments.done" and event.text("item_id") == call.item_id:
            arguments = event.text("arguments")
            if is_whole(arguments):
                return False
        items = [event.at("item"), *(event.at("response", "output") or ())] if event.kind.endswith(".done") else []
        for item in items:
            if isinstance(item, dict) and item.get("id") == call.item_id:
                if item.get("status") == "completed":
                    return False
                ended = ended or item.get("status") in _BROKEN_OFF
    over = call.response is not None and call.response.done is not None and call.response.done.frame < output.frame
    broken = call.response is not None and call.response.status in _BROKEN_OFF
    run = not arguments or _REGRETS.search(output.text("item", "output")) is None
    return (ended or (over and broken)) and run
