"""Where the things that come with simrt are: clients, fixtures, cassettes.

In a checkout they lie at the top of the repository; a wheel carries them inside the package, so that nothing called
`clients` is planted at the top of somebody's environment.
"""

import importlib
import sys
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import Literal

from simrt.errors import SimrtError

_PACKAGE = Path(__file__).parent


@cache
def folder(name: Literal["clients", "fixtures", "cassettes"]) -> Path:
    """The folder of shipped things of that name."""
    for place in (_PACKAGE / "_shipped" / name, _PACKAGE.parent / name):
        if place.is_dir():
            return place
    raise SimrtError(f"the shipped {name} are missing: this installation of simrt is not whole, install it again")


def cassette(name: str) -> Path:
    """A shipped cassette by name; SimrtError lists those there are."""
    place = folder("cassettes")
    if (place / name / "cassette.jsonl").is_file():
        return place / name
    names = sorted(path.parent.name for path in place.glob("*/cassette.jsonl"))
    raise SimrtError(
        f"no folder {name!r} here, and no shipped cassette of that name; those are: {', '.join(names) or 'none'}"
    )


def client_module(name: str) -> ModuleType:
    """A shipped client package, say "clients.call", whether or not `clients` can be imported from here."""
    inner = _PACKAGE / "_shipped" / "clients"
    if inner.is_dir():
        return importlib.import_module(f"simrt._shipped.{name}")
    top = str(_PACKAGE.parent)
    if top not in sys.path:
        sys.path.append(top)
    return importlib.import_module(name)
