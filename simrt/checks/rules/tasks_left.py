"""The client returned and left tasks running, or a task of it had died and nobody had asked how.

Nobody on the line notices. In a server that takes one call after the other they add up: microphones that are read for
nobody, loops on closed connections, memory. A task that raised and was never awaited is a part of the client that
stopped working without a word; asyncio says so only when it is collected ("Task exception was never retrieved").

To mend: start tasks in an `asyncio.TaskGroup`, or keep them, cancel them at the end and wait for them.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case

_WITH_THE_SOCKET = "/websockets/"  # which END404 tells of, if it is open


@rule(
    "END407", "tasks-left", "Tasks of the client were still running when it returned, or died unnoticed", harm="fatal"
)
def check(case: Case) -> Iterator[Finding]:
    """The tasks that are left of a simulated call, and the dead."""
    if case.result is None:
        return
    open_sockets = any(connection.closed_us is None for connection in case.connections)
    left = [task for task in case.result.tasks_left if not (open_sockets and _WITH_THE_SOCKET in task)]
    if left:
        shown = ", ".join(left[:3]) + (", …" if len(left) > 3 else "")
        yield found(case.end_us, f"the client returned and left {len(left)} tasks running: {shown}", tasks=left)
    for death in case.result.tasks_dead:
        yield found(case.end_us, death)
