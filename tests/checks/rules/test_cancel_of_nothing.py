from tests.checks.talk import Talk

from .calling import findings
from .small import Small


def reply() -> Talk:
    return Talk().ready().turn(200, 800).created(1000).audio(1100, 3000).done(1200)


def test_a_cancel_after_the_end() -> None:
    (found,) = reply().client(2000, "response.cancel").findings("PRO303")
    assert "resp_1, was over 800 ms ago" in found.message


def test_a_cancel_of_what_is_active_and_one_that_crosses_its_end() -> None:
    active = Talk().ready().turn(200, 800).created(1000).audio(1100, 3000).client(1150, "response.cancel")
    assert active.done(1200, status="cancelled").findings("PRO303") == []
    assert reply().client(1240, "response.cancel").findings("PRO303") == []


def test_a_cancel_of_what_was_asked_for_and_has_not_begun() -> None:
    talk = reply().client(2000, "response.create").client(2020, "response.cancel")
    assert talk.created(2100, "resp_2").done(2120, "resp_2", "cancelled").findings("PRO303") == []


def test_a_cancel_where_there_has_been_nothing() -> None:
    (found,) = Talk().ready().client(500, "response.cancel").findings("PRO303")
    assert "there has been none" in found.message


def test_a_cancel_that_names_an_old_response() -> None:
    talk = reply().created(2000, "resp_2").client(2500, "response.cancel", response_id="resp_1").done(4000, "resp_2")
    assert len(talk.findings("PRO303")) == 1


class Cancels(Small):
    """Cancels whenever the caller speaks."""

    async def barge_in(self) -> None:
        await super().barge_in()
        await self.send("response.cancel")


class CancelsWhatIsActive(Small):
    async def barge_in(self) -> None:
        await super().barge_in()
        if self.active is not None:
            await self.send("response.cancel")


def test_a_client_that_cancels_a_reply_that_was_sent_long_ago() -> None:
    plan = ("burst:reply=0", "barge-in:reply=0,at=4000ms,answer=breakfast")
    assert findings("PRO303", Cancels, "front-desk", *plan)
    assert findings("PRO303", CancelsWhatIsActive, "front-desk", *plan) == []
