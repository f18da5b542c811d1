"""What all commands share: where they print, how they say a time, and how they find a cassette."""

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from simrt.errors import SimrtError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

    from simrt.cassette.store import Cassette

INTERRUPTED = 130
"""128 + SIGINT, as a shell has it."""

CASSETTE_HELP = "A cassette's folder, or the name of a shipped one, such as front-desk."
FAULT_HELP = "A fault, as in stall:reply=-1,for=500ms; may be given more than once."

_PIPE_WIDTH = 120


def console(*, stderr: bool = False) -> "Console":
    """A rich console that takes text as it is; where it is no terminal it writes no escape codes."""
    from rich.console import Console

    made = Console(stderr=stderr, markup=False, highlight=False, emoji=False)
    if not made.is_terminal and "COLUMNS" not in os.environ:
        made.width = _PIPE_WIDTH
    return made


def progress_bar() -> "Progress":
    """What is done of each task and how much time is left, on stderr; nothing where that is no terminal."""
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    out = console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    return Progress(*columns, console=out, transient=True, disable=not out.is_terminal)


def scrubbed(text: str) -> str:
    """The text without the keys that the environment holds, or that look like keys."""
    from simrt.cassette.redact import Redactor

    return Redactor().scrub(text)


def complain(message: str) -> None:
    """One message for the user, on stderr."""
    typer.echo(f"simrt: {scrubbed(message)}", err=True)


def print_json(value: Any) -> None:
    """One JSON value on stdout and nothing else; keys that the environment holds are left out."""
    import msgspec

    from simrt.cassette.redact import Redactor

    clean = Redactor().rescan(msgspec.json.encode(value).decode())
    assert isinstance(clean, str)
    typer.echo(msgspec.json.format(clean, indent=2))


def find_cassette(name: str) -> Path:
    """The folder that is meant: a path that is there, else a shipped cassette of that name. SimrtError: neither."""
    from simrt.shipped import cassette

    path = Path(name)
    if path.exists():
        return path
    if path.name != name:
        raise SimrtError(f"there is no cassette at {name}; check the path")
    try:
        return cassette(name)
    except SimrtError as error:
        raise SimrtError(f"there is no folder {name} here, and {error}") from None


def seconds(ms: float | None) -> str:
    """Milliseconds as seconds, for people."""
    return "never" if ms is None else f"{ms / 1000:.2f} s"


def many(count: int, one: str, more: str | None = None) -> str:
    """`3 replies`, `1 reply`."""
    return f"{count} {one if count == 1 else more or one + 's'}"


def summary(path: str | Path, cassette: "Cassette") -> str:
    """A cassette in one line."""
    from simrt.replay.build import score_of

    score = score_of(cassette)
    turns = f"{many(len(score.turns), 'caller turn')}, {many(len(score.replies), 'reply', 'replies')}"
    trace, status = cassette.trace, cassette.trace.opening.status
    if cassette.script is not None:
        return f"{path}: authored, {turns}"
    if status not in (101, 200):
        return f"{path}: the connection was refused with HTTP {status}"
    sides = " and ".join(f"{len(trace.sent_by(side))} {side}" for side in ("client", "server"))
    closing = trace.closing
    end = f"closed by the {closing.by} ({closing.code})" if closing is not None else "its end is not known"
    last_us = max([frame.t_us for frame in trace.frames[-1:]] + ([closing.t_us] if closing else []), default=0)
    return f"{path}: {last_us / 1_000_000:.1f} s, {sides} frames, {turns}, {end}"
