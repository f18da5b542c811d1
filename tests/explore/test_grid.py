"""From ranges and lists to plans."""

import pytest

from simrt.errors import PlanError
from simrt.explore.grid import parse_grid
from simrt.faults.plan import parse_plan


def plans(*faults: str) -> list[tuple[str, ...]]:
    return [place.plan for place in parse_grid(faults).places()]


def test_the_issues_own_example() -> None:
    grid = parse_grid(["stall:at=0..5000ms/100ms,for=200..1000ms/200ms"])
    assert [(axis.name, len(axis.values)) for axis in grid.axes] == [("stall.at", 51), ("stall.for", 5)]
    places = list(grid.places())
    assert len(places) == len(grid) == 255
    assert places[0].plan == ("stall:at=0ms,for=200ms",)
    assert (places[-1].at, places[-1].plan) == (("5000ms", "1000ms"), ("stall:at=5000ms,for=1000ms",))
    for place in places:
        parse_plan(place.plan)


def test_what_does_not_vary_is_one_plan() -> None:
    faults = ("stall:reply=-1,for=500ms", "spread")
    assert parse_grid(faults).axes == ()
    assert plans(*faults) == [faults]
    assert plans() == [()]


@pytest.mark.parametrize(
    ("value", "meant"),
    [
        ("0..300/100ms", "0ms 100ms 200ms 300ms"),
        ("0..1s/500ms", "0ms 500ms 1000ms"),
        ("0.5..1.5s/0.5", "500ms 1000ms 1500ms"),
        ("100ms..1s/450ms", "100ms 550ms 1000ms"),
        ("0..250ms/100ms", "0ms 100ms 200ms"),
        ("-3..-1", "-3 -2 -1"),
        ("0.1..0.3/0.1", "0.1 0.2 0.3"),
        ("200|500ms|1s", "200ms 500ms 1s"),
        ("200|500ms", "200ms 500ms"),
        ("a|b", "a b"),
        ("0..2|7|1", "0 1 2 7"),
    ],
)
def test_values(value: str, meant: str) -> None:
    (axis,) = parse_grid([f"any:field={value}"]).axes
    assert " ".join(axis.values) == meant


def test_quotes_keep_what_is_in_them() -> None:
    fault = 'error_event:event=x|y,message="a|b, 1..2","'
    assert plans(fault[:-2]) == [
        ('error_event:event=x,message="a|b, 1..2"',),
        ('error_event:event=y,message="a|b, 1..2"',),
    ]
    assert plans('close:reason="a, b"|c,at=1s') == [('close:reason="a, b",at=1s',), ("close:reason=c,at=1s",)]


def test_two_faults_vary_each_with_the_other_and_the_same_field_gets_a_number() -> None:
    grid = parse_grid(["stall:at=0|1s", "clog:for=5s", "stall:at=2s|3s"])
    assert [axis.name for axis in grid.axes] == ["stall.at#1", "stall.at#2"]
    assert [place.plan[0] + place.plan[2] for place in grid.places()] == [
        "stall:at=0sstall:at=2s",
        "stall:at=0sstall:at=3s",
        "stall:at=1sstall:at=2s",
        "stall:at=1sstall:at=3s",
    ]


def test_values_as_numbers() -> None:
    (axis,) = parse_grid(["stall:at=0|500ms|1.5s"]).axes
    assert [axis.number(value) for value in axis.values] == [0, 500, 1500]
    assert axis.number("response.done") is None


@pytest.mark.parametrize(
    ("value", "said"),
    [
        ("5..0ms/1ms", "goes nowhere"),
        ("0..5/0", "goes nowhere"),
        ("0..5ms", "has no step"),
        ("0..0.5", "has no step"),
        ("a..b", "is no range"),
        ("..5/1", "is no range"),
        ("1.2.3..5/1", "is no range"),
        ("0..9999999/1", "more than 100000 values"),
        ("0..999,for=0..999", "make 1000000 plans"),
    ],
)
def test_what_is_no_grid_is_told(value: str, said: str) -> None:
    with pytest.raises(PlanError, match=said):
        parse_grid([f"stall:at={value}"])
