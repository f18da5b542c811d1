import pytest

from .calls import called, marks
from .runs import refused


def test_the_caller_leaves_in_the_middle_of_a_reply() -> None:
    result = called("hang-up:reply=0,at=2s")
    assert result.line.hung_up_by == "caller"
    assert result.replies[0].heard_ms == pytest.approx(2000, abs=21)
    assert marks(result) == ["hang-up:at=2000ms,reply=0"]
    assert "the caller hung up" in result.log[-1]


def test_or_so_long_after_pickup() -> None:
    result = called("hang-up:at=1500ms")
    assert result.virtual_ms == pytest.approx(1500, abs=1)
    assert result.replies == []


def test_before_anybody_has_answered_too() -> None:
    result = called("hang-up:at=100ms", "late-ready:at=2s")
    assert result.line.hung_up_by == "caller"
    assert result.verdict.unfired in ([], ["late-ready:at=2000ms"])


def test_a_place_that_is_not_there_can_never_fire() -> None:
    assert "lies beyond" in refused("hang-up:reply=0,at=20s")
