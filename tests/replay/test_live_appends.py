"""What the client appends: when it is placed, what is said of it, what is dropped."""

import pytest

from tests.replay.live_hand import (
    AUDIO,
    DELEGATED,
    HEARD,
    SAID,
    STATUS,
    Delegate,
    LiveCall,
    answering,
    asked_back,
    clip_ms,
    parcel,
    says,
    script,
    turn,
)

ACK = "session.commentary.appended"
QUESTION = "Shall I cancel order 4711?"


def test_an_append_is_acknowledged_while_the_timeline_moves() -> None:
    call = LiveCall(parcel()).stream(500, 6000)
    for ms in range(1000, 3000, 170):
        call.append(ms, f"Note {ms}.", "thinking")
    call.run()
    lags = [got.ms - ms for got, ms in zip(call.of("session.thinking.appended"), range(1000, 3000, 170), strict=True)]
    assert min(lags) >= 600
    assert max(lags) <= 960


def test_its_window_is_where_the_timeline_stood() -> None:
    call = LiveCall(parcel()).stream(500, 6000).append(2030, "Note.", "thinking").run()
    event = call.one("session.thinking.appended").event
    assert (event["start_ms"], event["end_ms"]) == (1400, 1600)
    assert "content" not in event


def test_acknowledgements_keep_the_order_of_sending() -> None:
    call = LiveCall(parcel()).stream(500, 6000)
    for k, kind in enumerate(("thinking", "instructions", "commentary", "thinking")):
        call.append(2000, f"Note {k}", kind, event_id=f"e{k}")
    call.run()
    acks = [got for got in call.got if got.kind.endswith(".appended")]
    assert [got.event["client_event_id"] for got in acks] == ["e0", "e1", "e2", "e3"]


def test_without_audio_nothing_is_placed() -> None:
    call = LiveCall(parcel()).stream(500, 2000).append(2100, "Note.", "thinking", event_id="n1").run(60_000)
    assert not call.of("session.thinking.appended")
    call.send(60_000, {"type": "session.close", "event_id": "bye"}).run(70_000)
    assert [got.kind for got in call.got[-2:]] == ["error", "session.closed"]
    error = call.one("error").event
    assert (error["error"]["code"], error["client_event_id"]) == ("context_injection_incomplete", "n1")
    assert call.live.appends.all[0].outcome == "incomplete"


def test_one_error_for_each_that_was_not_placed() -> None:
    call = LiveCall(parcel()).stream(500, 2000)
    for kind in ("commentary", "thinking", "instructions"):
        call.append(2100, "Note.", kind)
    call.send(3000, {"type": "session.close"}).run()
    assert call.codes() == ["context_injection_incomplete"] * 3


def test_it_is_placed_when_the_audio_goes_on() -> None:
    call = LiveCall(parcel()).stream(500, 2000).append(2100, "Note.", "thinking").stream(30_000, 32_000).run()
    got = call.one("session.thinking.appended")
    assert 30_600 <= got.ms <= 30_960
    assert got.event["start_ms"] == 1400


def test_the_result_is_said_in_the_agents_words() -> None:
    call = LiveCall(parcel(), react=answering()).stream(500, 16_000, (3500, "parcel-where")).run()
    delegated, ack = call.one(DELEGATED), call.one(ACK)
    status = [got for got in call.of(AUDIO) if got.send.reply == 1]
    assert delegated.ms < ack.ms < status[0].ms
    assert STATUS in call.said()
    assert call.live.appends.all[0].reply == 1
    assert not call.session.final_verdict().synthetic


def test_what_no_answer_fits_is_said_all_the_same() -> None:
    words = "The depot in Leeds has lost the parcel."
    call = LiveCall(parcel(), react=answering(words)).stream(500, 20_000, (3500, "parcel-where")).run()
    assert call.said().endswith(words)
    key = call.live.appends.all[0].reply
    assert str(key).startswith("made-up")
    reply = call.session.reply_of(key or 0)
    assert reply is not None
    assert reply.text == words
    assert call.session.final_verdict().synthetic == [f"speech ({words})"]
    assert {got.send.synthetic for got in call.speech() if got.send.reply == key} == {True}
    assert call.ear.ended[-1][0] == key


def test_a_second_result_is_said_too() -> None:
    call = LiveCall(parcel(), react=answering()).stream(500, 25_000, (3500, "parcel-where"))
    call.append(16_000, STATUS).run()
    assert call.said().count("arrives tomorrow.") == 2
    assert [made.reply for made in call.live.appends.all] == [1, "made-up-0"]


