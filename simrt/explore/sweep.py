"""A sweep: one call for each point of a grid of faults, and maps of what came of them."""

from collections.abc import Iterator, Sequence
from itertools import product
from pathlib import Path
from typing import Literal

import msgspec

from simrt.errors import PlanError, SimrtError
from simrt.explore.executors import Crew
from simrt.explore.figures import FIGURES
from simrt.explore.grid import Axis, Grid
from simrt.explore.job import Job, Outcome
from simrt.faults.plan import parse_plan

_SHOWN = ("goodbye_heard_percent", "words_lost")  # beside `failed`, where they vary


class Point(msgspec.Struct, frozen=True):
    """One call of a sweep: where in the grid, with which faults, and what came of it (None: it was not made)."""

    at: tuple[str, ...]
    plan: tuple[str, ...]
    outcome: Outcome | None = None


class Sweep(msgspec.Struct):
    """What a sweep has found; `points` in the order of the grid, the last axis varying fastest."""

    client: str
    cassette: str
    seed: int
    axes: tuple[Axis, ...]
    points: list[Point]

    @property
    def done(self) -> list[Point]:
        """The points whose calls were made, or could not be."""
        return [point for point in self.points if point.outcome is not None]

    @property
    def failed(self) -> list[Point]:
        """The points at which the client did something wrong."""
        return [point for point in self.points if point.outcome is not None and point.outcome.failed]

    @property
    def impossible(self) -> list[Point]:
        """The points at which a fault can never fire."""
        return [point for point in self.points if point.outcome is not None and point.outcome.status == "impossible"]

    def by_code(self) -> dict[str, list[Point]]:
        """What went wrong, the most frequent first, and where."""
        found: dict[str, list[Point]] = {}
        for point in self.failed:
            for code in point.outcome.codes if point.outcome is not None else ():
                found.setdefault(code, []).append(point)
        return dict(sorted(found.items(), key=lambda entry: (-len(entry[1]), entry[0])))

    def values(self, figure: str) -> list[float]:
        """That figure of all the calls that have it."""
        outcomes = [point.outcome for point in self.points if point.outcome is not None]
        return [outcome.figures[figure] for outcome in outcomes if figure in outcome.figures]

    def telling(self) -> list[str]:
        """The figures to show to one who asks for none."""
        return ["failed", *(figure for figure in _SHOWN if len(set(self.values(figure))) > 1)]


def begin(client: str, cassette: str, grid: Grid, seed: int = 0) -> Sweep:
    """A sweep of which nothing is done. PlanError: a fault is misspelt."""
    points = [Point(place.at, place.plan) for place in grid.places()]
    for point in points:
        parse_plan(point.plan)
    return Sweep(client, cassette, seed, grid.axes, points)


def run(sweep: Sweep, crew: Crew, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> Iterator[Point]:
    """Make the calls of a sweep, and yield its points as they are done, in any order.

    PlanError: the faults can never fire at any point.
    """
    jobs = [
        Job(sweep.client, sweep.cassette, point.plan, sweep.seed, tuple(select), tuple(ignore))
        for point in sweep.points
    ]
    for number, outcome in crew.run(jobs):
        sweep.points[number] = msgspec.structs.replace(sweep.points[number], outcome=outcome)
        yield sweep.points[number]
    if sweep.points and len(sweep.impossible) == len(sweep.points):
        first = sweep.points[0].outcome
        raise PlanError(f"at no point of the sweep can the faults fire: {first.error if first else ''}")


State = Literal["value", "none", "impossible", "missing"]


class Cell(msgspec.Struct, frozen=True):
    """One point on a map. `state`: it has a value; the call has "none"; it is "impossible"; it is "missing", since it
    was not made."""

    state: State
    value: float = 0.0
    failed: bool = False


class Map(msgspec.Struct, frozen=True):
    """A figure over two axes; a row for each value of `y` (one, where `y` is None). `title`: what the other axes
    were."""

    figure: str
    x: Axis
    y: Axis | None
    cells: tuple[tuple[Cell, ...], ...]
    title: str = ""

    @property
    def span(self) -> tuple[float, float] | None:
        """The lowest and the highest value; None: there are none."""
        values = [cell.value for row in self.cells for cell in row if cell.state == "value"]
        return (min(values), max(values)) if values else None


def check_figures(figures: Sequence[str]) -> None:
    """SimrtError: there is no such figure."""
    for figure in figures:
        if figure not in FIGURES:
            raise SimrtError(f"there is no figure {figure!r}; there are {', '.join(FIGURES)}")


def maps(sweep: Sweep, figure: str) -> list[Map]:
    """The maps of a figure: over the longest axis and the next longest, one for each way that the others can be."""
    order = sorted(range(len(sweep.axes)), key=lambda number: -len(sweep.axes[number].values))
    if not order:
        return []
    across, down, others = order[0], order[1] if len(order) > 1 else None, sorted(order[2:])
    cells = {point.at: _cell(point, figure) for point in sweep.points}
    made = []
    for fixed in product(*(sweep.axes[number].values for number in others)):

        def at(x: str, y: str | None, fixed: tuple[str, ...] = fixed) -> tuple[str, ...]:
            known: dict[int | None, str | None] = {across: x, down: y}
            known.update(zip(others, fixed, strict=True))
            return tuple(str(known[number]) for number in range(len(sweep.axes)))

        x, y = sweep.axes[across], None if down is None else sweep.axes[down]
        rows = tuple(tuple(cells[at(a, b)] for a in x.values) for b in (y.values if y is not None else (None,)))
        title = ", ".join(f"{sweep.axes[n].name}={value}" for n, value in zip(others, fixed, strict=True))
        made.append(Map(figure, x, y, rows, title))
    return made


def _cell(point: Point, figure: str) -> Cell:
    outcome = point.outcome
    if outcome is None:
        return Cell("missing")
    if outcome.status == "impossible":
        return Cell("impossible")
    if figure not in outcome.figures:
        return Cell("none", failed=outcome.failed)
    return Cell("value", outcome.figures[figure], outcome.failed)


def save_json(sweep: Sweep, path: Path) -> None:
    """Write all of it; `load_json` reads it back."""
    path.write_bytes(msgspec.json.format(msgspec.json.encode(sweep), indent=1) + b"\n")


def load_json(path: Path) -> Sweep:
    """A sweep that was saved. SimrtError: it is none."""
    try:
        return msgspec.json.decode(path.read_bytes(), type=Sweep)
    except (OSError, msgspec.MsgspecError) as error:
        raise SimrtError(f"{path} is no saved sweep: {error}") from None
