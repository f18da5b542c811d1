import pytest

from tests.replay.hand import reply, small

from .calls import called, marks, replies
from .runs import refused


def test_the_first_line_comes_later_and_the_rest_follows() -> None:
    plain, result = called(), called("late-pickup:by=2s")
    shift = [b.said_ms - a.said_ms for a, b in zip(plain.caller_turns, result.caller_turns, strict=True)]
    assert shift == pytest.approx([2000, 2000], abs=25)
    assert replies(result) == replies(plain)
    assert marks(result) == ["late-pickup:by=2000ms"]


def test_a_caller_who_says_nothing_cannot_be_late() -> None:
    assert "says nothing" in refused("late-pickup", small([reply("goodbye-short", on="create")]))