@pytest.mark.parametrize("kind", ["thinking", "instructions"])
def test_only_commentary_is_said(kind: str) -> None:
    call = LiveCall(parcel()).stream(500, 9000).append(4000, STATUS, kind).run()
    assert call.said() == "Parcel service, how can I help?"
    assert call.one(f"session.{kind}.appended")


def test_a_refused_append_is_not_said() -> None:
    call = LiveCall(parcel()).stream(500, 9000).append(4000, "word " * 600, event_id="long").run()
    error = call.one("error").event["error"]
    assert (error["code"], error["param"], error["client_event_id"]) == ("invalid_value", "content", "long")
    assert not call.of(ACK)
    assert call.live.appends.all[0].outcome == "refused"


def test_an_append_to_no_delegation_is_refused() -> None:
    call = LiveCall(parcel()).stream(500, 9000).append(4000, "Note.", delegation_id="item_nowhere").run()
    assert call.codes() == ["invalid_value"]


# --- as KugelAudio has it


def test_a_question_is_said_word_for_word_and_its_answer_delegated() -> None:
    call = LiveCall(asked_back(), react=answering(QUESTION, expects_reply=True), kugel={})
    asked_at = 500 + clip_ms("parcel-cancel") + 1500
    call.stream(0, 25_000, (500, "parcel-cancel"), (asked_at + 6000, "yes-please")).run()
    first, second = call.of(DELEGATED)
    assert call.said().startswith(QUESTION)
    assert second.event["delegation"]["id"] != first.event["delegation"]["id"]
    assert second.ms > asked_at + 6000
    committed = [got for got in call.of("kugel.input_transcript.committed") if got.ms < second.ms]
    assert committed[-1].event["text"].startswith("Yes")


def test_without_a_question_the_next_turn_is_not_delegated() -> None:
    call = LiveCall(asked_back(), react=answering(QUESTION), kugel={})
    call.stream(0, 25_000, (500, "parcel-cancel"), (12_000, "yes-please")).run()
    assert len(call.of(DELEGATED)) == 1


def test_a_question_that_is_nearly_an_answer_of_the_script_is_made_up() -> None:
    """Word for word: no recorded answer with other words will do."""
    score = script(turn("parcel-cancel"), Delegate(), says("shall-i-cancel", "commentary"), profile="kugel")
    said = score.replies[0].text
    call = LiveCall(score, react=answering(said + " Really?", expects_reply=True))
    call.stream(0, 15_000, (500, "parcel-cancel")).run()
    assert call.live.appends.all[0].reply == "made-up-0"
    again = LiveCall(score, react=answering(said.upper(), expects_reply=True))
    again.stream(0, 15_000, (500, "parcel-cancel")).run()
    assert again.live.appends.all[0].reply == 0


def test_an_unattached_commentary_is_said_word_for_word() -> None:
    call = LiveCall(parcel("kugel")).stream(0, 14_000).append(4000, "We close in five minutes.").run()
    assert call.said().endswith("We close in five minutes.")


def test_it_is_dropped_when_the_caller_finishes_a_turn_first() -> None:
    """It comes while the caller talks."""
    call = LiveCall(parcel("kugel")).stream(0, 14_000, (4000, "parcel-where"))
    call.append(4500, "We close in five minutes.").run()
    assert "close" not in call.said()
    assert call.one(ACK)
    assert call.live.appends.all[0].outcome == "dropped"
    assert call.live.appends.all[0].reply is None


def test_one_that_is_being_said_is_not_dropped_but_cut() -> None:
    call = LiveCall(parcel("kugel")).stream(0, 16_000, (6000, "parcel-where"))
    call.append(4000, "We close in five minutes, and open again at seven tomorrow morning.").run()
    assert call.live.appends.all[0].outcome == "placed"
    assert (call.live.appends.all[0].reply, True) in [(reply, cut) for reply, _, cut in call.ear.ended]


def test_openai_says_it_after_the_turn() -> None:
    call = LiveCall(parcel()).stream(0, 20_000, (4000, "parcel-where")).append(4500, "We close in five minutes.").run()
    assert call.said().endswith("We close in five minutes.")
    spoken = [got for got in call.speech() if str(got.send.reply).startswith("made-up")]
    assert spoken[0].ms > call.of(HEARD)[-1].ms
    assert call.of(SAID)
