"""What stands in the zoo: a client with a bug, its mended twin, and the call that they take."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Exhibit:
    """One reported bug.

    `row`: its number in the list of reports ("B01"), or what the client is called. `report`: where it was told, and
    `met`: what people met. `bug` and `mended` take a Line and have `run()`. `cassette`: a script of tests.zoo.scripts,
    or a shipped cassette. `codes`: the rules that name the matter, the one that does so best first; one of them is
    enough. `plan`: the shortest plan known to bring it out (empty: the call as it is does), with `seed`.
    """

    row: str
    report: str
    met: str
    bug: type[Any]
    mended: type[Any]
    cassette: str
    codes: tuple[str, ...]
    plan: tuple[str, ...] = ()
    seed: int = 0

    def __str__(self) -> str:
        return self.row


def name_of(client: type[Any]) -> str:
    """How `simrt` is told of a client: "module:Name"."""
    return f"{client.__module__}:{client.__qualname__}"
