"""Which cause each frame of real recordings is given."""

from pathlib import Path

import pytest

from simrt import shipped
from simrt.cassette.header import Header, Word, spread_words
from simrt.cassette.importers import import_file
from simrt.replay.build import build_score, score_of
from simrt.replay.score import Cause, Score
from simrt.replay.score_realtime import RealtimeScorer
from simrt.trace import Closing, Frame, Trace

from .hand import append

Row = tuple[int, str, dict[str, object] | str]


def causes(score: Score) -> list[tuple[str, Cause]]:
    return [(frame.kind, frame.cause) for frame in score.frames]


def score(*rows: Row, closing: Closing | None = None, header: Header | None = None) -> Score:
    """Rows of (ms, "c" or "s", event)."""
    import msgspec

    frames = []
    for ms, side, event in rows:
        payload = event if isinstance(event, str) else msgspec.json.encode(event).decode()
        frames.append(Frame(ms * 1000, "client" if side == "c" else "server", payload))
    return RealtimeScorer(Trace(frames=frames, closing=closing), header or Header()).score()


def recording(recordings: Path, name: str) -> Score:
    return build_score(import_file(recordings / name))


# --- real recordings


def test_a_spoken_call(recordings: Path) -> None:
    made = recording(recordings, "hf-speech-to-speech/session1.jsonl")
    assert [turn.text for turn in made.turns] == [
        "Hi, yes, I'm calling about my booking for Friday. The surname's O'Caffer.",
        "Sure it's K7 II, PQ9.",
        "Oh, sorry, no. Actually, just leave it as it is, please.",
    ]
    assert all(turn.samples is not None and turn.home_us is not None for turn in made.turns)
    by_kind = dict(causes(made))
    assert by_kind["session.created"] == ("open", 0)
    assert by_kind["session.updated"] == ("session.update", 0)
    assert by_kind["input_audio_buffer.speech_started"] == ("turn.start", 2)
    assert by_kind["input_audio_buffer.committed"] == ("turn.stop", 2)
    assert by_kind["conversation.item.input_audio_transcription.completed"] == ("turn.stop", 2)
    assert {cause for kind, cause in causes(made) if kind == "response.done"} == {("turn.stop", k) for k in range(3)}
    assert [reply.index for reply in made.replies] == [0, 1, 2]
    assert all(frame.delay_us >= 0 for frame in made.frames)


def test_the_three_turns_lie_where_openai_reported_them(recordings: Path) -> None:
    name = "pydantic-ai/openai-full-caller-audio/test_input_audio_retention_segments_three_server_vad_turns.yaml"
    made = recording(recordings, name)
    found = [
        ((turn.home_us or 0) + value) // 1000
        for turn in made.turns
        for value in (turn.start_value_us, turn.stop_value_us)
    ]
    assert found == [1460, 4256, 8948, 11744, 16436, 19232]
    clips = [turn.samples for turn in made.turns]
    assert all(clip is not None and 24000 < len(clip) < 24000 * 4 for clip in clips)


def test_cut_audio_leaves_turns_without_a_clip(recordings: Path) -> None:
    made = recording(recordings, "pydantic-ai/openai/test_audio_in_server_vad_turn.yaml")
    assert [turn.samples for turn in made.turns] == [None]
    assert {cause[0] for kind, cause in causes(made) if kind.startswith("input_audio_buffer.")} <= {"append"}


def test_a_tool_round(recordings: Path) -> None:
    made = recording(recordings, "pydantic-ai/openai/test_tool_call_round.yaml")
    asked = [(event.kind, event.nth) for event in made.client_events]
    assert ("conversation.item.create:function_call_output", 0) in asked
    responses = [cause for kind, cause in causes(made) if kind == "response.created"]
    assert responses == [("response.create", 0), ("response.create", 1)]
    outputs = [f for f in made.frames if f.cause == ("conversation.item.create:function_call_output", 0)]
    assert {f.kind for f in outputs} <= {
        "conversation.item.added",
        "conversation.item.done",
        "conversation.item.created",
    }
    assert outputs


