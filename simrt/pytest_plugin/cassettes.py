"""Which cassette a test means."""

from pathlib import Path

import pytest

from simrt.cassette.store import Cassette, load_cached
from simrt.errors import CassetteError, SimrtError
from simrt.pytest_plugin.settings import folders_of, in_ci


def find(item: pytest.Item, name: str | Path) -> Path | None:
    """An absolute path, a name in the test's cassette folders, or a shipped one; None when there is none."""
    from simrt import shipped

    path = Path(name)
    places = [path] if path.is_absolute() else [folder / path for folder in folders_of(item)]
    for place in places:
        if (place / "cassette.jsonl").is_file():
            return place
    if path.is_absolute():
        return None
    try:
        return shipped.cassette(str(name))
    except SimrtError:
        return None


def resolve(item: pytest.Item, cassette: Cassette | str | Path) -> Cassette | Path:
    """The same, but CassetteError when there is none."""
    __tracebackhide__ = True
    if isinstance(cassette, Cassette):
        return cassette
    found = find(item, cassette)
    if found is None:
        raise missing(item, cassette)
    return found


def cassette_name(cassette: Cassette | str | Path) -> str:
    """How a report calls it."""
    return str(cassette.path or "in memory") if isinstance(cassette, Cassette) else str(cassette)


def profile_of(cassette: Cassette | Path) -> str:
    """Whose habits its server has."""
    return (cassette if isinstance(cassette, Cassette) else load_cached(cassette)).header.profile


def home(item: pytest.Item, name: str | Path) -> Path:
    """Where a cassette of that name is, or would be recorded: beside the test, if the test's folders have none."""
    path = Path(name)
    if path.is_absolute():
        return path
    for folder in folders_of(item):
        if (folder / path / "cassette.jsonl").is_file():
            return folder / path
    return folders_of(item)[0] / path


def missing(item: pytest.Item, name: str | Path, upstream: str | None = None) -> CassetteError:
    """The error for a cassette that is not there: where it was looked for, and how to record it."""
    from simrt import shipped

    path = Path(name)
    if path.is_absolute():
        text = f"there is no cassette at {path}"
    else:
        folders = folders_of(item)
        looked = " or ".join(map(str, folders))
        names = {found.parent.name for folder in folders for found in folder.glob("*/cassette.jsonl")}
        names |= {found.parent.name for found in shipped.folder("cassettes").glob("*/cassette.jsonl")}
        there = ", ".join(sorted(names))
        text = f"there is no cassette {str(name)!r} in {looked}, nor is it shipped; there are: {there}"
    if upstream is None:
        return CassetteError(
            f"{text}. To record it: simrt record UPSTREAM --out {home(item, name)} -- COMMAND, or give the test's "
            'marker an upstream="wss://…" and says=[…], and run pytest --simrt-record=once'
        )
    way = "To record it:" if not in_ci() else "Nothing is recorded where CI is set; record it where it is not:"
    return CassetteError(f"{text}. {way} pytest --simrt-record=once '{item.nodeid}'")
