"""`simrt import` and `simrt recover`: cassettes from other tools' recordings, and from recordings that were cut off."""

from pathlib import Path
from typing import Annotated

import typer

from simrt.cli.console import summary


def import_command(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="Another tool's recording (JSON lines, YAML).")],
    out: Annotated[Path, typer.Option("--out", "-o", metavar="CASSETTE", help="The folder to write.")],
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a cassette that is there.")] = False,
) -> None:
    """Turn another tool's recording into a cassette."""
    from simrt.cassette.importers import import_file
    from simrt.cassette.store import save

    cassette = import_file(file)
    path = save(cassette, out, overwrite=overwrite)
    typer.echo(summary(path, cassette))
    for note in cassette.header.notes:
        typer.echo(f"  {note}")


def recover_command(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="The unfinished recording (NAME.recording), or NAME itself.")
    ],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", metavar="CASSETTE", help="The folder to write (default: NAME).")
    ] = None,
) -> None:
    """Make a cassette of a recording that was cut off."""
    from simrt.cassette import journal
    from simrt.cassette.store import load

    path = journal.recover(folder, out)
    cassette = load(path)
    typer.echo(summary(path, cassette))
    for note in cassette.header.notes:
        typer.echo(f"  {note}")