@pytest.mark.parametrize("name", ["front-desk", "talk-over", "late-ready"])
def test_shipped_cassettes_bring_the_words_of_both_sides(name: str) -> None:
    made = score_of(shipped.cassette(name))
    for turn in made.turns:
        # late-ready's clip begins inside a word, which the transcript does not have
        assert " ".join(word.text for word in turn.words).lower().endswith(turn.text.lower())
        assert len(turn.words) <= len(turn.text.split()) + (name == "late-ready")
        assert all(0 <= word.start_ms < word.end_ms for word in turn.words)
    for reply in made.replies:
        assert reply.words is not None
        assert reply.text.startswith(reply.words[0].text)
    assert made.closing is not None
    assert made.closing_cause is None  # the client closed


def test_a_talk_over_hangs_on_the_callers_turn() -> None:
    made = score_of(shipped.cassette("talk-over"))
    assert [turn.barge_in for turn in made.turns] == [False, False, True, False]
    cancelled = [f for f in made.frames if f.kind == "response.done" and '"cancelled"' in str(f.payload)]
    assert [f.cause for f in cancelled] == [("turn.start", 2)]


# --- rules, on small traces

CREATED: Row = (10, "s", {"type": "session.created", "session": {}})


def response(ms: int, response_id: str, status: str = "completed") -> list[Row]:
    return [
        (ms, "s", {"type": "response.created", "response": {"id": response_id}}),
        (ms + 5, "s", {"type": "response.done", "response": {"id": response_id, "status": status}}),
    ]


def test_each_response_create_is_taken_once() -> None:
    made = score(
        (20, "c", {"type": "response.create"}),
        (21, "c", {"type": "response.create"}),
        *response(30, "a"),
        *response(40, "b"),
    )
    assert [cause for _, cause in causes(made)] == [("response.create", 0)] * 2 + [("response.create", 1)] * 2


def test_an_error_answers_the_event_that_it_names() -> None:
    made = score(
        (20, "c", {"type": "session.update", "event_id": "one", "session": {}}),
        (21, "c", {"type": "response.cancel", "event_id": "two"}),
        (30, "s", {"type": "error", "error": {"event_id": "one"}}),
        (31, "s", {"type": "error", "error": {"event_id": "two"}}),
    )
    assert [cause for _, cause in causes(made)] == [("session.update", 0), ("response.cancel", 0)]


def test_an_error_that_names_none_answers_the_latest() -> None:
    made = score(
        (20, "c", {"type": "session.update", "session": {}}),
        (21, "c", {"type": "response.cancel"}),
        (30, "s", {"type": "error", "error": {"event_id": None}}),
    )
    assert causes(made) == [("error", ("response.cancel", 0))]


def test_items_are_told_apart_by_their_ids() -> None:
    def create(ms: int, item_id: str) -> Row:
        return ms, "c", {"type": "conversation.item.create", "item": {"type": "message", "id": item_id}}

    def added(ms: int, item_id: str) -> Row:
        return ms, "s", {"type": "conversation.item.added", "item": {"id": item_id}}

    made = score(create(20, "a"), create(21, "b"), added(30, "b"), added(31, "a"))
    assert [cause[1] for _, cause in causes(made)] == [1, 0]


def test_a_cancel_causes_the_closing_events_and_not_the_deltas() -> None:
    made = score(
        (20, "c", {"type": "response.create"}),
        (30, "s", {"type": "response.created", "response": {"id": "a"}}),
        (40, "c", {"type": "response.cancel"}),
        (41, "s", {"type": "response.output_text.delta", "response_id": "a", "delta": "x"}),
        (50, "s", {"type": "response.done", "response": {"id": "a", "status": "cancelled"}}),
    )
    assert causes(made) == [
        ("response.created", ("response.create", 0)),
        ("response.output_text.delta", ("response.create", 0)),
        ("response.done", ("response.cancel", 0)),
    ]
    assert made.frames[-1].delay_us == 10_000


def test_a_cancel_that_came_too_late_causes_nothing() -> None:
    made = score(
        (20, "c", {"type": "response.create"}),
        (30, "s", {"type": "response.created", "response": {"id": "a"}}),
        (40, "c", {"type": "response.cancel"}),
        (50, "s", {"type": "response.done", "response": {"id": "a", "status": "completed"}}),
    )
    assert causes(made)[-1] == ("response.done", ("response.create", 0))


