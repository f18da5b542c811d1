import asyncio
from typing import Any

from tests.checks.talk import Talk

from .calling import findings
from .small import Event, Small


class Named(Small):
    """Gives what it asks for a name, so that errors can say it."""

    async def send(self, kind: str, **fields: Any) -> None:
        await super().send(kind, event_id=f"my-{kind}", **fields)


class TriesAgain(Named):
    """Asks again for what failed or was refused, half a second later."""

    async def response_done(self, response: Event) -> None:
        await super().response_done(response)
        if response["status"] in ("failed", "incomplete"):
            self.spawn(self.try_again())

    async def error(self, error: Event) -> None:
        self.spawn(self.try_again())

    async def try_again(self) -> None:
        await asyncio.sleep(0.5)
        self.asked, self.wanted = False, True
        await self.ask()


def test_a_response_that_fails() -> None:
    fails = "fail:response=1"
    (found,) = findings("AGT211", Small, "front-desk", fails, cap_ms=30_000)
    assert "a response failed" in found.message
    assert findings("AGT211", TriesAgain, "front-desk", fails) == []


def test_a_refused_response_create() -> None:
    (found,) = findings("AGT211", Named, "front-desk", "reject", cap_ms=30_000)
    assert "was refused" in found.message
    assert findings("AGT211", TriesAgain, "front-desk", "reject") == []


def test_recordings() -> None:
    talk = Talk().ready().turn(500, 1500).created(1600).done(1700, status="failed")
    (found,) = talk.append(8000, b"\0\0").findings("AGT211")
    assert (found.t_ms, found.evidence["quiet_ms"]) == (1700, 6300)
    again = Talk().ready().turn(500, 1500).created(1600).done(1700, status="failed").client(3000, "response.create")
    assert again.created(3100, "resp_2").append(8000, b"\0\0").findings("AGT211") == []


def test_a_reply_that_reached_its_limit_was_heard_all_the_same() -> None:
    talk = Talk().ready().turn(500, 1500).created(1600).audio(1700, 1000).done(1800, status="incomplete")
    assert talk.append(20_000, b"\0\0").findings("AGT211") == []


def test_a_refusal_for_a_response_that_speaks_is_no_silence() -> None:
    talk = Talk().ready().turn(500, 1500).created(1600).client(1610, "response.create", event_id="mine")
    talk.error(1620, "conversation_already_has_active_response", "mine").audio(1700, 4000).done(5000)
    assert talk.append(8000, b"\0\0").findings("AGT211") == []
