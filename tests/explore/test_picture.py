"""Maps as pictures."""

from pathlib import Path

import msgspec
import pytest

from simrt.errors import SimrtError
from simrt.explore.job import Outcome
from simrt.explore.picture import can_draw, draw
from simrt.explore.sweep import Sweep

from .test_sweep import made

pytest.importorskip("matplotlib", reason="needs simrt[report]")

PNG = b"\x89PNG"


def test_two_axes_make_a_heat_map(tmp_path: Path) -> None:
    sweep = made({"length": 4, "place": 3}, {f"{a}{b}": a * b for a in range(4) for b in range(2)})
    draw(sweep, ["words_lost", "failed"], tmp_path / "map.svg")
    drawn = (tmp_path / "map.svg").read_text()
    for text in ("any.length", "any.place", "words_lost: ", "failed: ", "a:b on c, seed 0"):
        assert f"<!-- {text}" in drawn
    draw(sweep, ["words_lost"], tmp_path / "map.png")
    assert (tmp_path / "map.png").read_bytes().startswith(PNG)


def test_one_axis_makes_a_curve_and_what_cannot_be_is_marked(tmp_path: Path) -> None:
    sweep = made({"place": 3}, {"0": 5, "1": 6})
    draw(sweep, ["words_lost"], tmp_path / "without.svg")
    impossible = msgspec.structs.replace(sweep.points[2], outcome=Outcome("impossible", "never"))
    sweep.points[2] = impossible
    draw(sweep, ["words_lost"], tmp_path / "with.svg")
    assert "any.place" in (tmp_path / "with.svg").read_text()
    assert (tmp_path / "with.svg").read_text().count("<path") > (tmp_path / "without.svg").read_text().count("<path")


def test_nothing_to_draw_and_nowhere_to_write_are_told(tmp_path: Path) -> None:
    with pytest.raises(SimrtError, match="nothing varies"):
        draw(made({}, {"": 1}), ["words_lost"], tmp_path / "map.png")
    with pytest.raises(SimrtError, match="cannot be written"):
        draw(_small(), ["words_lost"], tmp_path / "nowhere" / "map.png")
    with pytest.raises(SimrtError, match="cannot be written"):
        draw(_small(), ["words_lost"], tmp_path / "map.docx")


def test_without_matplotlib_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    monkeypatch.setitem(sys.modules, "matplotlib", None)
    assert not can_draw()
    with pytest.raises(SimrtError, match=r"pip install 'simrt\[report\]'"):
        draw(_small(), ["words_lost"], tmp_path / "map.png")


def _small() -> Sweep:
    return made({"place": 2}, {"0": 1, "1": 2})
