"""Run a command beside the proxy, as a shell would: its output is the terminal's, its exit status is handed back."""

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Sequence

from simrt.errors import SimrtError


async def run(argv: Sequence[str], environment: dict[str, str]) -> int:
    """Run `argv` with `environment` added to this process's; the exit status, 128 + n when signal n ended it.

    SIGINT and SIGTERM end the command, not this process, so that recordings can still be finished. SimrtError when the
    command is not there or may not be run.
    """
    if not argv:
        raise SimrtError("no command was given; write it after --, like: simrt record URL --out NAME -- python app.py")
    try:
        child = await asyncio.create_subprocess_exec(*argv, env={**os.environ, **environment})
    except OSError as error:
        raise SimrtError(f"the command {argv[0]} cannot be run: {error.strerror}") from None
    restore = _forward_signals(child)
    try:
        status = await child.wait()
    except asyncio.CancelledError:
        if child.returncode is None:
            child.kill()
            await child.wait()
        raise
    finally:
        restore()
    return status if status >= 0 else 128 - status


def _forward_signals(child: asyncio.subprocess.Process) -> Callable[[], None]:
    """Hand SIGINT and SIGTERM to the child. A terminal sends SIGINT to both, so the first is not passed on."""
    loop = asyncio.get_running_loop()
    has_terminal = sys.stdin is not None and sys.stdin.isatty()
    interrupts = 0

    def interrupted() -> None:
        nonlocal interrupts
        interrupts += 1
        if interrupts > 1:
            _send(child, signal.SIGTERM)
        elif not has_terminal:
            _send(child, signal.SIGINT)

    handlers: dict[signal.Signals, Callable[[], None]] = {
        signal.SIGINT: interrupted,
        signal.SIGTERM: lambda: _send(child, signal.SIGTERM),
    }
    handled: list[signal.Signals] = []
    try:
        for number, handler in handlers.items():
            loop.add_signal_handler(number, handler)
            handled.append(number)
    except (NotImplementedError, ValueError, RuntimeError):
        pass

    def restore() -> None:
        for number in handled:
            loop.remove_signal_handler(number)

    return restore


def _send(child: asyncio.subprocess.Process, number: signal.Signals) -> None:
    if child.returncode is None:
        child.send_signal(number)
