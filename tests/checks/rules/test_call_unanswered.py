import pytest

from clients.call import Call
from tests.checks.talk import Talk

from .calling import findings
from .small import Event, Small


def call(**fields: str) -> Talk:
    return Talk().ready().turn(200, 800).created(1000).call(1100, **fields).done(1200)


def test_a_call_without_an_output() -> None:
    (found,) = call().append(20_000, b"\0\0").findings("PRO307")
    assert "look_up (call_1) never got an output" in found.message
    assert found.frame is not None


def test_an_output_answers_it_however_late() -> None:
    assert call().output(18_000).append(30_000, b"\0\0").findings("PRO307") == []


def test_who_hangs_up_soon_owes_nothing() -> None:
    assert call().append(9_000, b"\0\0").findings("PRO307") == []


@pytest.mark.parametrize("status", ["incomplete", "cancelled"])
def test_a_call_that_was_broken_off_is_owed_nothing(status: str) -> None:
    assert call(status=status).append(20_000, b"\0\0").findings("PRO307") == []


def test_on_a_lost_connection_nothing_can_be_answered() -> None:
    assert call().close(2_000, "server", 1001).findings("PRO307") == []


class Drops(Small):
    """Takes no calls."""

    def take(self, event: Event) -> None:
        pass


def test_a_client_that_drops_the_call() -> None:
    assert findings("PRO307", Drops, "front-desk", cap_ms=30_000)
    assert findings("PRO307", Small, "front-desk") == []
    assert findings("PRO307", Call, "no-done") == []
