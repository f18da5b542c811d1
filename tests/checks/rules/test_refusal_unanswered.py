import pytest

from tests.checks.talk import Talk

from .calling import findings
from .small import Small
from .test_reply_asked_twice import ACTIVE, Hasty


def refused() -> Talk:
    """A tool's output, and a reply asked for too early."""
    talk = Talk().ready().turn(200, 800).created(1000).call(1100).output(1200)
    return talk.client(1300, "response.create", event_id="e1").error(1320, ACTIVE, "e1").done(1500)


def test_nobody_asks_again() -> None:
    (found,) = refused().append(9000, b"\0\0").findings("PRO302")
    assert "a tool's output was refused" in found.message
    assert found.evidence["waited_ms"] == 7500


def test_asking_again_at_the_end_of_what_was_in_the_way() -> None:
    talk = refused().client(1510, "response.create").created(1600, "resp_2").append(9000, b"\0\0")
    assert talk.findings("PRO302") == []


def test_a_call_that_ends_at_once_has_kept_nobody_waiting() -> None:
    assert refused().append(3000, b"\0\0").findings("PRO302") == []


def test_the_server_may_speak_of_it_by_itself() -> None:
    assert refused().created(2000, "resp_2").append(9000, b"\0\0").findings("PRO302") == []


def test_what_the_response_in_the_way_knew_is_not_owed() -> None:
    talk = Talk().ready().created(500).call(600).done(700).output(900).turn(1000, 1400).created(1500, "resp_2")
    talk.client(1600, "response.create", event_id="e1").error(1620, ACTIVE, "e1").done(4000, "resp_2")
    assert talk.append(15000, b"\0\0").findings("PRO302") == []


def test_the_response_in_the_way_may_be_the_answer_to_an_earlier_ask() -> None:
    talk = Talk().ready().created(500).call(600).done(700).output(900).client(1000, "response.create")
    talk.client(9000, "response.create", event_id="e2").created(9040, "resp_2").error(9040, ACTIVE, "e2")
    assert talk.done(11_000, "resp_2").append(25_000, b"\0\0").findings("PRO302") == []


@pytest.mark.parametrize("response", [{"instructions": "Ask whether they are there."}, {}])
def test_instructions_of_its_own_are_owed(response: dict[str, str]) -> None:
    talk = Talk().ready().turn(200, 800).created(1000).client(1300, "response.create", event_id="e1", response=response)
    found = talk.error(1320, ACTIVE, "e1").done(2000).append(9000, b"\0\0").findings("PRO302")
    assert [finding.evidence["waited_ms"] for finding in found] == ([7000] if response else [])


def test_a_client_that_never_asks_again() -> None:
    late = "delay:event=response.done,nth=0,for=500ms"
    (found,) = findings("PRO302", Hasty, "front-desk", late, cap_ms=20_000)
    assert "was refused" in found.message
    assert findings("PRO302", Small, "front-desk", late) == []


def test_a_response_that_begins_just_before_the_ask() -> None:
    collides = "collide:nth=0"
    assert findings("PRO302", Hasty, "front-desk", collides, cap_ms=20_000)
    assert findings("PRO302", Small, "front-desk", collides) == []
