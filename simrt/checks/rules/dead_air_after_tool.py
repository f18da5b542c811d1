"""A tool was called, and then nothing is heard for a long time.

A listener hears "one moment, please", and then silence.

Three steps are the client's: run the tool and send its output, ask for a reply (a `function_call_output` alone makes
nobody speak), and see that the reply comes. The `response.create` has to wait until no response is active; when the
caller speaks meanwhile, their turn brings a reply, but only if the server answers turns by itself, and one that was
begun before the output was in the conversation does not know it.

To mend: send `response.create` after the output, at the latest at the `response.done` of what was active then; give a
slow tool words to bridge it; ask again, or tell the caller, when the reply does not come.

A response that begins and does not go on is the same matter: cancel it, and ask again.

The limits are `tool_ms` while the tool runs, `ask_ms` until the client asks, and `answer_ms` for the answer to that.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.silence import DeadAir, dead_air


@rule("AGT210", "dead-air-after-tool", "Silence after a tool call that the client could have ended")
def check(case: Case) -> Iterator[Finding]:
    """Dead air on debts that a function call brings."""
    for air in dead_air(case, "tool", "ask", "answer"):
        yield found(air.start_us, _said(air), event=air.debt.event, quiet_ms=air.quiet_ms)


def _said(air: DeadAir) -> str:
    quiet = f"{air.quiet_ms / 1000:.1f} s of silence"
    if air.debt.kind == "tool":
        return f"{quiet} while a tool runs, without a word to the caller"
    if air.debt.kind == "ask":
        return f"{quiet} after the tool's output: no reply is asked for"
    if air.debt.event.kind == "response.create":
        return f"{quiet} after the client asked for a reply: none comes, and the client lets it rest at that"
    return f"{quiet} after a response began: it does not go on, and the client lets it rest at that"
