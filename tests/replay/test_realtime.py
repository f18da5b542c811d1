"""Realtime sessions over recorded cassettes, driven by hand: what moves, what is lost, and what the verdict says."""

from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from simrt import shipped
from simrt.audio import PCM24, ULAW8, AudioFormat
from simrt.cassette.importers import import_file
from simrt.cassette.store import Cassette, load_cached
from simrt.replay.authored import author
from simrt.replay.build import build_score, score_of
from simrt.replay.realtime import convert
from simrt.replay.score import Score
from simrt.scripts import SCRIPTS
from simrt.trace import Frame, Trace

from .hand import Call, answer_tools, append, front_desk, one_reply, samples_of, update, whole_call


def recorded(name: str = "front-desk") -> Score:
    return score_of(shipped.cassette(name))


def resend(score: Score, cassette: Cassette, keep: Any = lambda event: True, faults: Any = ()) -> Call:
    """The recorded client's frames, those that `keep` takes."""
    call = Call(score, faults)
    for frame in cassette.trace.frames:
        if frame.sender == "client" and keep(frame.event() or {}):
            call.send(frame.t_us / 1000, frame.payload)
    return call.run()


def cassette(name: str = "front-desk") -> Cassette:
    return load_cached(shipped.cassette(name))


# --- one engine for both kinds


@pytest.mark.parametrize("score", [front_desk, recorded], ids=["authored", "recorded"])
@pytest.mark.parametrize("fmt", [PCM24, ULAW8], ids=["pcm24", "ulaw8"])
def test_a_client_that_does_what_is_expected_gets_the_whole_call(score: Any, fmt: AudioFormat) -> None:
    call = whole_call(score(), fmt=fmt)
    assert [(turn, lost) for turn, _, lost in call.ear.turns] == [(0, 0), (1, 0)]
    assert [(reply, cut) for reply, _, cut in call.ear.ended] == [(0, False), (1, False)]
    verdict = call.session.final_verdict()
    assert (verdict.unplayed, verdict.unasked, verdict.synthetic, verdict.unscripted) == ([], [], [], [])
    assert call.errors() == []


@pytest.mark.parametrize("score", [front_desk, recorded], ids=["authored", "recorded"])
def test_one_score_serves_many_calls_alike(score: Any) -> None:
    first = whole_call(score(), ["barge-in:answer=breakfast"]).rows()
    assert whole_call(score()).rows() == whole_call(score()).rows()
    assert whole_call(score(), ["barge-in:answer=breakfast"]).rows() == first


def test_the_recorded_ids_are_kept() -> None:
    call = whole_call(recorded())
    recorded_ids = {str((f.event() or {}).get("event_id")) for f in cassette().trace.sent_by("server")}
    assert {got.event["event_id"] for got in call.got} == recorded_ids


# --- what moves with the client


def test_a_slower_tool_moves_the_reply() -> None:
    def slow(call: Call, ms: float, event: dict[str, Any]) -> None:
        answer_tools(call, ms + (4000 if event.get("type") == "response.done" else 0), event)

    call = Call(recorded(), react=slow)
    update(call, 70)
    call.say(300, samples_of("booking"), tail_ms=9000)
    call.run()
    done, created = call.of("response.done")[0], call.of("response.created")[1]
    cause = next(f for f in recorded().frames if f.kind == "response.created" and f.cause[0] == "response.create")
    assert created.ms == pytest.approx(done.ms + 4002 + cause.delay_us / 1000, abs=0.001)


def test_what_is_never_asked_never_comes() -> None:
    call = resend(recorded(), cassette(), lambda event: event["type"] != "response.create")
    assert "response.create" in call.session.final_verdict().unasked
    assert len(call.of("response.created")) == len(resend(recorded(), cassette()).of("response.created")) - 1
    assert any(row.startswith("response.output_audio.delta") for row in call.session.final_verdict().unplayed)


def test_a_client_that_leaves_early_leaves_frames_unplayed() -> None:
    call = Call(recorded())
    for frame in cassette().trace.frames:
        if frame.sender == "client":
            call.send(frame.t_us / 1000, frame.payload)
    call.run(6000)
    call.session.closed(6_000_000)
    verdict = call.session.final_verdict()
    assert verdict.unplayed != []
    assert call.session.next_due() is None
    assert call.run().got[-1].ms <= 6000


