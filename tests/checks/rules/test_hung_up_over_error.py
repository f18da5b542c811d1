import pytest

from clients.call import Call
from tests.checks.talk import Talk
from tests.zoo.scripts import cassette

from .calling import findings
from .small import Event, Small


class GivesUp(Small):
    """Hangs up at any error."""

    async def error(self, error: Event) -> None:
        self.end()


@pytest.mark.parametrize("fault", ["error:reply=0,at=2000ms", "error:event=response.done,nth=1"])
def test_a_client_that_hangs_up_over_an_error(fault: str) -> None:
    (found,) = findings("PRO313", GivesUp, "front-desk", fault)
    assert "after the error 'server_error', while" in found.message
    assert findings("PRO313", Small, "front-desk", fault) == []


def test_when_the_call_is_over_anyway_it_is_no_matter() -> None:
    talk = Talk().ready().turn(200, 800).created(1000).audio(1100, 2000).done(1200)
    assert talk.error(5000, "server_error").close(5100).findings("PRO313") == []


def test_the_end_of_the_response_is_a_reason_of_its_own() -> None:
    talk = Talk().ready().turn(200, 800).created(1000).audio(1100, 400).error(1600, "server_error").done(2000)
    assert talk.close(2000).findings("PRO313") == []


@pytest.mark.parametrize(("code", "flagged"), [("response_cancel_not_active", 1), ("session_expired", 0)])
def test_some_errors_are_the_end(code: str, flagged: int) -> None:
    talk = Talk().ready().turn(200, 800).created(1000).audio(1100, 2000).error(1500, code).close(1600)
    assert len(talk.findings("PRO313")) == flagged


def test_a_refused_session_is_a_reason() -> None:
    talk = Talk().server(0, "session.created").client(10, "session.update", event_id="e1")
    assert talk.error(20, "unsupported_parameter", "e1").close(30).findings("PRO313") == []


def test_a_close_of_the_servers_is_not_the_clients() -> None:
    talk = Talk().ready().turn(200, 800).created(1000).audio(1100, 2000).error(1500, "server_error")
    assert talk.close(1600, "server", 1011).findings("PRO313") == []


def test_a_call_that_was_to_end_anyway_is_not_ended_by_the_error() -> None:
    """The goodbye was heard, its response is done, and the caller has just begun to say one thing more."""
    faults = ("error:event=response.done,nth=1", "late-audio:at=2880ms")
    assert findings("PRO313", Call, cassette("answer"), *faults) == []
