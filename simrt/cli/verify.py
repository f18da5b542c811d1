"""`simrt verify`: are cassettes whole, and do recordings come back as they were recorded?"""

from pathlib import Path
from typing import Annotated

import msgspec
import typer

from simrt.cli.console import complain, many
from simrt.cli.recordings import PATHS_HELP, SUFFIXES, read, recordings
from simrt.errors import SimrtError


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
        typer.Argument(metavar="PATH…", help=PATHS_HELP),
    ],
) -> None:
    """Check cassettes and recordings: nothing is damaged, and what is replayed is what was recorded.

    Each recording's client frames are sent again at their times; the server frames must come back JSON-equal, in order,
    within 1 ms. Authored cassettes hold no recorded frames: their integrity is checked.
    """
    results = []
    for name in paths:
        for path in recordings(name):
            checked = check(path)
            results.append(checked)
            typer.echo(_line(checked))
            if checked.status == "unreadable":
                complain(checked.remark)
    if not results:
        raise SimrtError(f"nothing to verify in {', '.join(paths)}: no cassette, no *{', *'.join(SUFFIXES)} file")
    typer.echo(total(results))
    if not all(checked.good for checked in results):
        raise typer.Exit(1)


def check(path: Path) -> Checked:
    """Check one cassette or recording."""
    from simrt.replay.fidelity import check_fidelity

    try:
        cassette = read(path)
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
