import pytest

from clients.call import Call, DrainCall, NaiveCall
from tests.checks.talk import Talk

from .calling import findings

STALL = "stall:reply=-1,at=1500ms,for=500ms"


def test_an_empty_queue_is_not_the_end() -> None:
    (found,) = findings("END401", DrainCall, "front-desk", STALL)
    assert found.evidence["to_come_ms"] == pytest.approx(3400)
    assert found.t_ms == pytest.approx(19020, abs=20)


def test_nor_is_a_second() -> None:
    assert len(findings("END401", NaiveCall, "front-desk")) == 1


@pytest.mark.parametrize("cassette", ["front-desk", "no-done", "talk-over"])
def test_who_waits_for_the_end_is_right(cassette: str) -> None:
    assert findings("END401", Call, cassette, *([STALL] if cassette == "front-desk" else [])) == []


def test_a_cap_on_the_wait_is_no_fault() -> None:
    assert findings("END401", Call, "front-desk", "stall:reply=-1,at=1500ms,for=20000ms") == []


def test_in_a_recording_the_caller_may_have_hung_up() -> None:
    talk = Talk().ready().turn(200, 800).created(1000).audio(1100, 500).close(1200)
    (found,) = talk.findings("END401")
    assert found.severity == "note"
    assert Talk().ready().turn(200, 800).created(1000).audio(1100, 500).done(1150).close(1200).findings("END401") == []
