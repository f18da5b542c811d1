from tests.checks.talk import Talk

from .calling import findings, messages
from .small import Event, Small

ACTIVE = "conversation_already_has_active_response"


def test_an_ask_while_a_response_is_known_to_be_active() -> None:
    talk = Talk().ready().created(1000).call(1100).output(1200)
    talk.client(1300, "response.create", event_id="e1").error(1320, ACTIVE, "e1").done(1500)
    (found,) = talk.findings("PRO301")
    assert found.t_ms == 1300
    assert "while resp_1 has been under way for 300 ms" in found.message


def test_an_ask_when_it_is_done_is_right() -> None:
    talk = Talk().ready().created(1000).call(1100).output(1200).done(1500)
    assert talk.client(1500, "response.create").created(1600, "resp_2").findings("PRO301") == []


def test_two_asks_at_once() -> None:
    talk = Talk().ready().client(1000, "response.create").client(1010, "response.create").created(1100)
    (found,) = talk.error(1110, ACTIVE).done(2000).findings("PRO301")
    assert "10 ms after asking for one" in found.message


def test_asking_again_when_nothing_came_is_right() -> None:
    talk = Talk().ready().client(1000, "response.create").client(6000, "response.create").created(6100)
    assert talk.done(7000).findings("PRO301") == []


def test_what_crosses_on_the_wire_is_nobodys_fault() -> None:
    talk = Talk().ready().turn(500, 900).created(1000).client(1020, "response.create", event_id="e1")
    assert talk.error(1040, ACTIVE, "e1").done(1500).findings("PRO301") == []


def test_a_response_beside_the_conversation_may_overlap() -> None:
    beside = {"conversation": "none"}
    talk = Talk().ready().turn(500, 900).created(1000).client(1500, "response.create", response=beside)
    assert talk.created(1600, "resp_2").done(1700, "resp_2").done(2000).findings("PRO301") == []


def test_a_lost_end_does_not_bind_for_ever() -> None:
    talk = Talk().ready().created(1000).call(1100).output(1200).client(9000, "response.create")
    assert talk.findings("PRO301") == []


class Hasty(Small):
    """Asks as soon as the output is sent, and takes no refusal for one."""

    async def ask(self) -> None:
        if self.wanted:
            self.wanted = False
            await self.send("response.create")

    async def error(self, error: Event) -> None:
        pass


def test_a_client_that_asks_with_the_output() -> None:
    (first,) = messages(findings("PRO301", Hasty, "front-desk", "delay:event=response.done,nth=0,for=500ms"))
    assert "the server gives it none" in first
    assert findings("PRO301", Small, "front-desk", "delay:event=response.done,nth=0,for=500ms") == []


def test_an_ask_that_was_lost_is_not_held_against_those_after_it() -> None:
    talk = Talk().ready().client(1000, "response.create").client(9000, "response.create").created(9100)
    talk.done(9500).client(9800, "response.create").created(9900, "resp_2").done(10_500, "resp_2")
    assert talk.findings("PRO301") == []


def test_who_has_cancelled_a_response_may_ask_for_the_next() -> None:
    talk = Talk().ready().client(1000, "response.create").created(1100).client(3000, "response.cancel")
    talk.client(3001, "response.create", event_id="e2").error(3020, ACTIVE, "e2").done(3100, status="cancelled")
    assert talk.findings("PRO301") == []
