"""What a script becomes: events in the order of recorded sessions, at the paces that it states."""

import json

import msgspec
import pytest

from simrt.audio import PCM24
from simrt.caller.clip import fixture_clip
from simrt.cassette.header import Word
from simrt.cassette.script import Tool
from simrt.cassette.store import load, save
from simrt.replay.authored import author
from simrt.replay.build import score_of
from simrt.replay.score import Score
from simrt.scripts import SCRIPTS, authored

from .hand import Call, front_desk, lookup, reply, samples_of, small, turn, update


def rows(score: Score, cause: tuple[str, int]) -> list[tuple[int, str]]:
    """(ms after the cause, kind), in order; deltas once."""
    out: list[tuple[int, str]] = []
    for frame in sorted(score.answers[cause], key=lambda f: (f.delay_us, f.index)):
        if not (out and out[-1][1] == frame.kind and frame.kind.endswith("delta")):
            out.append((frame.delay_us // 1000, frame.kind))
    return out


def test_the_handshake() -> None:
    score = small([], created_ms=60, ready_ms=50)
    assert rows(score, ("open", 0)) == [(60, "session.created")]
    assert rows(score, ("session.update", 0)) == [(50, "session.updated")]
    assert [(event.kind, event.nth) for event in score.client_events] == [("session.update", 0)]


def test_a_turn_and_a_spoken_reply_come_in_the_order_of_recorded_sessions() -> None:
    score = small([turn("booking"), reply("thats-all")], chunk_ms=60_000)
    order = [kind for _, kind in rows(score, ("turn.stop", 0))]
    assert order == [
        "input_audio_buffer.speech_stopped",
        "input_audio_buffer.committed",
        "conversation.item.added",
        "conversation.item.done",
        "response.created",
        "conversation.item.input_audio_transcription.completed",
        "response.output_item.added",
        "conversation.item.added",
        "response.content_part.added",
        "response.output_audio_transcript.delta",
        "response.output_audio.delta",
        "response.output_audio_transcript.delta",
        "response.output_audio.delta",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
        "rate_limits.updated",
    ]


def test_a_tool_call_comes_in_the_order_of_recorded_sessions() -> None:
    score = small([turn("booking"), lookup()])
    order = [kind for _, kind in rows(score, ("turn.stop", 0)) if not kind.endswith("transcription.completed")]
    assert order[order.index("response.created") :] == [
        "response.created",
        "response.output_item.added",
        "conversation.item.added",
        "response.function_call_arguments.delta",
        "response.function_call_arguments.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
        "rate_limits.updated",
    ]
    opened = next(f for f in score.frames if f.kind == "response.output_item.added")
    assert opened.event is not None
    assert opened.event["item"]["arguments"] == ""
    assert [e.kind for e in score.client_events] == ["session.update", "conversation.item.create:function_call_output"]


def test_call_ids_have_37_characters() -> None:
    ids = {str(f.event["call_id"]) for f in front_desk().frames if f.event and "call_id" in f.event}
    assert len(ids) == 2
    assert {len(call_id) for call_id in ids} == {37}


def test_polyais_transcript_may_come_behind_the_reply() -> None:
    def lags(profile: str) -> int:
        score = small([turn("booking"), reply("thats-all")], profile)
        return next(f.delay_us for f in score.frames if f.kind.endswith("transcription.completed"))

    assert lags("polyai") > 520_000 > lags("openai")


@pytest.mark.parametrize(
    ("ahead", "chunk", "pieces"), [(300, 200, [300, 200]), (100, 50, [100, 50]), (5000, 200, [1_585])]
)
def test_audio_is_paced_as_stated(ahead: int, chunk: int, pieces: list[int]) -> None:
    score = small([turn("booking"), reply("nothing-else")], ahead_ms=ahead, chunk_ms=chunk, think_ms=700)
    audio = [frame for frame in score.frames if frame.audio_us]
    length = len(samples_of("nothing-else")) * 1000 // 24000
    assert [frame.audio_us // 1000 for frame in audio][: len(pieces)] == [
        min(ms, length) for ms in pieces
    ] or ahead > length
    assert audio[0].delay_us == 700_000
    for frame in audio[1:]:
        assert frame.delay_us == 700_000 + max(0, frame.audio_start_us - ahead * 1000)
    assert b"".join(frame.audio for frame in audio) == PCM24.encode(samples_of("nothing-else"))
    assert [frame.audio_start_us for frame in audio] == [sum(f.audio_us for f in audio[:k]) for k in range(len(audio))]


def test_each_word_is_told_with_the_audio_that_it_begins_in() -> None:
    score = small([turn("booking"), reply("nothing-else")])
    words = fixture_clip("nothing-else").words
    told, sent_us = [], 0
    for frame in score.frames:
        if frame.kind == "response.output_audio_transcript.delta":
            told.append((str((frame.event or {})["delta"]).strip(), sent_us))
        sent_us += frame.audio_us
    assert [text for text, _ in told] == [word.text for word in words]
    starts = [frame.audio_start_us for frame in score.frames if frame.audio_us]
    for word, (_, before_us) in zip(words, told, strict=True):
        assert before_us == max(start for start in starts if start <= word.start_ms * 1000)


def test_the_deltas_make_the_transcript() -> None:
    score = small([turn("booking"), reply("nothing-else")])
    deltas = [str((f.event or {})["delta"]) for f in score.frames if f.kind == "response.output_audio_transcript.delta"]
    done = next(f for f in score.frames if f.kind == "response.output_audio_transcript.done")
    assert "".join(deltas) == (done.event or {})["transcript"] == fixture_clip("nothing-else").text


def test_a_reply_without_a_done() -> None:
    score = small([turn("booking"), reply("thats-all", done=False)])
    kinds = [frame.kind for frame in score.frames]
    assert "response.output_item.done" in kinds
    assert "response.done" not in kinds
    assert "rate_limits.updated" not in kinds


def test_think_may_be_set_for_one_reply() -> None:
    score = small([turn("booking"), reply("thats-all", think_ms=50), turn("mm-hmm"), reply("thats-all")])
    firsts = {f.reply: f.delay_us for f in reversed(score.frames) if f.audio_us}
    assert firsts == {1: 520_000, 0: 50_000}


@pytest.mark.parametrize("clip", ["booking", "nothing-else", "one-more-thing", "thats-all", "long-hello"])
def test_where_the_turns_voice_is(clip: str) -> None:
    (made,) = small([turn(clip)]).turns
    words = fixture_clip(clip).words
    assert abs(made.onset_us // 1000 - words[0].start_ms) <= 120
    assert abs(made.speech_end_us // 1000 - words[-1].end_ms) <= 250
    # 500 ms of silence behind it, in frames of 32 ms
    assert 500_000 <= made.stop_value_us - made.speech_end_us <= 580_000
    assert made.start_value_us == made.onset_us - 300_000


def test_the_length_of_silence_that_ends_a_turn_is_stated() -> None:
    ends = [small([turn("booking")], silence_ms=ms).turns[0].stop_value_us for ms in (200, 500, 1000)]
    assert ends[0] < ends[1] < ends[2]
    assert abs((ends[2] - ends[1]) - 500_000) <= 64_000


def test_a_silent_clip_is_a_turn_all_the_same() -> None:
    from .hand import silence

    step = msgspec.structs.replace(turn("booking"), samples=silence(1000), words=[Word("…", 0, 1000)])
    (made,) = small([step]).turns
    assert (made.onset_us, made.speech_end_us) == (0, 1_000_000)


def test_equal_scripts_give_equal_scores() -> None:
    one, two = (author(SCRIPTS["talk-over"](), "polyai") for _ in range(2))
    assert [frame.payload for frame in one.frames] == [frame.payload for frame in two.frames]
    assert [(frame.cause, frame.delay_us) for frame in one.frames] == [
        (frame.cause, frame.delay_us) for frame in two.frames
    ]


def test_ids_are_unique() -> None:
    score = author(SCRIPTS["talk-over"](), "polyai")
    ids = [str((frame.event or {})["event_id"]) for frame in score.frames]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", list(SCRIPTS))
def test_shipped_scripts_come_back_from_the_disk(name: str, tmp_path: object) -> None:
    cassette = authored(name)
    loaded = load(save(cassette, f"{tmp_path}/{name}"))
    one, two = score_of(cassette), score_of(loaded)
    assert [frame.payload for frame in one.frames] == [frame.payload for frame in two.frames]
    assert [turn.text for turn in one.turns] == [turn.text for turn in two.turns]


def test_every_event_is_json_with_an_event_id_and_its_type_first() -> None:
    for frame in front_desk().frames:
        event = json.loads(str(frame.payload))
        assert next(iter(event)) == "type"
        assert event["event_id"]
        assert event == frame.event


def test_the_hang_up_expects_no_output_unless_it_is_called_off() -> None:
    plain = small([turn("booking"), reply("thats-all", tool=Tool("end_call", {}, answered=False))])
    called_off = small([turn("booking"), reply("thats-all", tool=Tool("end_call", {}))])
    kind = "conversation.item.create:function_call_output"
    assert [kind in [e.kind for e in s.client_events] for s in (plain, called_off)] == [False, True]


def test_a_turn_into_a_reply_expects_a_truncation() -> None:
    score = small([turn("booking"), reply("goodbye"), turn("one-more-thing", "reply[0].heard+500ms")])
    assert [e.kind for e in score.client_events][-1] == "conversation.item.truncate"
    call = update(Call(score), 65)
    call.say(300, samples_of("booking"))
    truncate = {"type": "conversation.item.truncate", "item_id": score.replies[0].item_id, "content_index": 0}
    call.send(7000, {**truncate, "audio_end_ms": 640}).run()
    got = call.one("conversation.item.truncated")
    assert got.event["audio_end_ms"] == 640
    assert not got.send.synthetic
