"""Sweeps: which calls are made, what is told of them, and the maps."""

from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from simrt.errors import PlanError, SimrtError
from simrt.explore.executors import LocalCrew
from simrt.explore.figures import FIGURES
from simrt.explore.grid import Axis, parse_grid
from simrt.explore.job import Outcome
from simrt.explore.sweep import Cell, Point, Sweep, begin, check_figures, load_json, maps, run, save_json

from .test_job import SHORT, timeless

DRAIN = "clients.call:DrainCall"
FAULT = "stall:at=0|1500ms|20s,for=200|500ms"


@pytest.fixture(scope="module")
def one() -> Iterator[LocalCrew]:
    with LocalCrew(1) as made:
        yield made


@pytest.fixture(scope="module")
def drain(one: LocalCrew) -> Sweep:
    sweep = begin(DRAIN, SHORT, parse_grid([FAULT]))
    assert len(list(run(sweep, one))) == 6
    return sweep


def made(axes: dict[str, int], values: dict[str, float]) -> Sweep:
    """A sweep over axes of so many points each, with the figure `words_lost` where it is given."""
    fields = [f"{name}=0..{size - 1}" for name, size in axes.items()]
    grid = parse_grid([f"any:{','.join(fields)}"])
    points = [
        Point(p.at, p.plan, Outcome("ended", figures={"words_lost": values["".join(p.at)]}))
        if "".join(p.at) in values
        else Point(p.at, p.plan)
        for p in grid.places()
    ]
    return Sweep("a:b", "c", 0, grid.axes, points)


def test_a_call_for_each_point_and_those_that_cannot_fire_are_told_apart(drain: Sweep) -> None:
    statuses = [(point.at, point.outcome.status) for point in drain.points if point.outcome is not None]
    assert [at for at, _ in statuses] == [(a, b) for a in ("0ms", "1500ms", "20s") for b in ("200ms", "500ms")]
    assert [status for _, status in statuses] == ["ended"] * 4 + ["impossible"] * 2
    assert [point.at for point in drain.failed] == [("1500ms", "500ms")]
    assert len(drain.impossible) == 2
    assert drain.by_code() == {"END401": drain.failed}


def test_workers_change_nothing(drain: Sweep) -> None:
    again = begin(DRAIN, SHORT, parse_grid([FAULT]))
    with LocalCrew(2) as two:
        list(run(again, two))
    for ours, theirs in zip(drain.points, again.points, strict=True):
        assert ours.outcome is not None
        assert theirs.outcome is not None
        assert timeless(ours.outcome) == timeless(theirs.outcome)


def test_rules_can_be_left_out(one: LocalCrew) -> None:
    sweep = begin(DRAIN, SHORT, parse_grid(["stall:at=1500ms|1600ms"]))
    list(run(sweep, one, ignore=("END",)))
    assert sweep.failed == []


def test_faults_that_never_fire_anywhere_are_an_error(one: LocalCrew) -> None:
    sweep = begin(DRAIN, SHORT, parse_grid(["stall:at=20s|30s"]))
    with pytest.raises(PlanError, match=r"at no point .* 3000 ms of audio"):
        list(run(sweep, one))


def test_a_misspelt_fault_is_told_before_any_call() -> None:
    with pytest.raises(PlanError, match="did you mean 'at'"):
        begin(DRAIN, SHORT, parse_grid(["stall:att=0..1s/500ms"]))
    with pytest.raises(PlanError, match="no duration"):
        begin(DRAIN, SHORT, parse_grid(["stall:at=0..5"]))


def test_the_figures_to_show_are_those_that_vary(drain: Sweep) -> None:
    assert drain.telling() == ["failed", "goodbye_heard_percent"]
    assert min(drain.values("goodbye_heard_percent")) == 50


def test_a_map_has_the_longest_axis_across(drain: Sweep) -> None:
    (found,) = maps(drain, "goodbye_heard_ms")
    assert (found.x.name, found.y and found.y.name) == ("stall.at", "stall.for")
    assert [[cell.state for cell in row] for row in found.cells] == [["value", "value", "impossible"]] * 2
    assert [[cell.failed for cell in row] for row in found.cells] == [[False] * 3, [False, True, False]]
    assert found.span == (found.cells[1][1].value, 3000)


def test_further_axes_make_further_maps() -> None:
    values = {f"{a}{b}{d}": 100 * a + 10 * b + d for a in range(2) for b in range(3) for d in range(4)}
    sweep = made({"a": 2, "b": 3, "c": 1, "d": 4}, values)
    first, second = maps(sweep, "words_lost")
    assert (first.title, second.title) == ("any.a=0", "any.a=1")
    assert (second.x.name, second.y and second.y.name) == ("any.d", "any.b")
    assert [[cell.value for cell in row] for row in second.cells] == [
        [100 + 10 * b + d for d in range(4)] for b in range(3)
    ]


def test_one_axis_is_one_row_and_none_is_no_map() -> None:
    (found,) = maps(made({"a": 3}, {"0": 7, "2": 9}), "words_lost")
    assert found.y is None
    assert found.cells == ((Cell("value", 7), Cell("missing"), Cell("value", 9)),)
    assert maps(made({}, {"": 1}), "words_lost") == []
    (found,) = maps(made({"a": 2}, {"0": 7, "1": 9}), "ready_ms")
    assert {cell.state for row in found.cells for cell in row} == {"none"}
    assert found.span is None


def test_a_sweep_is_saved_and_read_back(drain: Sweep, tmp_path: Path) -> None:
    save_json(drain, tmp_path / "sweep.json")
    assert load_json(tmp_path / "sweep.json") == drain
    assert msgspec.json.decode((tmp_path / "sweep.json").read_bytes())["points"][0]["plan"] == [
        "stall:at=0ms,for=200ms"
    ]
    (tmp_path / "other.json").write_text("[]")
    with pytest.raises(SimrtError, match=r"other\.json is no saved sweep"):
        load_json(tmp_path / "other.json")


def test_figures_are_known_by_name() -> None:
    check_figures(list(FIGURES))
    with pytest.raises(SimrtError, match="there is no figure 'goodby'; there are goodbye_heard_ms, "):
        check_figures(["goodby"])


def test_an_axis_without_numbers_stays_in_order() -> None:
    sweep = begin(DRAIN, SHORT, parse_grid(["delay:event=response.done|response.created,for=1s"]))
    assert sweep.axes == (Axis("delay.event", ("response.done", "response.created")),)