def test_beta_names_are_scored_as_ga() -> None:
    made = score(
        (20, "c", {"type": "response.create"}),
        (30, "s", {"type": "response.created", "response": {"id": "a"}}),
        (40, "s", {"type": "response.audio.delta", "response_id": "a", "item_id": "i", "delta": "AAAA"}),
        (41, "s", {"type": "response.audio_transcript.done", "response_id": "a", "transcript": "Hello."}),
    )
    assert [frame.kind for frame in made.frames][1:] == [
        "response.output_audio.delta",
        "response.output_audio_transcript.done",
    ]
    assert (made.replies[0].text, made.replies[0].item_id, made.replies[0].response_id) == ("Hello.", "i", "a")


def test_audio_is_placed_in_its_reply() -> None:
    delta = {"type": "response.output_audio.delta", "response_id": "a", "item_id": "i"}
    made = score(
        (20, "c", {"type": "response.create"}),
        (30, "s", {"type": "response.created", "response": {"id": "a"}}),
        (40, "s", {**delta, "delta": append(bytes(4800))["audio"]}),
        (50, "s", {**delta, "delta": append(bytes(9600))["audio"]}),
        (60, "s", {"type": "response.done", "response": {"id": "a", "status": "completed"}}),
    )
    assert [(f.reply, f.audio_start_us, f.audio_us) for f in made.frames] == [
        (0, 0, 0),
        (0, 0, 100_000),
        (0, 100_000, 200_000),
        (0, 300_000, 0),
    ]
    assert made.replies[0].audio_us == 300_000


def test_audio_that_is_no_base64_is_no_audio() -> None:
    made = score((20, "s", {"type": "response.output_audio.delta", "response_id": "a", "delta": "?"}))
    assert made.replies[0].audio_us == 0


def test_what_nothing_explains_follows_the_frame_before() -> None:
    made = score(CREATED, (30, "s", {"type": "something.new"}), (31, "s", "no json"))
    assert [cause for _, cause in causes(made)] == [("open", 0)] * 3
    assert [f.delay_us for f in made.frames] == [10_000, 30_000, 31_000]


def test_what_follows_an_unanswered_question_answers_it() -> None:
    made = score(CREATED, (20, "c", {"type": "new.question"}), (30, "s", {"type": "new.answer"}))
    assert causes(made)[-1] == ("new.answer", ("new.question", 0))


def test_silence_where_a_turn_should_be_hangs_on_the_appends() -> None:
    made = score(
        CREATED,
        *[(20 * k, "c", append(bytes(960))) for k in range(1, 60)],
        (1190, "s", {"type": "input_audio_buffer.speech_started", "item_id": "i", "audio_start_ms": 200}),
        (1195, "s", {"type": "input_audio_buffer.speech_stopped", "item_id": "i", "audio_end_ms": 1000}),
    )
    assert [cause for _, cause in causes(made)[1:]] == [("append", 58), ("append", 58)]
    assert [f.delay_us for f in made.frames[1:]] == [10_000, 15_000]
    assert made.turns[0].samples is None


@pytest.mark.parametrize("by", ["server", "network"])
def test_the_servers_end_has_a_cause(by: str) -> None:
    made = score(CREATED, closing=Closing(500_000, 1011, "x", by))  # type: ignore[arg-type]
    assert (made.closing_cause, made.closing_delay_us) == (("open", 0), 500_000)


def test_the_clients_end_has_none() -> None:
    assert score(CREATED, closing=Closing(500_000, 1000, "", "client")).closing_cause is None


def test_words_without_places_are_spread_by_length() -> None:
    words = spread_words("a bcd ef", 1000, 2000)
    assert [word.text for word in words] == ["a", "bcd", "ef"]
    assert words[0].start_ms == 1000
    assert words[-1].end_ms == 2000
    assert [a.end_ms for a in words[:-1]] == [b.start_ms for b in words[1:]]
    assert (
        words[1].end_ms - words[1].start_ms > words[2].end_ms - words[2].start_ms > words[0].end_ms - words[0].start_ms
    )
    assert spread_words("", 0, 100) == []
    assert spread_words("one", 5, 5) == [Word("one", 5, 5)]
