"""The command line in this process, and as a process of its own."""

import os
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from simrt.cli import app

Run = Callable[..., Result]

LIMIT_S = 60.0  # for a process that hangs; none should come near


@pytest.fixture
def run() -> Run:
    """`run("show", "front-desk")`: the command's result, with `exit_code`, `stdout` and `stderr`."""

    def invoke(*arguments: str | Path) -> Result:
        return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])

    return invoke


class Process:
    """A running `simrt`, its output line by line."""

    def __init__(self, *arguments: str | Path) -> None:
        command = [sys.executable, "-c", "from simrt.cli import main; main()", *map(str, arguments)]
        self.child = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "200"}
        )
        self._watchdog = threading.Timer(LIMIT_S, self.child.kill)
        self._watchdog.start()

    def line_with(self, text: str, stream: str = "stdout") -> str:
        """Read on until a line that holds `text`."""
        read = []
        for line in getattr(self.child, stream):
            read.append(line)
            if text in line:
                return str(line)
        raise AssertionError(f"no {text!r} on {stream}: {''.join(read)}")

    def interrupt(self) -> tuple[int, str, str]:
        """Ctrl-C; the exit status and what was still printed."""
        self.child.send_signal(signal.SIGINT)
        out, err = self.child.communicate()
        return self.child.returncode, out, err

    def end(self) -> None:
        """Nothing is left running."""
        self._watchdog.cancel()
        if self.child.poll() is None:
            self.child.kill()
        self.child.communicate()


@pytest.fixture
def process() -> Iterator[Callable[..., Process]]:
    """`process("serve", "front-desk")` starts simrt beside the test."""
    started: list[Process] = []

    def start(*arguments: str | Path) -> Process:
        started.append(Process(*arguments))
        return started[-1]

    yield start
    for one in started:
        one.end()


def message(result: Result) -> str:
    """The one message of a command that failed as it should: on stderr, exit status 1, no traceback."""
    assert result.exit_code == 1, result.output
    assert result.exception is None or isinstance(result.exception, SystemExit), repr(result.exception)
    assert "Traceback" not in result.output
    lines = [line for line in result.stderr.splitlines() if line.startswith("simrt: ")]
    assert len(lines) == 1, result.stderr
    return lines[0]
