"""The agent's voice: slots, silence between replies, and who speaks when."""

import base64
from itertools import pairwise

import numpy as np
import pytest

from simrt.audio import AudioFormat
from tests.replay.live_hand import (
    AUDIO,
    DELEGATED,
    SAID,
    STATUS,
    Delegate,
    LiveCall,
    answering,
    clip_ms,
    parcel,
    says,
    script,
    turn,
)

LAG = 800


def audio_of(call: LiveCall) -> np.ndarray:
    """All that was sent, in order."""
    return np.frombuffer(b"".join(base64.b64decode(got.event["delta"]) for got in call.of(AUDIO)), np.int16)


def test_the_greeting_begins_with_the_first_audio() -> None:
    call = LiveCall(parcel()).stream(1000, 4000).run()
    first = call.speech()[0]
    assert first.ms == 1020 + LAG
    assert call.said() == "Parcel service, how can I help?"


@pytest.mark.parametrize(("profile", "slot"), [("openai", 100), ("kugel", 20)])
def test_one_delta_a_slot_from_the_first_audio_on(profile: str, slot: int) -> None:
    call = LiveCall(parcel(profile)).stream(1000, 4000).run()
    times = [got.ms for got in call.of(AUDIO)]
    assert len(times) == 3000 // slot + 1  # position 0 is one too
    steps = {round(after - before) for before, after in pairwise(times[1:])}
    assert steps == {slot}
    assert {len(base64.b64decode(got.event["delta"])) for got in call.of(AUDIO)} == {slot * 48}


def test_between_replies_there_is_silence() -> None:
    call = LiveCall(parcel()).stream(0, 6000).run()
    quiet = [got for got in call.of(AUDIO) if got.send.reply is None]
    assert quiet
    assert all(set(base64.b64decode(got.event["delta"])) == {0} for got in quiet)
    assert len({got.send.payload for got in quiet}) == 1


def test_no_audio_no_track() -> None:
    call = LiveCall(parcel()).run(30_000)
    assert not call.of(AUDIO)
    assert not call.of(SAID)


def test_the_track_stops_with_the_callers_audio() -> None:
    call = LiveCall(parcel()).stream(1000, 2000).run(60_000)
    assert call.of(AUDIO)[-1].ms <= 2000 + LAG
    assert len(call.of(AUDIO)) == 11
    call.stream(60_000, 61_000).run(70_000)
    assert len(call.of(AUDIO)) == 21
    assert call.said() == "Parcel service, how can I help?"


def test_after_a_burst_the_track_is_no_faster_than_real_time() -> None:
    call = LiveCall(parcel()).stream(1000, 6000, burst=True).run()
    times = [got.ms for got in call.of(AUDIO)]
    assert min(after - before for before, after in pairwise(times)) >= 79
    assert times[-1] >= 1000 + 5000 - 120


def test_a_mute_does_not_stop_it() -> None:
    call = LiveCall(parcel()).send(900, {"type": "session.input_audio.mute", "event_id": "m1"})
    call.stream(1000, 8000, (3500, "parcel-where")).run()
    assert call.one("session.input_audio.muted").event["client_event_id"] == "m1"
    assert len(call.of(AUDIO)) == 71
    assert call.heard() == ""
    call.send(8100, {"type": "session.input_audio.unmute"}).stream(8200, 16_000, (8500, "parcel-where")).run()
    assert call.heard() == "Hi, where is my order? It's four seven double one."


