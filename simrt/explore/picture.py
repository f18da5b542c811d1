"""Maps as a picture, drawn by matplotlib (the extra `report`)."""

from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import Any

from simrt.errors import SimrtError
from simrt.explore.figures import FIGURES
from simrt.explore.grid import Axis
from simrt.explore.sweep import Map, Sweep, maps

_TICKS = 12
_MOST = 24  # maps in one picture


def can_draw() -> bool:
    """Whether matplotlib is there."""
    try:
        import_module("matplotlib")
    except ImportError:
        return False
    return True


def draw(sweep: Sweep, figures: Sequence[str], path: Path) -> None:
    """Draw a map for each figure; what the file's name ends in decides on its format (png, svg, pdf).

    SimrtError: matplotlib is not installed, or the file cannot be written.
    """
    if not can_draw():
        raise SimrtError("matplotlib is not installed: pip install 'simrt[report]'")
    made = [one for figure in figures for one in maps(sweep, figure)][:_MOST]
    if not made:
        raise SimrtError(
            "nothing varies in these faults, so there is nothing to draw; write a range, as in at=0..2s/100ms"
        )
    figure_class = import_module("matplotlib.figure").Figure
    heights = [0.7 + 0.28 * max(4, min(len(one.cells), 40)) if one.y is not None else 2.6 for one in made]
    width = max(7.0, min(24.0, 3.5 + 0.2 * max(len(one.x.values) for one in made)))
    picture = figure_class(figsize=(width, sum(heights) + 0.8), layout="constrained")
    picture.suptitle(f"{sweep.client} on {Path(sweep.cassette).name}, seed {sweep.seed}", fontsize=11)
    panels = picture.subplots(len(made), 1, squeeze=False, height_ratios=heights)
    for panel, one in zip(panels[:, 0], made, strict=True):
        panel.set_title(f"{one.figure}: {FIGURES[one.figure]}" + (f" ({one.title})" if one.title else ""), fontsize=9)
        if one.y is None:
            _curve(panel, one)
        else:
            _heat(picture, panel, one)
        panel.set_xlabel(_label(one.x), fontsize=8)
        panel.tick_params(labelsize=7)
    try:
        picture.savefig(path, dpi=120)
    except (OSError, ValueError) as error:
        raise SimrtError(f"the picture cannot be written to {path}: {error}") from None


def _heat(picture: Any, panel: Any, one: Map) -> None:
    assert one.y is not None
    nan = float("nan")
    values = [[cell.value if cell.state == "value" else nan for cell in row] for row in one.cells]
    two = one.figure == "failed"
    low, high = (0.0, 1.0) if two else one.span or (0.0, 1.0)
    colours = import_module("matplotlib").colormaps["RdYlGn_r" if two else "viridis"].with_extremes(bad="white")
    image = panel.imshow(
        values, origin="lower", aspect="auto", cmap=colours, vmin=low, vmax=high if high > low else low + 1
    )
    picture.colorbar(image, ax=panel).ax.tick_params(labelsize=7)
    for number, row in enumerate(one.cells):
        for place, cell in enumerate(row):
            if cell.state == "impossible":
                panel.add_patch(_box(place, number, facecolor="0.85", hatch="///", edgecolor="0.6", linewidth=0))
            elif cell.failed and not two:
                panel.plot(place, number, marker="x", markersize=4, color="red", markeredgewidth=0.9)
    _ticks(panel.xaxis, one.x)
    _ticks(panel.yaxis, one.y)
    panel.set_ylabel(_label(one.y), fontsize=8)


def _box(place: int, number: int, **style: Any) -> Any:
    return import_module("matplotlib.patches").Rectangle((place - 0.5, number - 0.5), 1, 1, **style)


def _curve(panel: Any, one: Map) -> None:
    (row,) = one.cells
    numbers = [one.x.number(value) for value in one.x.values]
    known = [number for number in numbers if number is not None]
    at: list[float] = known if len(known) == len(numbers) else [float(place) for place in range(len(numbers))]
    values = [cell.value if cell.state == "value" else float("nan") for cell in row]
    panel.plot(at, values, marker="o", markersize=3, color="C0", linewidth=1)
    bad = [place for place, cell in enumerate(row) if cell.failed and cell.state == "value"]
    panel.plot([at[p] for p in bad], [values[p] for p in bad], "x", color="red", markersize=5, label="failed")
    for place, cell in enumerate(row):
        if cell.state == "impossible":
            panel.axvline(at[place], color="0.8", linewidth=3)
    if at is not known:
        _ticks(panel.xaxis, one.x)
    if bad:
        panel.legend(fontsize=7)


def _label(axis: Axis) -> str:
    return axis.name


def _ticks(axis: Any, what: Axis) -> None:
    step = -(-len(what.values) // _TICKS)
    places = list(range(0, len(what.values), step))
    axis.set_ticks(places, [what.values[place] for place in places])
