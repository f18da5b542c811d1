"""The caller's turns on a Live session: transcripts, delegation, words that were lost."""

import pytest

from simrt.caller.clip import fixture_clip
from tests.replay.live_hand import DELEGATED, HEARD, Delegate, LiveCall, answering, clip_ms, parcel, says, script, turn

WHERE = "Hi, where is my order? It's four seven double one."
COMMITTED = "kugel.input_transcript.committed"


def asked(profile: str = "openai", **session: object) -> LiveCall:
    return LiveCall(parcel(profile), react=answering(), **session).stream(500, 14_000, (3500, "parcel-where"))


def test_words_stream_as_they_are_said() -> None:
    call = asked().run()
    assert call.heard() == WHERE
    times = [got.ms for got in call.of(HEARD)]
    assert times == sorted(times)
    assert times[0] < 3500 + clip_ms("parcel-where") < times[-1]
    assert call.ear.turns == [(0, WHERE, 0)]


def test_their_places_are_those_of_the_callers_audio() -> None:
    call = asked().run()
    words = fixture_clip("parcel-where").words
    first, last = call.of(HEARD)[0].event, call.of(HEARD)[-1].event
    assert first["start_ms"] <= 3000 + words[0].end_ms <= first["end_ms"] + 200
    assert last["start_ms"] <= 3000 + words[-1].end_ms <= last["end_ms"] + 200


def test_the_delegation_comes_after_the_last_words() -> None:
    call = asked().run()
    delegated = call.one(DELEGATED)
    assert delegated.ms > call.of(HEARD)[-1].ms
    assert delegated.event["delegation"] == {"id": "item_0001", "type": "delegation", "target": "client"}
    assert delegated.event["offset_ms"] >= call.of(HEARD)[-1].event["start_ms"]
    assert "content" not in delegated.event


@pytest.mark.parametrize("late_ms", [20, 500, 5000])
def test_all_of_it_moves_with_the_audio(late_ms: int) -> None:
    plain = asked().run()
    late = LiveCall(parcel()).stream(500 + late_ms, 14_000 + late_ms, (3500 + late_ms, "parcel-where")).run()
    for kind in (HEARD, DELEGATED):
        assert [got.ms - late_ms for got in late.of(kind)] == [got.ms for got in plain.of(kind)]
        for one, other in zip(late.of(kind), plain.of(kind), strict=True):
            assert one.event == other.event, "the timeline is the same"


def test_a_silence_in_the_sending_stops_a_turn_in_its_middle() -> None:
    whole = asked().run()
    call = LiveCall(parcel())
    clip = (3500, "parcel-where")
    call.stream(500, 5000, clip)
    track = LiveCall(parcel()).stream(500, 14_000, clip)
    rest = [payload for at, _, payload in sorted(track._mine) if at > 5_000_000]
    for k, payload in enumerate(rest):
        call.send(25_000 + k * 20, payload)
    call.run(60_000)
    assert call.heard() == WHERE
    assert call.one(DELEGATED).ms - whole.one(DELEGATED).ms == pytest.approx(20_000, abs=40)
    assert call.one(DELEGATED).event["offset_ms"] == whole.one(DELEGATED).event["offset_ms"]


def test_words_that_did_not_arrive_are_in_no_transcript() -> None:
    clip = fixture_clip("parcel-where")
    lost = [word for word in clip.words if 900 < word.start_ms < 1600]
    call = LiveCall(parcel())
    track = LiveCall(parcel()).stream(500, 14_000, (3500, "parcel-where"))
    first, last = lost[0].start_ms - 30, lost[-1].end_ms + 30
    for at, _, payload in sorted(track._mine):
        silent = 3500 + first <= at / 1000 <= 3500 + last
        call.send(at / 1000, track._mine[1][2] if silent else payload)
    call.run()
    assert call.ear.turns[0][2] >= len(lost) > 0
    for word in lost:
        assert word.text not in call.heard().split()
    assert call.heard().split() == [w.text for w in clip.words if w.text in call.heard().split()]


def test_audio_that_is_nobodys_is_no_turn() -> None:
    call = LiveCall(parcel()).stream(500, 14_000, (3500, "booking")).run()
    assert not call.of(HEARD)
    assert not call.of(DELEGATED)


def test_audio_in_another_format_than_agreed_is_not_understood() -> None:
    call = LiveCall(parcel(), audio={"format": {"type": "audio/pcm", "rate": 16000}})
    call.stream(500, 14_000, (3500, "parcel-where")).run()
    assert not call.of(HEARD)


def test_background_talk_is_heard_and_interrupts_nobody() -> None:
    news = turn("news")
    news.hearing = "background"
    score = script(says("parcel-greeting", "start"), news)
    call = LiveCall(score).stream(0, 10_000, (500, "news")).run()
    assert call.heard()
    assert call.ear.ended == [(0, call.ear.ended[0][1], False)]


# --- KugelAudio


def test_with_kugel_the_whole_text_comes_before_the_delegation() -> None:
    call = asked("kugel", kugel={}).run()
    committed, delegated = call.of(COMMITTED)[0], call.one(DELEGATED)
    assert call.of(HEARD)[-1].ms < committed.ms < delegated.ms
    assert committed.event["text"] == WHERE


def test_without_it_there_is_none() -> None:
    assert not asked("kugel").run().of(COMMITTED)


def test_no_tools_no_delegation() -> None:
    call = asked("kugel", kugel={"tools": []}).run()
    assert call.heard() == WHERE
    assert call.of(COMMITTED)
    assert not call.of(DELEGATED)


def test_tools_are_delegated() -> None:
    call = asked("kugel", kugel={"tools": ["look up an order"]}).run()
    assert call.one(DELEGATED)


def test_a_reply_comes_faster_than_it_is_said() -> None:
    call = LiveCall(parcel("kugel"), kugel={}).stream(0, 6000).run()
    chunks = call.speech()
    assert chunks[-1].ms - chunks[0].ms < 20 * len(chunks) / 3
    assert not [got for got in call.got if got.kind.endswith("audio.delta") and got.send.reply is None]


def test_what_is_cut_off_is_to_be_dropped_by_the_client() -> None:
    call = LiveCall(parcel("kugel"), kugel={}).stream(0, 9000, (700, "parcel-where")).run()
    cancelled = call.one("kugel.response.cancelled")
    assert cancelled.ms > call.speech()[-1].ms
    assert call.ear.ended[-1][2]


def test_nothing_is_cancelled_between_replies() -> None:
    call = LiveCall(parcel("kugel"), kugel={}).stream(0, 9000, (4000, "parcel-where")).run()
    assert not call.of("kugel.response.cancelled")


def test_a_turn_with_a_delegation_and_words_before_it() -> None:
    score = script(turn("parcel-where-slow"), Delegate(), says("let-me-check"))
    call = LiveCall(score).stream(0, 9000, (500, "parcel-where-slow")).run()
    assert call.one(DELEGATED).ms < call.speech()[0].ms
