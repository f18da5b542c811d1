"""Grids of plans: a fault's compact form with ranges and lists in it, and every plan that it stands for.

    stall:at=0..5000ms/100ms,for=200|500ms      at 0, 100, … 5000 ms, each for 200 and for 500 ms
    error:event=response.created|response.done,nth=0..2

A range is FROM..TO/STEP, and both ends belong to it; whole numbers need no step. A unit that is said once holds for all
numbers of a range or a list. What stands in quotes is text, whatever is in it.
"""

import re
from collections.abc import Iterator, Sequence
from decimal import Decimal
from itertools import product

import msgspec

from simrt.errors import PlanError

_PART = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^,"])+')
_PIECE = re.compile(r'(?:"(?:[^"\\]|\\.)*"|[^|"])+')
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_RANGE = re.compile(
    rf"(?P<low>{_NUMBER.pattern})(?P<u1>ms|s)?\.\.(?P<high>{_NUMBER.pattern})(?P<u2>ms|s)?"
    rf"(?:/(?P<step>{_NUMBER.pattern})(?P<u3>ms|s)?)?"
)
_DURATION = re.compile(r"(-?\d+(?:\.\d+)?)(ms|s)")
_MOST = 100_000


class Axis(msgspec.Struct, frozen=True):
    """What varies: a field of a fault, as "stall.at". `values`: as they are written in the compact form."""

    name: str
    values: tuple[str, ...]

    def number(self, value: str) -> float | None:
        """A value as a number, durations in ms; None: it is none."""
        if duration := _DURATION.fullmatch(value):
            return float(duration[1]) * (1000 if duration[2] == "s" else 1)
        return float(value) if _NUMBER.fullmatch(value) else None


class Place(msgspec.Struct, frozen=True):
    """One point of a grid: a value for each axis, and the plan that it makes."""

    at: tuple[str, ...]
    plan: tuple[str, ...]


class Grid(msgspec.Struct, frozen=True):
    """Axes, and the faults with `{}` where a value comes in."""

    axes: tuple[Axis, ...]
    templates: tuple[str, ...]

    def __len__(self) -> int:
        size = 1
        for axis in self.axes:
            size *= len(axis.values)
        return size

    def places(self) -> Iterator[Place]:
        """All points, the last axis varying fastest."""
        for at in product(*(axis.values for axis in self.axes)):
            left = iter(at)
            plan = tuple("".join(next(left) if part is None else part for part in _split(t)) for t in self.templates)
            yield Place(at, plan)


_HOLE = "\0"


def _split(template: str) -> Iterator[str | None]:
    for number, text in enumerate(template.split(_HOLE)):
        if number:
            yield None
        yield text


def parse_grid(faults: Sequence[str]) -> Grid:
    """The grid that some faults stand for. PlanError: a range goes nowhere, or there are too many points.

    Whether each fault is a right one is not looked at here; nor need anything vary.
    """
    axes: list[Axis] = []
    templates = []
    for text in faults:
        name, colon, rest = text.partition(":")
        parts = []
        for part in _PART.findall(rest):
            key, equals, value = part.partition("=")
            values = _values(text, key.strip(), value.strip()) if equals else ()
            if len(values) > 1:
                axes.append(Axis(f"{name.strip()}.{key.strip()}", values))
                parts.append(f"{key.strip()}={_HOLE}")
            else:
                parts.append(f"{key.strip()}={values[0]}" if values else part.strip())
        templates.append(f"{name.strip()}{colon}{','.join(parts)}")
    made = Grid(tuple(_apart(axes)), tuple(templates))
    if len(made) > _MOST:
        raise PlanError(f"these faults make {len(made)} plans, more than {_MOST}: take larger steps")
    return made


def _apart(axes: Sequence[Axis]) -> Iterator[Axis]:
    """Axes of the same name get numbers."""
    names = [axis.name for axis in axes]
    for number, axis in enumerate(axes):
        nth = names[: number + 1].count(axis.name)
        yield axis if names.count(axis.name) == 1 else msgspec.structs.replace(axis, name=f"{axis.name}#{nth}")


def _values(text: str, key: str, value: str) -> tuple[str, ...]:
    pieces = [piece.strip() for piece in _PIECE.findall(value)]
    unit = _unit(pieces) if len(pieces) > 1 else ""
    found: dict[str, None] = {}
    for piece in pieces:
        if piece.startswith('"') or ".." not in piece:
            found[f"{piece}{unit}" if _NUMBER.fullmatch(piece) else piece] = None
        else:
            found.update(dict.fromkeys(_range(text, key, piece)))
    return tuple(found)


def _unit(pieces: Sequence[str]) -> str:
    """The unit of a list's numbers that have none."""
    units = {match[2] for piece in pieces if (match := _DURATION.fullmatch(piece))}
    return "ms" if len(units) > 1 else "".join(units)


def _range(text: str, key: str, piece: str) -> Iterator[str]:
    where = f"fault {text!r}: {key}={piece}"
    match = _RANGE.fullmatch(piece)
    if match is None:
        raise PlanError(f"{where} is no range; write {key}=0..500ms/100ms, or {key}=0..3")
    units = {unit for unit in (match["u1"], match["u2"], match["u3"]) if unit}
    usual = "s" if units == {"s"} else "ms"

    def amount(number: str, unit: str | None) -> Decimal:
        return Decimal(number) * (1000 if units and (unit or usual) == "s" else 1)

    low, high = amount(match["low"], match["u1"]), amount(match["high"], match["u2"])
    if match["step"]:
        step = amount(match["step"], match["u3"])
    elif not units and low == int(low) and high == int(high):
        step = Decimal(1)
    else:
        raise PlanError(f"{where} has no step; write {key}={piece}/…")
    if step <= 0 or high < low:
        raise PlanError(f"{where} goes nowhere: a range goes up, from the lower to the higher, in steps above 0")
    if (high - low) / step > _MOST:
        raise PlanError(f"{where} has more than {_MOST} values: take larger steps")
    while low <= high:
        yield f"{low.normalize():f}{'ms' if units else ''}"
        low += step
