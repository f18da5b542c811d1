"""What commands that take many recordings share: finding them in folders, and reading each whatever it is."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from simrt.cli.console import find_cassette
from simrt.errors import SimrtError

if TYPE_CHECKING:
    from simrt.cassette.store import Cassette

PATHS_HELP = "Cassettes, importable recordings, or folders with such in them."
SUFFIXES = (".jsonl", ".yaml", ".yml")
"""Of the files in a folder that may be recordings."""


def recordings(name: str) -> Iterator[Path]:
    """What is meant by one argument: itself, or everything in a folder that is no cassette.

    SimrtError: there is nothing of that name, shipped cassettes included.
    """
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
                yield from recordings(str(inner))
        elif inner.suffix in SUFFIXES:
            yield inner


def read(path: Path) -> "Cassette":
    """A cassette, or a recording that somebody else's tool made. SimrtError: it is neither, or unfinished."""
    from simrt.cassette.importers import import_file
    from simrt.cassette.journal import SUFFIX
    from simrt.cassette.store import load

    if path.name.endswith(SUFFIX):
        raise SimrtError(f"{path}: is an unfinished recording; make a cassette of it with simrt recover")
    return import_file(path) if path.is_file() else load(path)


def _is_cassette(folder: Path) -> bool:
    from simrt.cassette.writer import LINES

    return (folder / LINES).exists()
