"""Who ends the caller's turn, and who asks for the reply: server VAD, the client, or PolyAI's holding."""

from typing import Any

import pytest

from tests.replay.hand import Call, one_reply, reply, samples_of, small, turn, update

SPEECH = ("input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped")
TRANSCRIBED = "conversation.item.input_audio_transcription.completed"


def stated(detection: Any, profile: str = "openai") -> Call:
    """A call whose client states `turn_detection`, and whose caller says its line from 300 ms on."""
    call = Call(one_reply(profile))
    session = {"type": "realtime", "audio": {"input": {"turn_detection": detection}}}
    call.send(65, {"type": "session.update", "session": session})
    return call


def test_server_vad_takes_the_turn_and_replies() -> None:
    call = stated({"type": "server_vad"})
    call.say(300, samples_of("booking"))
    call.run()
    assert [len(call.of(kind)) for kind in (*SPEECH, TRANSCRIBED, "response.created")] == [1, 1, 1, 1]


def test_without_create_response_the_turn_is_taken_and_the_reply_waits_to_be_asked_for() -> None:
    call = stated({"type": "server_vad", "create_response": False})
    end = call.say(300, samples_of("booking"))
    call.run(end + 5000)
    assert [len(call.of(kind)) for kind in (*SPEECH, TRANSCRIBED, "response.created")] == [1, 1, 1, 0]
    asked = end + 6000
    call.send(asked, {"type": "response.create"}).run()
    assert call.one("response.created").ms == pytest.approx(asked + 93)
    assert call.one("response.done").event["response"]["status"] == "completed"
    assert call.session.final_verdict().synthetic == []


def test_without_turn_detection_nothing_happens_until_the_client_commits() -> None:
    call = stated(None)
    end = call.say(300, samples_of("booking"))
    call.run(end + 5000)
    assert call.kinds() == ["session.created", "session.updated"]
    call.send(end + 5100, {"type": "input_audio_buffer.commit"}).send(end + 5200, {"type": "response.create"}).run()
    assert [len(call.of(kind)) for kind in (*SPEECH, "input_audio_buffer.committed")] == [0, 0, 1]
    assert call.one(TRANSCRIBED).event["transcript"].startswith("Hi, yes,")
    assert len(call.of("response.done")) == 1
    assert call.ear.turns == [(0, call.one(TRANSCRIBED).event["transcript"], 0)]


def test_a_commit_knows_which_words_arrived() -> None:
    call = stated(None)
    end = call.say(300, samples_of("booking")[600 * 24 :])
    call.send(end, {"type": "input_audio_buffer.commit"}).run()
    assert call.one(TRANSCRIBED).event["transcript"].startswith("I'm calling")


def test_a_commit_of_what_is_no_turn_is_acked_and_marked() -> None:
    call = stated(None)
    end = call.say(300, samples_of("breakfast"))
    call.send(end, {"type": "input_audio_buffer.commit"}).run()
    assert call.one("input_audio_buffer.committed").send.synthetic
    assert call.of(TRANSCRIBED) == []


@pytest.mark.parametrize("profile", ["polyai", "openai"])
def test_a_response_asked_for_while_the_caller_talks(profile: str) -> None:
    call = stated({"type": "server_vad"}, profile)
    call.say(300, samples_of("booking"))
    call.send(2000, {"type": "response.create", "event_id": "mine"}).run()
    created = call.of("response.created")
    if profile == "polyai":  # held, and answered with one reply after the turn
        assert len(created) == 1
        assert created[0].ms > call.one("input_audio_buffer.speech_stopped").ms
        assert not created[0].send.synthetic
    else:  # started at once: the cassette has no answer, so one is made up
        assert created[0].ms == pytest.approx(2093)
        assert created[0].send.synthetic
    assert call.errors() == []


def active_at_once(call: Call) -> int:
    """The most responses that were under way at one time."""
    now = most = 0
    for got in call.got:
        now += (got.kind == "response.created") - (got.kind == "response.done")
        most = max(most, now)
    return most


def statuses(call: Call) -> list[str]:
    return [got.event["response"]["status"] for got in call.of("response.done")]


def two_turns() -> Call:
    steps = [turn("booking"), reply("goodbye-short"), turn("thats-all"), reply("goodbye")]
    return update(Call(small(steps)))


def test_a_caller_who_speaks_on_cuts_the_response_that_was_about_to_begin() -> None:
    call = two_turns()
    call.say(300, samples_of("booking"), burst=True, tail_ms=520)
    call.say(310, samples_of("thats-all"), burst=True)
    call.run()
    assert active_at_once(call) == 1
    assert statuses(call) == ["cancelled", "completed"]
    first, second = call.of("response.created")
    assert first.event["response"]["id"] == call.of("response.done")[0].event["response"]["id"]
    assert second.ms > call.of("input_audio_buffer.speech_stopped")[1].ms


@pytest.mark.parametrize("asked_before_ms", [1000, 110])
def test_a_response_asked_for_while_the_caller_talks_ends_before_the_turns_own(asked_before_ms: float) -> None:
    steps = [turn("booking"), reply("goodbye-short"), reply("breakfast", on="create")]
    stop = update(Call(small(steps)))
    stop.say(300, samples_of("booking"))
    stop.run()
    stopped = stop.one("input_audio_buffer.speech_stopped").ms

    call = update(Call(small(steps)))
    call.say(300, samples_of("booking"))
    call.send(stopped - asked_before_ms, {"type": "response.create"}).run()
    assert active_at_once(call) == 1
    assert statuses(call) == ["cancelled", "completed"]
    assert call.errors() == []


def test_a_made_up_response_ends_before_the_turns_own() -> None:
    call = update(Call(one_reply()))
    call.say(300, samples_of("booking"))
    call.run()
    stopped = call.one("input_audio_buffer.speech_stopped").ms
    for before_ms in (300, 110):
        call = update(Call(one_reply()))
        call.say(300, samples_of("booking"))
        call.send(stopped - before_ms, {"type": "response.create"}).run()
        assert active_at_once(call) == 1
        assert statuses(call) == ["cancelled", "completed"]