def test_turns_hang_on_the_audio_and_not_on_the_clock() -> None:
    late_ms = 1234
    call, moved = Call(recorded()), Call(recorded())
    for frame in cassette().trace.frames:
        if frame.sender == "client":
            call.send(frame.t_us / 1000, frame.payload)
            moved.send(
                frame.t_us / 1000 + late_ms * ('"input_audio_buffer.append"' in str(frame.payload)), frame.payload
            )
    kind = "input_audio_buffer.speech_stopped"
    first, second = call.run().of(kind)[0], moved.run().of(kind)[0]
    assert second.ms == pytest.approx(first.ms + late_ms, abs=0.001)
    assert second.event["audio_end_ms"] == first.event["audio_end_ms"]


# --- what did not arrive


@pytest.mark.parametrize("score", [one_reply, recorded], ids=["authored", "recorded"])
def test_words_that_did_not_arrive_are_not_in_the_transcript(score: Any) -> None:
    call = update(Call(score()), 65)
    clip = samples_of("booking").copy()
    clip[: 24 * 250] = 0
    call.say(300, clip, tail_ms=3000)
    call.run()
    heard = "Yes, I'm calling about my booking for Friday. The surname's Okafor."
    assert call.ear.turns == [(0, heard, 1)]
    kind = "conversation.item.input_audio_transcription.completed"
    assert call.one(kind).event["transcript"] == heard
    assert call.realtime.turns.heard == {0: heard}


def test_no_word_of_a_turn_no_turn() -> None:
    call = update(Call(one_reply()), 65)
    call.say(300, samples_of("found-booking"))
    call.run()
    assert call.kinds() == ["session.created", "session.updated"]


def test_transcript_deltas_are_put_together_when_words_are_lost(recordings: Path) -> None:
    """Hugging Face's server sends deltas of the transcript: one with what was heard takes their place."""
    imported = import_file(recordings / "hf-speech-to-speech" / "session1.jsonl")
    score = build_score(imported)
    turn = score.turns[0]
    assert turn.home_us is not None
    gone = (turn.home_us, turn.home_us + (turn.words[1].end_ms * 1000 if turn.words else 600_000))
    call, position = Call(score), 0
    for frame in imported.trace.sent_by("client"):
        event = frame.event() or {}
        if event["type"] == "input_audio_buffer.append":
            data = msgspec.json.decode(f'"{event["audio"]}"', type=bytes)
            length = PCM24.duration_us(len(data))
            if gone[0] <= position < gone[1]:
                event = append(bytes(len(data)))
            position += length
        call.send(frame.t_us / 1000, event)
    call.run(17_000)
    _, text, lost = call.ear.turns[0]
    assert 1 <= lost <= 4
    assert text.split()[1:] == turn.text.split()[lost:][1:]
    kind = "conversation.item.input_audio_transcription"
    deltas = [got for got in call.of(f"{kind}.delta") if got.event["item_id"] == turn.item_id]
    assert [got.event["delta"] for got in deltas] in ([], [text])
    assert [
        got.event["transcript"] for got in call.of(f"{kind}.completed") if got.event["item_id"] == turn.item_id
    ] == [text]


def test_mu_law_to_a_recorded_session_without_the_format_is_no_turn() -> None:
    call = Call(recorded()).send(70, {"type": "session.update", "session": {"type": "realtime"}})
    call.say(300, samples_of("booking"), ULAW8)
    call.run()
    assert call.of("input_audio_buffer.speech_started") == []
    assert call.errors() == []


def test_another_recordings_update_does_not_have_to_be_sent_literally() -> None:
    """The client has changed since the recording: its own instructions come back, under the recorded frame."""
    call = Call(recorded()).send(
        70, {"type": "session.update", "session": {"type": "realtime", "instructions": "New."}}
    )
    updated = call.run(3000).one("session.updated")
    assert updated.event["session"]["instructions"] == "New."
    assert not updated.send.synthetic
    assert call.session.final_verdict().unscripted == []


# --- talked over


def test_the_recorded_talk_over_is_cut_where_it_was() -> None:
    call = resend(recorded("talk-over"), cassette("talk-over"))
    statuses = [got.event["response"]["status"] for got in call.of("response.done")]
    assert statuses.count("cancelled") == 1
    assert [reply for reply, _, cut in call.ear.ended if cut] == [1]
    assert call.session.final_verdict().clean, str(call.session.final_verdict())


