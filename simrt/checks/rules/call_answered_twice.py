"""One function call got more than one output: it was run more than once, or answered by two parts of the client.

A listener may hear the same news twice; worse is what they do not hear: a refund paid twice, an order placed twice.

The same call is told of by several events (`response.function_call_arguments.done`, `response.output_item.done`, the
`output` of `response.done`), and any of them may come again. It is one call: one item, one `call_id`.

To mend: keep the call ids that were taken up, and pass by those that come again. What must not happen twice should
hang on a key of its own (the order), not on the call.
"""

from collections import Counter
from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case


@rule("PRO308", "call-answered-twice", "A function call got two outputs")
def check(case: Case) -> Iterator[Finding]:
    """Each output after the first that the server did not refuse."""
    refused = {id(error.refuses) for error in case.errors if error.refuses is not None}
    for call in case.calls:
        taken = [output for output in call.outputs if id(output) not in refused]
        for number, output in enumerate(taken[1:], 2):
            times = max(Counter(event.kind for event in call.told).values(), default=1)
            why = f", which the server told of {times} times" if times > 1 else ""
            yield found(
                output,
                f"output number {number} for {call.name or 'the call'} ({call.call_id}){why}",
                call_id=call.call_id,
                outputs=len(taken),
            )
