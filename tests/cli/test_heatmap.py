"""Maps in a terminal."""

from simrt.cli.heatmap import lines
from simrt.explore.grid import Axis
from simrt.explore.sweep import Cell, Map

X = Axis("stall.at", tuple(f"{ms}ms" for ms in range(0, 500, 100)))
Y = Axis("stall.for", ("200ms", "1000ms"))


def drawn(one: Map, width: int = 80) -> list[str]:
    return [line.plain for line in lines(one, width)]


def values(*numbers: float, failed: bool = False) -> tuple[Cell, ...]:
    return tuple(Cell("value", number, failed) for number in numbers)


def test_values_become_tenths_and_the_rest_has_signs() -> None:
    upper = (*values(0, 50, 100), Cell("impossible"), Cell("none"))
    found = drawn(Map("words_lost", X, Y, (values(0, 10, 20, 30, 99.9), upper)))
    assert found[0].startswith("words_lost: words of the caller")
    assert found[1].strip() == "stall.for"
    assert found[2] == "   1000ms 005599//??"
    assert found[3] == "    200ms 0011223399"
    assert found[4] == "          0ms     400ms   stall.at"
    assert found[5] == "0 is 0, 9 is 100  / the fault can never fire  ? the call has no such figure"


def test_where_it_failed() -> None:
    cells = (values(0, 1, 0, 0, 0), values(1, 1, 1, 1, 1, failed=True))
    found = drawn(Map("failed", X, Y, (cells[0], (*cells[1][:4], Cell("missing")))))
    assert found[2] == "   1000ms XXXXXXXX  "
    assert found[3] == "    200ms .........."
    assert found[5] == ". went well  X failed"


def test_what_is_too_wide_for_two_columns_takes_one_and_what_is_too_wide_for_that_is_broken() -> None:
    many = Axis("stall.at", tuple(f"{ms}ms" for ms in range(0, 3000, 100)))
    one = Map("failed", many, Y, (values(*range(30)), values(*range(30))))
    assert drawn(one, 40)[2] == "   1000ms " + "." * 30
    broken = drawn(one, 30)
    assert [line for line in broken if "1000ms ." in line] == ["   1000ms " + "." * 20, "   1000ms " + "." * 10]
    assert "2000ms" in broken[-2]


def test_one_axis_is_a_list_with_bars() -> None:
    row = (*values(2, 4), *values(1, failed=True), Cell("impossible"), Cell("none"))
    found = drawn(Map("words_lost", X, None, (row,), "any.b=1"))
    assert found[0].endswith("(any.b=1)")
    assert found[2:7] == [
        "     0ms " + "█" * 15 + " 2",
        "   100ms " + "█" * 30 + " 4",
        "   200ms " + "█" * 8 + " 1 failed",
        "   300ms /",
        "   400ms ?",
    ]


def test_a_figure_that_does_not_vary_is_said_to() -> None:
    found = drawn(Map("words_lost", X, Y, (values(3, 3, 3, 3, 3), values(3, 3, 3, 3, 3))))
    assert found[2] == "   1000ms 0000000000"
    assert found[-1] == "3 everywhere"


def test_a_long_axis_alone_is_a_strip_and_what_was_not_made_is_not_listed() -> None:
    many = Axis("stall.at", tuple(f"{ms}ms" for ms in range(0, 5000, 100)))
    found = drawn(Map("words_lost", many, None, (values(*range(50)),)))
    assert found[1] == " " + "".join(str(number // 5) for number in range(50))
    assert found[-1] == "0 is 0, 9 is 49"
    listed = drawn(Map("words_lost", X, None, ((*values(2), Cell("missing"), *values(3, 4, 5)),)))
    assert not any(line.startswith("   100ms") for line in listed)