@pytest.mark.parametrize("score", [front_desk, recorded], ids=["authored", "recorded"])
def test_a_barge_in_that_was_not_recorded_cuts_the_reply(score: Any) -> None:
    spoken: list[float] = []

    def react(call: Call, ms: float, event: dict[str, Any]) -> None:
        answer_tools(call, ms, event)
        if call.got[-1].send.reply == 0 and call.got[-1].send.audio and not spoken:
            spoken.append(ms + 1000)
            call.say(ms + 1000, samples_of("one-more-thing"), tail_ms=5000)

    call = Call(score(), ["barge-in:reply=0,at=1s,answer=breakfast"], react=react)
    update(call, 70)
    call.say(300, samples_of("booking"), tail_ms=1300)
    call.run()
    kinds = call.kinds()
    begin = max(k for k, kind in enumerate(kinds) if kind == "input_audio_buffer.speech_started")
    cut = next(got for got in call.of("response.done") if got.event["response"]["status"] == "cancelled")
    assert kinds[begin + 1 : begin + 7] == [
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    assert 740 <= cut.ms - spoken[0] <= 830  # the clip's voice begins 40 ms in
    assert [(reply, was_cut) for reply, _, was_cut in call.ear.ended] == [(0, True), ("answer-0", False)]
    sent = sum(length for reply, _, length in call.ear.audio if reply == 0)
    assert sent * 1000 == call.realtime.audio_sent_us(cut.event["response"]["output"][0]["id"])
    assert call.of("input_audio_buffer.speech_stopped")[-1].ms < call.of("response.created")[-1].ms
    item = cut.event["response"]["output"][0]
    assert item["status"] == "incomplete"
    assert item["content"][0]["transcript"] != ""


# --- helpers of the session


def test_heard_at_and_sent_audio_tell_what_was_exchanged() -> None:
    call = whole_call()
    places = [(turn.index, offset_us) for turn, offset_us in call.realtime.heard_at()]
    assert [index for index, _ in places] == [0, 1]
    assert abs(places[0][1]) <= 1000
    assert [(reply.index, sent_us) for reply, sent_us in call.realtime.sent_audio()] == [
        (reply.index, reply.audio_us) for reply in call.session.score.replies
    ]


def test_convert_changes_encoding_and_rate() -> None:
    tone = np.round(8000 * np.sin(2 * np.pi * 300 * np.arange(24000) / 24000)).astype(np.int16)
    out = convert(PCM24.encode(tone), PCM24, ULAW8)
    assert len(out) == 8000
    assert int(np.argmax(np.abs(np.fft.rfft(ULAW8.decode(out))))) == 300
    assert convert(out, ULAW8, ULAW8) == out


def test_the_verdict_is_empty_or_says_what() -> None:
    """Each list both ways."""
    clean = whole_call().session.final_verdict()
    assert clean.clean
    assert str(clean) == "clean"
    call = Call(front_desk(), ["stall:reply=-1,at=1s,for=1s"])
    update(call, 70).send(100, {"type": "response.cancel"}).send(101, append(bytes(3)))
    call.run()
    verdict = call.session.final_verdict()
    assert verdict.unplayed != []
    assert verdict.unasked == ["conversation.item.create:function_call_output", "response.create"]
    assert verdict.synthetic == ["error (response_cancel_not_active)"]
    assert verdict.unfired == ["stall:at=1000ms,for=1000ms"]
    assert len(verdict.notes) == 1
    assert not verdict.clean
    assert str(verdict).splitlines()[1] == "unasked: conversation.item.create:function_call_output, response.create"


def test_a_trace_without_audio_is_still_played(recordings: Path) -> None:
    """Cut caller audio: speech events hang on the appends by count."""
    file = recordings / "pydantic-ai" / "openai" / "test_audio_in_server_vad_turn.yaml"
    imported = import_file(file)
    score = build_score(imported)
    assert all(turn.samples is None for turn in score.turns)
    quick = Call(score)
    for k, frame in enumerate(imported.trace.sent_by("client")):
        quick.send(k, frame.payload)
    quick.run()
    assert len(quick.got) == len(imported.trace.sent_by("server"))


def test_an_empty_trace_is_a_session_that_says_nothing() -> None:
    empty = build_score(Cassette(cassette().header, Trace()))
    call = update(Call(empty), 65)
    call.say(100, samples_of("booking"))
    call.run()
    assert call.kinds() == ["session.updated"]
    assert call.session.final_verdict().synthetic == ["session.updated"]


# --- sessions without a server VAD


def manual() -> Cassette:
    """A recorded push-to-talk round: append, commit, item, response."""
    item = {"id": "item_1", "type": "message", "role": "user"}
    text = {"id": "item_2", "type": "message", "role": "user"}
    rows: list[tuple[int, str, dict[str, Any]]] = [
        (10, "server", {"type": "session.created", "session": {}}),
        (20, "client", append(bytes(9600))),
        (30, "client", {"type": "input_audio_buffer.commit"}),
        (45, "server", {"type": "input_audio_buffer.committed", "item_id": "item_1", "previous_item_id": None}),
        (46, "server", {"type": "conversation.item.added", "item": item}),
        (50, "client", {"type": "conversation.item.create", "item": {"type": "message", "role": "user"}}),
        (60, "server", {"type": "conversation.item.added", "item": text}),
        (70, "client", {"type": "response.create"}),
        (80, "server", {"type": "response.created", "response": {"id": "resp_1", "metadata": None}}),
        (90, "server", {"type": "response.done", "response": {"id": "resp_1", "status": "completed"}}),
        (100, "client", {"type": "input_audio_buffer.clear"}),
        (105, "server", {"type": "input_audio_buffer.cleared"}),
    ]
    frames = [Frame(ms * 1000, who, msgspec.json.encode(event).decode()) for ms, who, event in rows]  # type: ignore[arg-type]
    return Cassette(cassette().header, Trace(frames=frames))


def test_a_recorded_commit_brings_its_item() -> None:
    score = build_score(manual())
    assert [frame.cause for frame in score.frames if "item_1" in str(frame.payload)] == [
        ("input_audio_buffer.commit", 0)
    ] * 2
    call = Call(score).send(500, append(bytes(9600))).send(600, {"type": "input_audio_buffer.commit"}).run()
    assert [(got.ms, got.kind) for got in call.got[1:]] == [
        (615, "input_audio_buffer.committed"),
        (616, "conversation.item.added"),
    ]
    assert call.session.final_verdict().unasked == [
        "conversation.item.create:message",
        "response.create",
        "input_audio_buffer.clear",
    ]


def test_the_whole_round_again_is_clean() -> None:
    call = resend(build_score(manual()), manual())
    assert call.session.final_verdict().clean, str(call.session.final_verdict())


def test_a_client_that_names_its_items_now_finds_its_names() -> None:
    named = {"type": "message", "role": "user", "id": "mine"}
    call = Call(build_score(manual())).send(50, {"type": "conversation.item.create", "item": named}).run()
    assert call.one("conversation.item.added").event["item"]["id"] == "mine"
    call = Call(build_score(manual())).send(50, {"type": "conversation.item.create", "item": named})
    call.send(200, {"type": "conversation.item.retrieve", "item_id": "mine"}).run()
    assert call.errors() == []


# --- a reply whose end is not on the cassette


def test_a_reply_without_a_done_can_be_cut_off_all_the_same() -> None:
    score = author(SCRIPTS["no-done"](), "polyai")
    cut: list[float] = []

    def react(call: Call, ms: float, event: dict[str, Any]) -> None:
        answer_tools(call, ms, event)
        if call.got[-1].send.reply == 1 and call.got[-1].send.audio and not cut:
            cut.append(ms + 900)
            call.send(ms + 900, {"type": "response.cancel"})

    call = Call(score, react=react)
    update(call, 70)
    track = samples_of("booking")
    call.say(300, track, tail_ms=11_200)
    call.say(320 + len(track) / 24 + 11_200, samples_of("nothing-else"), tail_ms=900)
    call.run()
    done = call.of("response.done")[-1]
    assert done.ms == cut[0] + 20
    assert done.send.synthetic
    assert done.event["response"]["status"] == "cancelled"
    assert done.event["response"]["id"] == call.of("response.created")[-1].event["response"]["id"]
    assert not [got for got in call.got if got.ms > done.ms and got.kind.endswith(".delta")]
    late = Call(score).send(10, {"type": "response.cancel"}).run()
    assert late.errors() == [("response_cancel_not_active", None)]


# --- asked after the call


def test_an_item_can_be_retrieved_after_the_call_and_nobody_hears_of_it() -> None:
    call = whole_call()
    calls = [got.event["item"] for got in call.of("response.output_item.done") if "name" in got.event["item"]]
    before, sent = msgspec.to_builtins(call.session.final_verdict()), len(call.got)
    assert [call.session.retrieve(item["id"]) for item in calls] == calls
    assert call.session.retrieve("item_of_another_call") is None
    call.run()
    assert msgspec.to_builtins(call.session.final_verdict()) == before
    assert len(call.got) == sent
