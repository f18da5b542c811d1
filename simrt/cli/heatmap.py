"""Maps of a sweep for a terminal: a sign and a colour for each point. Without colours the signs alone say it."""

from collections.abc import Iterator, Sequence

from rich.style import Style
from rich.text import Text

from simrt.explore.figures import FIGURES
from simrt.explore.grid import Axis
from simrt.explore.sweep import Cell, Map

IMPOSSIBLE, NONE, MISSING = "/", "?", " "
_GOOD, _BAD = ".", "X"
_LISTED = 40
_TICK = 8  # columns between two values written under a map
_RAMP = ("#3b0f70", "#5c2d91", "#414487", "#2a788e", "#1f9e89", "#22a884", "#5ec962", "#7ad151", "#bddf26", "#fde725")


def lines(one: Map, width: int) -> Iterator[Text]:
    """A map line by line; a short one with a single row (nothing but `x` varies) as a list with bars. `width`: columns
    that there are."""
    yield Text(f"{one.figure}: {FIGURES[one.figure]}" + (f" ({one.title})" if one.title else ""), style="bold")
    if one.y is None and len(one.x.values) <= _LISTED:
        yield from _bars(one)
    else:
        yield from _grid(one, one.y or Axis("", ("",)), width)
    if legend := _legend(one):
        yield Text(legend, style="dim")


def _grid(one: Map, y: Axis, width: int) -> Iterator[Text]:
    margin = max(len(value) for value in (*y.values, y.name)) + 1
    wide = 2 if margin + 2 * len(one.x.values) <= width else 1
    room = max(1, (width - margin) // wide)
    for first in range(0, len(one.x.values), room):  # a map that is too wide goes on further below
        part = one.x.values[first : first + room]
        if first:
            yield Text()
        if y.name:
            yield Text(y.name.rjust(margin - 1), style="dim")
        for value, row in reversed(list(zip(y.values, one.cells, strict=True))):
            line = Text(value.rjust(margin - 1) + " ")
            for cell in row[first : first + room]:
                line.append(*_sign(cell, one, wide))
            yield line
        yield Text(" " * margin + _scale(part, wide) + f"  {one.x.name}", style="dim")


def _scale(values: Sequence[str], wide: int) -> str:
    """Some of the values, each beginning under its column."""
    scale = ""
    for place in range(0, len(values), max(1, _TICK // wide)):
        if len(scale) <= place * wide:
            scale = scale.ljust(place * wide) + values[place] + " "
    return scale.ljust(len(values) * wide)


def _bars(one: Map) -> Iterator[Text]:
    (row,) = one.cells
    margin = max(len(value) for value in (*one.x.values, one.x.name))
    _, high = one.span or (0.0, 0.0)
    yield Text(one.x.name.rjust(margin), style="dim")
    for value, cell in zip(one.x.values, row, strict=True):
        line = Text(value.rjust(margin) + " ")
        if cell.state == "missing":
            continue
        sign, style = _sign(cell, one, 1)
        if cell.state == "value" and one.figure != "failed":
            length = round(30 * cell.value / high) if high > 0 else 0
            line.append("█" * max(0, length), style="red" if cell.failed else "green")
            line.append(f" {cell.value:g}" + (" failed" if cell.failed else ""))
        else:
            line.append(sign, style=style)
        yield line


def _sign(cell: Cell, one: Map, wide: int) -> tuple[str, Style]:
    if cell.state == "impossible":
        return IMPOSSIBLE * wide, Style(dim=True)
    if cell.state == "missing":
        return MISSING * wide, Style()
    if cell.state == "none":
        return NONE * wide, Style(color="red" if cell.failed else None)
    if one.figure == "failed":
        return (_BAD if cell.failed else _GOOD) * wide, Style(
            bgcolor="red3" if cell.failed else "green4", color="white"
        )
    tenth = _tenth(cell.value, one)
    style = Style(bgcolor=_RAMP[tenth], color="white" if tenth < 6 else "black", bold=cell.failed)
    return (str(tenth) * wide), style


def _tenth(value: float, one: Map) -> int:
    low, high = one.span or (0.0, 0.0)
    return min(9, int(10 * (value - low) / (high - low))) if high > low else 0


def _legend(one: Map) -> str:
    cells = [cell for row in one.cells for cell in row]
    states = {cell.state for cell in cells}
    parts = []
    if one.figure == "failed":
        parts.append(f"{_GOOD} went well  {_BAD} failed")
    elif one.span is not None and (one.y is not None or len(one.x.values) > _LISTED):
        low, high = one.span
        parts.append(f"{low:g} everywhere" if low == high else f"0 is {low:g}, 9 is {high:g}")
    if "impossible" in states:
        parts.append(f"{IMPOSSIBLE} the fault can never fire")
    if "none" in states:
        parts.append(f"{NONE} the call has no such figure")
    return "  ".join(parts)