def test_a_reply_is_whole_and_padded_to_its_slots() -> None:
    call = LiveCall(parcel()).stream(0, 8000).run()
    chunks = call.speech()
    assert len(chunks) == -(-round(clip_ms("parcel-greeting")) // 100)
    assert call.ear.ended == [(0, chunks[-1].ms, False)]
    assert sum(length for _, _, length in call.ear.audio) == len(chunks) * 100


def test_words_stand_where_they_are_said() -> None:
    call = LiveCall(parcel()).stream(0, 8000).run()
    spans = [(got.event["start_ms"], got.event["end_ms"]) for got in call.of(SAID)]
    assert spans == sorted(spans)
    assert all(start % 200 == 0 and end - start == 200 for start, end in spans)


def test_replies_wait_for_each_other() -> None:
    """The holding line is still being spoken when the result is there."""
    score = script(turn("parcel-where"), Delegate(), says("let-me-check"), says("status-4711", "commentary"))
    call = LiveCall(score, react=answering(after_ms=0)).stream(0, 14_000, (500, "parcel-where")).run()
    keys = [reply for reply, _, _ in call.ear.audio]
    assert keys == sorted(keys, key=lambda key: int(key))
    last_of_first = max(ms for reply, ms, _ in call.ear.audio if reply == 0)
    assert min(ms for reply, ms, _ in call.ear.audio if reply == 1) - last_of_first == 700


def test_a_reply_breaks_off_when_the_caller_talks() -> None:
    call = LiveCall(parcel(), react=answering()).stream(0, 9000, (600, "parcel-where")).run()
    sent_ms = sum(length for reply, _, length in call.ear.audio if reply == 0)
    assert 600 < sent_ms < 1200 < clip_ms("parcel-greeting")
    assert call.ear.ended[0][0] == 0
    assert call.ear.ended[0][2]
    words = [got for got in call.of(SAID) if got.send.reply == 0]
    assert max(got.event["start_ms"] for got in words) < sent_ms
    assert len(call.of(AUDIO)) == 91, "the track goes on"


def test_what_was_cut_off_is_not_missed() -> None:
    call = LiveCall(parcel(), react=answering()).stream(0, 9000, (600, "parcel-where")).run()
    unplayed = call.session.final_verdict().unplayed
    assert not any("commentary" in kind for kind in unplayed)
    greeting = [f for f in call.session.score.frames if f.reply == 0]
    assert all(f.index in call.session.sent or f.index in call.session.cut for f in greeting)


def test_a_result_that_comes_while_the_caller_talks_is_said_after_the_turn() -> None:
    score = script(turn("parcel-where"), Delegate(), says("status-4711", "commentary"), turn("booking"))
    end = 500 + clip_ms("parcel-where")
    call = LiveCall(score, react=answering(after_ms=200))
    call.stream(0, 20_000, (500, "parcel-where"), (end + 900, "booking")).run()
    place = call.one("session.commentary.appended").event["start_ms"]
    talks_until = end + 900 + clip_ms("booking")
    assert end + 900 < place < talks_until
    assert call.speech()[0].ms > talks_until + LAG
    assert call.said() == STATUS


def test_delegated_work_goes_on_when_the_caller_interrupts() -> None:
    """The caller talks into the holding line; the result is said all the same."""
    score = script(
        turn("parcel-where-slow"),
        Delegate(),
        says("let-me-check"),
        turn("still-there"),
        says("status-4712", "commentary"),
    )
    facts = "Order 4712 is in the sorting centre and arrives on Monday."
    call = LiveCall(score, react=answering(facts, after_ms=4000))
    start = 500 + clip_ms("parcel-where-slow") + 1500
    call.stream(0, 25_000, (500, "parcel-where-slow"), (start, "still-there")).run()
    assert call.of(DELEGATED)
    assert call.live.appends.all[0].outcome == "placed"
    assert call.live.appends.all[0].reply is not None
    assert call.ear.ended[0][2]


FORMATS = [
    ({"type": "audio/pcm", "rate": 16000}, AudioFormat("pcm16", 16000)),
    ({"type": "audio/pcmu", "rate": 8000}, AudioFormat("ulaw", 8000)),
    ({"type": "audio/pcma", "rate": 8000}, AudioFormat("alaw", 8000)),
]


@pytest.mark.parametrize(("asked", "fmt"), FORMATS, ids=["16k", "pcmu", "pcma"])
def test_both_ways_in_the_format_of_the_session(asked: dict[str, object], fmt: AudioFormat) -> None:
    call = LiveCall(parcel(), react=answering(), audio={"format": asked})
    call.stream(500, 14_000, (3500, "parcel-where"), fmt=fmt).run()
    assert call.heard() == "Hi, where is my order? It's four seven double one."
    sizes = {len(base64.b64decode(got.event["delta"])) for got in call.of(AUDIO)}
    assert sizes == {fmt.size_of(100)}
    loud = fmt.decode(base64.b64decode(call.speech()[8].event["delta"])).astype(int)
    assert np.abs(loud).max() > 1000


def test_the_stalled_source_keeps_the_order() -> None:
    call = LiveCall(parcel(), ["stall:reply=0,at=500ms,for=700ms"]).stream(0, 8000).run()
    assert audio_of(call)[: 24 * 100].tobytes() == parcel().frames[1].audio
    chunks = [got for got in call.of(AUDIO) if got.send.reply == 0]
    places = [got.send.frame.audio_start_us for got in chunks if got.send.frame is not None]
    assert places == sorted(places)
    assert max(b.ms - a.ms for a, b in pairwise(chunks)) == 800
    assert len(call.of(AUDIO)) == 81
