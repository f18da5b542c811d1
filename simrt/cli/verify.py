"""`simrt verify`: are cassettes whole, and do recordings come back as they were recorded?"""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import msgspec
import typer

from simrt.cli.console import complain, find_cassette, many
from simrt.errors import SimrtError

if TYPE_CHECKING:
    from simrt.cassette.store import Cassette

_RECORDINGS = (".jsonl", ".yaml", ".yml")


class Checked(msgspec.Struct, frozen=True):
    """What came of one path: `status` is "ok", "differs", "unreadable", or "whole" when only integrity was checked."""

    path: str
    status: str
    frames: int = 0
    worst_us: int = 0
    remark: str = ""

    @property
    def good(self) -> bool:
        """Nothing to complain of."""
        return self.status in ("ok", "whole")


def verify_command(
    paths: Annotated[
        list[str],
        typer.Argument(metavar="PATH…", help="Cassettes, importable recordings, or folders with such in them."),
    ],
) -> None:
    """Check cassettes and recordings: nothing is damaged, and what is replayed is what was recorded.

    Each recording's client frames are sent again at their times; the server frames must come back JSON-equal, in order,
    within 1 ms. Authored cassettes hold no recorded frames: their integrity is checked.
    """
    results = []
    for name in paths:
        for path in _found(name):
            checked = check(path)
            results.append(checked)
            typer.echo(_line(checked))
            if checked.status == "unreadable":
                complain(checked.remark)
    if not results:
        raise SimrtError(f"nothing to verify in {', '.join(paths)}: no cassette, no *{', *'.join(_RECORDINGS)} file")
    typer.echo(total(results))
    if not all(checked.good for checked in results):
        raise typer.Exit(1)


def check(path: Path) -> Checked:
    """Check one cassette or recording."""
    from simrt.replay.fidelity import check_fidelity

    try:
        cassette = _read(path)
        if cassette.script is not None:
            return Checked(str(path), "whole", remark="authored: integrity only")
        fidelity = check_fidelity(cassette, path)
    except SimrtError as error:
        return Checked(str(path), "unreadable", remark=str(error))
    remark = fidelity.difference
    if not remark and not fidelity.ok:
        remark = "a frame came too early or too late"
    if not remark and not fidelity.frames:
        remark = "holds no server frames"
    return Checked(str(path), "ok" if fidelity.ok else "differs", fidelity.frames, fidelity.worst_us, remark)


def total(results: list[Checked]) -> str:
    """The last line."""
    frames = sum(checked.frames for checked in results)
    worst_us = max(checked.worst_us for checked in results)
    parts = [many(len(results), "recording"), f"{many(frames, 'server frame')} compared"]
    parts.append(f"largest timing error {worst_us / 1000:.3f} ms")
    for status, said in (("whole", "checked for integrity only"), ("differs", "differ"), ("unreadable", "unreadable")):
        count = sum(checked.status == status for checked in results)
        if count:
            parts.append(f"{count} {said}")
    return ", ".join(parts) + (": all as recorded" if all(checked.good for checked in results) else ": NOT as recorded")


def _line(checked: Checked) -> str:
    row = f"{checked.status:<10}  {checked.frames:>6} frames  {checked.worst_us / 1000:>8.3f} ms  {checked.path}"
    return f"{row}  ({checked.remark})" if checked.remark and checked.status != "unreadable" else row


def _read(path: Path) -> "Cassette":
    from simrt.cassette.importers import import_file
    from simrt.cassette.journal import SUFFIX
    from simrt.cassette.store import load

    if path.name.endswith(SUFFIX):
        raise SimrtError(f"{path}: is an unfinished recording; make a cassette of it with simrt recover")
    return import_file(path) if path.is_file() else load(path)


def _found(name: str) -> Iterator[Path]:
    """What is meant by one argument: itself, or everything in a folder that is no cassette."""
    from simrt.cassette.journal import SUFFIX

    path = Path(name)
    if not path.exists():
        path = find_cassette(name)
    if not path.is_dir() or _is_cassette(path) or path.name.endswith(SUFFIX):
        yield path
        return
    for inner in sorted(path.iterdir()):
        if inner.is_dir():
            if not inner.name.startswith("."):
                yield from _found(str(inner))
        elif inner.suffix in _RECORDINGS:
            yield inner


def _is_cassette(folder: Path) -> bool:
    from simrt.cassette.writer import LINES

    return (folder / LINES).exists()
