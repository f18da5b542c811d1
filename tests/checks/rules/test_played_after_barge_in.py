import pytest

from simrt.checks import Case, Limits, judge
from tests.replay.hand import front_desk

from .calling import findings, result_of
from .small import Event, Small

OVER = ("burst:reply=0", "barge-in:reply=0,at=1500ms,answer=breakfast")


class PlaysOn(Small):
    """Drops what still comes of the reply, but lets the queue play to its end."""

    async def barge_in(self) -> None:
        if self.active is not None:
            self.cut.add(self.active)


class Leaves(PlaysOn):
    """Has told the session that the caller's speech ends no reply."""

    async def on_event(self, event: Event) -> None:
        if event["type"] == "session.created":
            detection = {"type": "server_vad", "create_response": True, "interrupt_response": False}
            await self.send("session.update", session={"audio": {"input": {"turn_detection": detection}}})
        else:
            await super().on_event(event)


def test_a_queue_that_plays_on() -> None:
    (found,) = findings("AGT203", PlaysOn, "front-desk", *OVER)
    assert found.evidence["late_ms"] > 5000
    assert findings("AGT203", Small, "front-desk", *OVER) == []


def test_a_limit_decides_how_long_it_may_take() -> None:
    case = Case.of_result(result_of(PlaysOn, "front-desk", "barge-in:reply=0,at=1500ms,answer=breakfast"))
    (found,) = judge(case, ["AGT203"])
    assert 300 < found.evidence["late_ms"] + 300 < 600
    assert judge(case, ["AGT203"], limits=Limits(barge_in_ms=600)) == []


def test_it_is_the_clients_own_affair_when_it_has_said_so() -> None:
    openai = front_desk("openai")
    assert findings("AGT203", PlaysOn, openai, *OVER, cap_ms=60_000)
    assert findings("AGT203", Leaves, openai, *OVER, cap_ms=60_000) == []


@pytest.mark.parametrize("cassette", ["talk-over", "wrong-card", "missed-confirmation"])
def test_right_clients(cassette: str) -> None:
    assert findings("AGT203", Small, cassette) == []
