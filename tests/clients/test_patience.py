"""What a desk does when nothing comes."""

import asyncio

import pytest

from clients.call import Call
from clients.desk.patience import ANSWER_S, QUIET_S, RETRY_S, STUCK_S
from clients.desk.turns import ALREADY_ACTIVE, TRIES, Turns
from simrt import run_call
from tests.clients.scripted import Outcome, Server, play

LOOKUP = '{"surname": "Okafor", "day": "Friday"}'


def created(outcome: Outcome) -> list[float]:
    """When the desk asked for a response, in s."""
    return created_by(outcome.server)


def created_by(server: Server) -> list[float]:
    """The same, up to now."""
    return [t_us / 1e6 for t_us in server.when("response.create")]


async def spoken(server: Server) -> None:
    await server.send("input_audio_buffer.speech_started", audio_start_ms=0, item_id="u")
    await server.send("input_audio_buffer.speech_stopped", audio_end_ms=0, item_id="u")


async def looked_up(server: Server) -> None:
    """The session is ready, and a look-up has been answered."""
    await server.greet()
    await server.begin()
    await server.call("lookup_booking", LOOKUP)
    await server.done()
    await server.until("response.create")


def test_a_turn_that_nobody_answers_is_asked_about() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await spoken(server)

    (asked,) = created(play(Call, script, caller_hangs_up_s=ANSWER_S + 2))
    assert asked == pytest.approx(ANSWER_S, abs=0.01)


def test_one_that_is_answered_is_not() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await spoken(server)
        await asyncio.sleep(1)
        await server.begin()
        await server.audio(500)
        await server.done()

    assert created(play(Call, script, caller_hangs_up_s=8)) == []


def test_nor_one_on_which_the_caller_has_gone_on_speaking() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await spoken(server)
        await asyncio.sleep(1)
        await server.send("input_audio_buffer.speech_started", audio_start_ms=0, item_id="v")

    assert created(play(Call, script, caller_hangs_up_s=8)) == []


@pytest.mark.parametrize("end", ["input_audio_buffer.speech_stopped", "response.created"])
def test_nothing_is_asked_into_the_words_of_the_caller(end: str) -> None:
    """They go on while a look-up is answered; the end of their turn brings a reply, or it is asked for."""

    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.call("lookup_booking", LOOKUP)
        await server.send("input_audio_buffer.speech_started", audio_start_ms=0, item_id="u")
        await server.done(status="cancelled")
        output = await server.until("conversation.item.create")
        await server.send("conversation.item.added", item=output["item"])
        await asyncio.sleep(5)
        assert created_by(server) == []
        if end == "response.created":
            await server.begin("r2")
            await server.done("r2")
        else:
            await server.send("input_audio_buffer.speech_stopped", audio_end_ms=0, item_id="u")
            await server.until("response.create")

    asked = created(play(Call, script, caller_hangs_up_s=12))
    assert len(asked) == (end != "response.created")


def test_a_request_of_which_nothing_comes_is_made_again_but_not_for_ever() -> None:
    asked = created(play(Call, looked_up, caller_hangs_up_s=50))
    assert len(asked) == TRIES
    assert asked[1] - asked[0] == pytest.approx(STUCK_S, abs=0.01)


def test_a_request_that_is_refused_is_made_again_soon() -> None:
    async def script(server: Server) -> None:
        await looked_up(server)
        asked = server.of("response.create")[0]
        await server.send("error", error={"code": "server_error", "message": "no", "event_id": asked["event_id"]})
        await server.until("response.create", 2)
        await server.begin("r2")
        await server.done("r2")

    asked = created(play(Call, script, caller_hangs_up_s=12))
    assert len(asked) == 2
    assert asked[1] - asked[0] == pytest.approx(RETRY_S, abs=0.01)


def test_one_that_met_another_response_waits_for_its_end() -> None:
    async def script(server: Server) -> None:
        await looked_up(server)
        await server.begin("r2")
        asked = server.of("response.create")[0]
        await server.send("error", error={"code": ALREADY_ACTIVE, "message": "no", "event_id": asked["event_id"]})
        await asyncio.sleep(2)
        await server.done("r2")
        await server.until("response.create", 2)
        await server.begin("r3")
        await server.done("r3")

    asked = created(play(Call, script, caller_hangs_up_s=12))
    assert asked[1] - asked[0] == pytest.approx(2, abs=0.01)


def test_a_response_that_stops_is_cancelled_and_asked_for_again() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(500)
        await server.until("response.cancel")
        await server.done(status="cancelled")
        await server.until("response.create")
        await server.begin("r2")
        await server.done("r2")

    outcome = play(Call, script, caller_hangs_up_s=STUCK_S + 5)
    assert outcome.server.of("response.cancel")[0]["response_id"] == "r1"
    assert len(created(outcome)) == 1


def test_one_that_only_lacks_its_end_is_not_asked_for_again() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(500)
        await server.send("response.output_audio.done", response_id="r1", item_id="i1")

    outcome = play(Call, script, caller_hangs_up_s=STUCK_S + 5)
    assert len(outcome.server.of("response.cancel")) == 1
    assert created(outcome) == []


def test_one_that_stops_is_cancelled_however_its_audio_came() -> None:
    found = run_call(Call, "front-desk", ["rechunk:reply=-2", "hang:response=-2,at=1s"])
    assert any("nothing more of response" in line for line in found.log)


def test_what_is_still_being_heard_has_not_stopped() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(int(STUCK_S * 1000) + 4000)

    outcome = play(Call, script, caller_hangs_up_s=STUCK_S + 3.5)
    assert outcome.server.of("response.cancel") == []


def test_a_call_in_which_nobody_says_anything_ends() -> None:
    async def script(server: Server) -> None:
        await server.greet()
        await server.begin()
        await server.audio(500)
        await server.done()

    outcome = play(Call, script, caller_hangs_up_s=QUIET_S * 2)
    assert outcome.hung_up_us / 1e6 == pytest.approx(QUIET_S, abs=2)
    assert "nobody has said anything" in outcome.notes


def test_the_refusals_are_counted_until_a_response_begins() -> None:
    turns = Turns()
    turns.owe("a turn")
    for _ in range(TRIES):
        event_id = turns.ask()
        assert event_id is not None
        assert turns.refused(event_id, "server_error")
    assert turns.ask() is None
    turns.owe("another")
    assert turns.ask() is not None
    turns.started("r1")
    assert not turns.refused("somebody else's", "server_error")
