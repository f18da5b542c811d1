"""What the Realtime server answers where the cassette has no answer, with the protocol's codes."""

import base64
from typing import Any

import pytest

from simrt.audio import PCM24
from simrt.wire import Request

from .hand import REQUEST, Call, append, front_desk, lookup, one_reply, reply, samples_of, silence, small, turn, update

DETECTION = {"type": "server_vad", "threshold": 0.7, "silence_duration_ms": 200}


def talking(profile: str = "openai", clip: str = "goodbye-short") -> Call:
    """A call in which reply 0 is being sent: it begins at about 4.9 s."""
    call = update(Call(one_reply(profile, clip)), 65)
    call.say(300, samples_of("booking"))
    return call


def reply_starts() -> float:
    """When the first audio of that reply comes."""
    call = talking().run()
    return next(got.ms for got in call.got if got.send.audio)


def item_id(call: Call, role: str = "assistant") -> str:
    """The reply's item, or the caller's."""
    for frame in call.session.score.frames:
        item = (frame.event or {}).get("item") or {}
        if item.get("role") == role:
            return str(item["id"])
    raise AssertionError(role)


def error_of(call: Call) -> dict[str, Any]:
    return dict(call.one("error").event["error"])


# --- responses


def test_a_second_response_while_one_is_active_is_refused() -> None:
    call = talking()
    at = reply_starts() + 100
    call.send(at, {"type": "response.create", "event_id": "evt_mine"}).run()
    error = error_of(call)
    assert error["type"] == "invalid_request_error"
    assert error["code"] == "conversation_already_has_active_response"
    assert error["event_id"] == "evt_mine"
    assert "resp_0001" in error["message"]
    assert call.one("error").ms == at
    assert call.one("response.done").event["response"]["status"] == "completed"


def test_a_response_is_also_refused_when_the_server_is_about_to_begin_one() -> None:
    """The turn is over, `response.created` is not out yet."""
    call = talking().run(4000)
    call.run()
    stopped, created = call.one("input_audio_buffer.speech_stopped").ms, call.one("response.created").ms
    between = talking().send((stopped + created) / 2, {"type": "response.create"}).run()
    assert between.errors() == [("conversation_already_has_active_response", None)]


def test_an_unasked_for_response_with_none_active_is_empty() -> None:
    call = update(Call(one_reply()), 65).send(500, {"type": "response.create", "response": {"metadata": {"k": "v"}}})
    call.run()
    created, done = call.one("response.created"), call.one("response.done")
    assert (created.ms, done.ms) == (593, 900)
    assert created.event["response"]["id"] == done.event["response"]["id"]
    assert created.event["response"]["metadata"] == {"k": "v"}
    assert done.event["response"]["status"] == "completed"
    assert done.event["response"]["output"] == []
    assert created.send.synthetic
    assert call.session.final_verdict().synthetic == ["response.created", "response.done"]
    assert call.session.final_verdict().unscripted == ["response.create"]


def test_a_second_response_create_while_a_made_up_one_runs_is_refused() -> None:
    call = update(Call(one_reply()), 65)
    call.send(500, {"type": "response.create"}).send(650, {"type": "response.create", "event_id": "two"}).run()
    assert call.errors() == [("conversation_already_has_active_response", "two")]


def test_a_made_up_response_can_be_cancelled() -> None:
    call = update(Call(one_reply()), 65)
    call.send(500, {"type": "response.create"}).send(650, {"type": "response.cancel"}).run()
    done = call.one("response.done")
    assert done.event["response"]["id"] == call.one("response.created").event["response"]["id"]
    assert (done.ms, done.event["response"]["status"]) == (670, "cancelled")
    assert call.errors() == []


def test_cancel_without_a_response_is_an_error() -> None:
    call = update(Call(one_reply()), 65).send(500, {"type": "response.cancel", "event_id": "c1"}).run()
    assert call.errors() == [("response_cancel_not_active", "c1")]


def test_cancel_after_the_response_is_an_error() -> None:
    call = talking().run()
    late = talking().send(call.one("response.done").ms + 1, {"type": "response.cancel"}).run()
    assert late.errors() == [("response_cancel_not_active", None)]


def test_cancel_ends_the_response_at_once() -> None:
    at = reply_starts() + 650
    call = talking().send(at, {"type": "response.cancel"}).run()
    done = call.one("response.done")
    assert done.ms == at + 20
    assert done.event["response"]["status"] == "cancelled"
    assert done.event["response"]["status_details"] == {"type": "cancelled", "reason": "client_cancelled"}
    assert not [got for got in call.got if got.ms >= done.ms and got.kind.endswith(".delta")]
    closing = [got.kind for got in call.got if got.ms == done.ms]
    assert closing == [
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
        "rate_limits.updated",
    ]
    assert call.one("response.output_item.done").event["item"]["status"] == "incomplete"
    said = "".join(got.event["delta"] for got in call.of("response.output_audio_transcript.delta"))
    assert call.one("response.output_audio_transcript.done").event["transcript"] == said
    assert call.ear.ended == [(0, at + 20, True)]
    assert call.errors() == []
    # what was cut off is not missed: the client wanted it so
    assert call.session.final_verdict().unplayed == []
    assert call.session.final_verdict().unscripted == ["response.cancel"]


def test_cancel_before_any_output_leaves_an_empty_response() -> None:
    at = talking().run().one("response.created").ms + 1
    call = talking().send(at, {"type": "response.cancel"}).run()
    assert call.one("response.done").event["response"]["status"] == "cancelled"
    assert not [kind for kind in call.kinds() if "output_audio" in kind or "output_item" in kind]


def test_after_a_cancel_the_next_response_may_come() -> None:
    at = reply_starts() + 400
    call = talking().send(at, {"type": "response.cancel"}).send(at + 100, {"type": "response.create"}).run()
    assert call.errors() == []
    assert [got.event["response"]["status"] for got in call.of("response.done")] == ["cancelled", "completed"]


# --- truncation


@pytest.mark.parametrize("end_ms", [0, 200, 500])
def test_truncate_within_what_was_sent_is_acknowledged(end_ms: int) -> None:
    call = talking()
    item = item_id(call)
    event = {"type": "conversation.item.truncate", "item_id": item, "content_index": 0, "audio_end_ms": end_ms}
    call.send(reply_starts() + 50, event).run()
    got = call.one("conversation.item.truncated").event
    assert (got["item_id"], got["content_index"], got["audio_end_ms"]) == (item, 0, end_ms)


@pytest.mark.parametrize(("after_ms", "sent_ms"), [(50, 500), (250, 700), (10_000, 3000)])
def test_truncate_beyond_what_was_sent_is_an_error(after_ms: int, sent_ms: int) -> None:
    call = talking()
    event = {"type": "conversation.item.truncate", "event_id": "t", "item_id": item_id(call), "content_index": 0}
    call.send(reply_starts() + after_ms, {**event, "audio_end_ms": sent_ms + 1}).run()
    error = error_of(call)
    assert error["message"] == f"Audio content of {sent_ms}ms is already shorter than {sent_ms + 1}ms"
    assert (error["code"], error["event_id"]) == ("invalid_value", "t")


def test_truncate_counts_the_whole_of_what_was_sent_in_odd_parts() -> None:
    call = Call(one_reply(), ["rechunk:reply=0,least=1ms,most=40ms"])
    update(call).say(300, samples_of("booking"))
    call.run()
    audio = [got.send.audio for got in call.got if got.send.audio]
    assert sum(PCM24.duration_us(len(data)) for data in audio) < 3_000_000, "every part is a whole number of µs"
    event = {"type": "conversation.item.truncate", "item_id": item_id(call), "content_index": 0, "audio_end_ms": 3000}
    call.send(30_000, event).run()
    assert call.errors() == []


@pytest.mark.parametrize("end", [-1, None, "100", 12.5])
def test_truncate_to_no_position_is_an_error(end: Any) -> None:
    call = talking()
    event = {"type": "conversation.item.truncate", "item_id": item_id(call), "content_index": 0, "audio_end_ms": end}
    call.send(reply_starts() + 50, event).run()
    assert call.errors() == [("invalid_value", None)]


def test_truncate_of_the_callers_item_is_an_error() -> None:
    call = talking()
    event = {"type": "conversation.item.truncate", "item_id": item_id(call, "user"), "content_index": 0}
    call.send(reply_starts(), {**event, "audio_end_ms": 0}).run()
    assert error_of(call)["message"] == "Only model output audio messages can be truncated"
    assert call.errors() == [("unsupported_content_type", None)]


def test_truncate_before_the_first_audio_is_an_error() -> None:
    call = talking()
    event = {"type": "conversation.item.truncate", "item_id": item_id(call), "content_index": 0, "audio_end_ms": 0}
    call.send(reply_starts() - 10, event).run()
    assert call.errors() == [("unsupported_content_type", None)]


# --- items


@pytest.mark.parametrize("what", ["delete", "retrieve", "truncate"])
def test_an_unknown_item_is_an_error_of_its_own(what: str) -> None:
    event = {"type": f"conversation.item.{what}", "event_id": "e", "item_id": "item_nowhere"}
    call = update(Call(one_reply()), 65).send(500, event).run()
    assert call.errors() == [(f"item_{what}_invalid_item_id", "e")]
    assert "item_nowhere" in error_of(call)["message"]


def message(text: str = "hello", **fields: Any) -> dict[str, Any]:
    content = [{"type": "input_text", "text": text}]
    return {
        "type": "conversation.item.create",
        "item": {"type": "message", "role": "user", "content": content, **fields},
    }


def test_an_item_that_the_cassette_does_not_have_is_taken_in() -> None:
    call = update(Call(one_reply()), 65).send(500, message(id="item_mine")).run()
    assert [got.kind for got in call.got if got.ms == 520] == ["conversation.item.added", "conversation.item.done"]
    item = call.one("conversation.item.added").event["item"]
    assert item["id"] == "item_mine"
    assert item["content"] == [{"type": "input_text", "text": "hello"}]
    assert item["status"] == "completed"


def test_an_item_without_an_id_is_given_one() -> None:
    call = update(Call(one_reply()), 65).send(500, message("a")).send(501, message("b")).run()
    ids = [got.event["item"]["id"] for got in call.of("conversation.item.added")]
    assert len(set(ids)) == 2
    assert all(ids)


def test_the_same_item_id_twice_is_an_error() -> None:
    call = update(Call(one_reply()), 65)
    call.send(500, message(id="item_x")).send(510, {**message(id="item_x"), "event_id": "again"}).run()
    assert call.errors() == [("item_create_duplicate_item_id", "again")]
    assert len(call.of("conversation.item.added")) == 1


@pytest.mark.parametrize("item", [None, "text", {}, {"type": 3}, {"type": "message", "id": {"a": 1}}])
def test_an_item_without_a_type_is_an_error(item: Any) -> None:
    call = update(Call(one_reply()), 65).send(500, {"type": "conversation.item.create", "item": item}).run()
    assert call.errors() == [("invalid_type", None)]


def test_items_can_be_retrieved_and_deleted() -> None:
    call = update(Call(one_reply()), 65).send(500, message(id="item_x"))
    call.send(600, {"type": "conversation.item.retrieve", "item_id": "item_x"})
    call.send(700, {"type": "conversation.item.delete", "item_id": "item_x"})
    call.send(800, {"type": "conversation.item.retrieve", "item_id": "item_x"}).run()
    assert call.one("conversation.item.retrieved").event["item"]["content"][0]["text"] == "hello"
    assert call.one("conversation.item.deleted").event["item_id"] == "item_x"
    assert call.errors() == [("item_retrieve_invalid_item_id", None)]


def test_the_replys_item_can_be_retrieved() -> None:
    call = talking()
    item = item_id(call)
    call.send(20_000, {"type": "conversation.item.retrieve", "item_id": item}).run()
    assert call.one("conversation.item.retrieved").event["item"]["status"] == "completed"


# --- input audio


def test_commit_of_nothing_is_an_error() -> None:
    call = update(Call(one_reply()), 65).send(500, {"type": "input_audio_buffer.commit", "event_id": "c"}).run()
    assert call.errors() == [("input_audio_buffer_commit_empty", "c")]


@pytest.mark.parametrize(("ms", "ok"), [(80, False), (100, True)])
def test_commit_needs_a_tenth_of_a_second(ms: int, ok: bool) -> None:
    call = update(Call(one_reply()), 65)
    call.say(100, silence(ms), tail_ms=0)
    call.send(500, {"type": "input_audio_buffer.commit"}).run()
    assert (call.errors() == []) is ok
    assert (call.kinds().count("input_audio_buffer.committed") == 1) is ok


def test_what_was_committed_is_not_there_to_commit_again() -> None:
    call = update(Call(one_reply()), 65)
    call.say(100, silence(200), tail_ms=0)
    call.send(500, {"type": "input_audio_buffer.commit"}).send(600, {"type": "input_audio_buffer.commit"}).run()
    assert call.errors() == [("input_audio_buffer_commit_empty", None)]
    committed = call.one("input_audio_buffer.committed").event["item_id"]
    assert [got.event["item"]["id"] for got in call.of("conversation.item.added")] == [committed]


def test_clear_forgets_what_was_said_so_far() -> None:
    call = update(Call(one_reply()), 65)
    call.say(300, samples_of("booking")[: 24 * 50], tail_ms=3000)
    call.send(360, {"type": "input_audio_buffer.clear"}).run()
    assert call.kinds() == ["session.created", "session.updated", "input_audio_buffer.cleared"]
    assert call.ear.turns == []


def test_clear_leaves_nothing_to_commit() -> None:
    call = update(Call(one_reply()), 65)
    call.say(100, silence(500), tail_ms=0)
    call.send(700, {"type": "input_audio_buffer.clear"}).send(800, {"type": "input_audio_buffer.commit"}).run()
    assert call.errors() == [("input_audio_buffer_commit_empty", None)]


def test_clear_does_not_take_back_a_turn_that_has_begun() -> None:
    call = talking().send(1500, {"type": "input_audio_buffer.clear"}).run()
    assert call.one("input_audio_buffer.cleared").ms == 1520
    assert call.one("input_audio_buffer.speech_started").ms < 1500 < call.one("input_audio_buffer.speech_stopped").ms
    assert call.one("response.done").event["response"]["status"] == "completed"


def test_there_is_no_output_buffer_on_a_websocket() -> None:
    call = update(Call(one_reply()), 65).send(500, {"type": "output_audio_buffer.clear"}).run()
    assert call.errors() == [("invalid_value", None)]


@pytest.mark.parametrize("audio", ["not base64!", "QUJ", None, 7, ["QUJD"]])
def test_audio_that_is_no_base64_is_an_error(audio: Any) -> None:
    event = {"type": "input_audio_buffer.append", "event_id": "a", "audio": audio}
    call = update(Call(one_reply()), 65).send(500, event).run()
    assert call.errors() == [("invalid_value", "a")]
    assert error_of(call)["param"] == "audio"


def test_an_append_of_15_mib_is_taken_and_one_byte_more_is_not() -> None:
    limit = 15 * 1024 * 1024
    call = update(Call(one_reply()), 65)
    call.send(500, append(bytes(limit))).send(600, {**append(bytes(limit + 2)), "event_id": "big"}).run()
    assert call.errors() == [("invalid_value", "big")]
    assert call.realtime.turns.listener.arrivals.total_us == PCM24.duration_us(limit)


def test_an_odd_number_of_pcm_bytes_is_noted_once_and_heard() -> None:
    call = update(Call(one_reply()), 65)
    for k in range(3):
        call.send(300 + k, append(bytes(961)))
    call.run()
    assert call.errors() == []
    assert call.session.final_verdict().notes == ["input_audio_buffer.append with an odd number of PCM16 bytes"]


def test_odd_frames_of_speech_are_heard_all_the_same() -> None:
    call = update(Call(one_reply()), 65)
    data = PCM24.encode(samples_of("booking")) + bytes(48_000)
    for k in range(0, len(data), 960):
        call.send(300 + k / 48, append(data[k : k + 960] + b"\x55"))
    call.run()
    assert [lost for _, _, lost in call.ear.turns] == [0]


# --- what is no event


@pytest.mark.parametrize("raw", ["{", "", "[]", "3", '"text"', "null", b'{"type":"response.create"}', b"\xff\xfe"])
def test_what_is_no_json_object_is_an_error(raw: str | bytes) -> None:
    call = update(Call(one_reply()), 65).send(500, raw).run()
    assert call.errors() == [("invalid_json", None)]
    assert error_of(call)["type"] == "invalid_request_error"


@pytest.mark.parametrize("kind", ["session.start", "response.created", "no such", "", None, 7, {"a": 1}])
def test_an_unknown_event_type_is_an_error(kind: Any) -> None:
    call = update(Call(one_reply()), 65).send(500, {"type": kind, "event_id": "u"}).run()
    assert call.errors() == [("invalid_value", "u")]
    assert error_of(call)["param"] == "type"


@pytest.mark.parametrize("kind", ["error", "unknown", "cut_by_turn", "session_update", "input.audio.buffer.commit"])
def test_names_of_the_engine_are_no_event_types(kind: str) -> None:
    call = update(Call(one_reply()), 65).send(500, {"type": kind}).run()
    assert call.errors() == [("invalid_value", None)]


def test_reports_of_playback_are_polyai_events_only() -> None:
    event = {"type": "poly.output_audio.started", "audio_ms": 0}
    assert update(Call(one_reply("polyai")), 65).send(500, event).run().errors() == []
    assert update(Call(one_reply("openai")), 65).send(500, event).run().errors() == [("invalid_value", None)]


def test_an_error_leaves_the_session_open() -> None:
    call = talking().send(200, "{").send(210, {"type": "nonsense"}).run()
    assert len(call.errors()) == 2
    assert call.one("response.done").event["response"]["status"] == "completed"


# --- the session's configuration


def test_what_the_client_states_is_in_session_updated() -> None:
    tools = [{"type": "function", "name": "end_call"}]
    call = update(Call(one_reply()), 65, instructions="Be kind.", tools=tools, audio={"output": {"voice": "sage"}})
    session = call.run().one("session.updated").event["session"]
    assert session["instructions"] == "Be kind."
    assert session["tools"] == tools
    assert session["audio"]["output"]["voice"] == "sage"
    assert session["audio"]["output"]["speed"] == 1.0
    assert session["audio"]["input"]["turn_detection"]["type"] == "server_vad"
    assert not call.one("session.updated").send.synthetic


def test_a_further_update_is_merged_acknowledged_and_marked() -> None:
    call = update(Call(one_reply()), 65, instructions="One.", audio={"output": {"voice": "sage"}})
    call.send(1000, {"type": "session.update", "session": {"type": "realtime", "instructions": "Two."}}).run()
    first, second = call.of("session.updated")
    assert (first.send.synthetic, second.send.synthetic) == (False, True)
    assert second.ms == 1050
    assert second.event["session"]["instructions"] == "Two."
    assert second.event["session"]["audio"]["output"]["voice"] == "sage"
    verdict = call.session.final_verdict()
    assert verdict.synthetic == ["session.updated"]
    assert verdict.unscripted == ["session.update"]


def test_a_further_update_changes_the_input_format_at_once() -> None:
    call = update(Call(one_reply()), 65)
    from simrt.audio import ULAW8

    from .hand import ULAW_UPDATE

    call.send(299, {"type": "session.update", "session": ULAW_UPDATE})
    call.say(300, samples_of("booking"), ULAW8)
    assert [lost for _, _, lost in call.run().ear.turns] == [0]


@pytest.mark.parametrize("session", [None, "x", []])
def test_an_update_without_a_session_is_an_error(session: Any) -> None:
    call = Call(one_reply()).send(100, {"type": "session.update", "session": session}).run()
    assert call.errors() == [("invalid_type", None)]


@pytest.mark.parametrize(
    ("detection", "param"),
    [
        (DETECTION, "session.audio.input.turn_detection.threshold"),
        ({"type": "semantic_vad"}, "session.audio.input.turn_detection.type"),
        ({"type": "server_vad", "interrupt_response": False}, "session.audio.input.turn_detection.interrupt_response"),
    ],
)
def test_polyai_drops_an_update_whole_for_one_field(detection: dict[str, Any], param: str) -> None:
    """The format beside the field does not apply either: μ-law is lost, PCM is heard."""
    from simrt.audio import ULAW8

    audio = {"input": {"format": {"type": "audio/pcmu"}, "turn_detection": detection}}
    call = update(Call(one_reply("polyai")), 65, instructions="Be kind.", audio=audio)
    call.say(300, samples_of("booking"), ULAW8)
    call.run()
    assert call.errors() == [("unsupported_parameter", None)]
    assert error_of(call)["param"] == param
    assert call.kinds() == ["session.created", "error"]
    assert call.realtime.session.get("instructions") == ""
    assert "session.update" in call.session.final_verdict().unasked


def test_polyai_takes_a_right_update_after_a_wrong_one() -> None:
    call = update(Call(one_reply("polyai")), 65, audio={"input": {"turn_detection": DETECTION}})
    update(call, 200, instructions="Two.", audio={"input": {"turn_detection": {"type": "server_vad"}}}).run()
    assert call.one("session.updated").event["session"]["instructions"] == "Two."


def test_openai_takes_the_tuning() -> None:
    call = update(Call(one_reply("openai")), 65, audio={"input": {"turn_detection": DETECTION}}).run()
    assert call.errors() == []
    assert call.one("session.updated").event["session"]["audio"]["input"]["turn_detection"]["threshold"] == 0.7


@pytest.mark.parametrize("value", [None, {"type": "server_vad", "create_response": True}])
def test_polyai_takes_what_it_honours(value: Any) -> None:
    call = update(Call(one_reply("polyai")), 65, audio={"input": {"turn_detection": value}}).run()
    assert call.errors() == []


@pytest.mark.parametrize("audio", ["loud", {"input": "mic"}, {"input": {"turn_detection": "on"}}, {"input": []}])
@pytest.mark.parametrize("profile", ["openai", "polyai"])
def test_a_malformed_session_does_not_break_the_server(profile: str, audio: Any) -> None:
    call = update(Call(one_reply(profile)), 65, audio=audio)
    call.say(300, samples_of("booking"))
    call.run()
    assert call.kinds()[0] == "session.created"
    if audio != {"input": {"turn_detection": "on"}}:
        assert call.errors() == [("invalid_type", None)]
    assert [lost for _, _, lost in call.ear.turns] == [0]


def test_interrupt_response_false_lets_the_reply_finish() -> None:
    detection = {"type": "server_vad", "interrupt_response": False}
    score = small([turn("booking"), reply("goodbye"), turn("mm-hmm", "reply[0].heard+500ms")], "openai")
    for stated, status in (({}, "cancelled"), ({"input": {"turn_detection": detection}}, "completed")):
        call = update(Call(score), 65, **({"audio": stated} if stated else {}))
        call.say(300, samples_of("booking"), tail_ms=900)
        call.say(reply_starts() + 400, samples_of("mm-hmm"))
        call.run()
        assert len(call.of("input_audio_buffer.speech_started")) == 2
        assert call.one("response.done").event["response"]["status"] == status


# --- names and metadata


def tool_answer(call: Call, ms: float, event: dict[str, Any]) -> None:
    if event.get("type") == "response.done" and event["response"]["output"]:
        item = event["response"]["output"][0]
        if item["type"] == "function_call":
            output = {"id": "item_of_mine", "type": "function_call_output", "call_id": item["call_id"], "output": "42"}
            call.send(ms + 1, {"type": "conversation.item.create", "event_id": "evt_mine", "item": output})
            call.send(ms + 2, {"type": "response.create", "response": {"metadata": {"client_event_id": "r1"}}})


@pytest.mark.parametrize(("profile", "metadata"), [("openai", {"client_event_id": "r1"}), ("polyai", None)])
def test_the_clients_names_are_echoed(profile: str, metadata: Any) -> None:
    score = small([turn("booking"), lookup(), reply("goodbye-short", on="create")], profile)
    call = update(Call(score, react=tool_answer), 65)
    call.say(300, samples_of("booking"))
    call.run()
    added = next(got for got in call.of("conversation.item.added") if got.event["item"].get("output") is not None)
    assert added.event["item"]["id"] == "item_of_mine"
    assert added.event["item"]["output"] == "42"
    assert not added.send.synthetic
    for kind in ("response.created", "response.done"):
        assert [got.event["response"]["metadata"] for got in call.of(kind)] == [None, metadata]
    assert call.session.final_verdict().clean, str(call.session.final_verdict())


def test_beta_names_are_sent_to_a_client_that_asks_for_beta() -> None:
    beta = Request("h", "/v1/realtime", [*REQUEST.headers, ("OpenAI-Beta", "realtime=v1")])
    call = update(Call(one_reply(), request=beta), 65)
    call.say(300, samples_of("booking"))
    call.run()
    kinds = set(call.kinds())
    assert {
        "response.audio.delta",
        "response.audio.done",
        "response.audio_transcript.delta",
        "response.audio_transcript.done",
        "conversation.item.created",
    } <= kinds
    assert not [kind for kind in kinds if "output_audio" in kind or kind == "conversation.item.added"]
    assert all(got.send.kind == got.kind for got in call.got)


def test_made_up_answers_have_beta_names_too() -> None:
    beta = Request("h", "/v1/realtime", [*REQUEST.headers, ("OpenAI-Beta", "realtime=v1")])
    call = update(Call(one_reply(), request=beta), 65).send(500, message(id="item_mine")).run()
    assert call.one("conversation.item.created").event["item"]["id"] == "item_mine"
    assert call.of("conversation.item.added") == []


def test_polyai_refuses_a_client_without_a_name() -> None:
    nameless = Request("h", "/v1/realtime", [])
    refusal = Call(front_desk("polyai"), request=nameless).refusal
    assert refusal is not None
    assert (refusal.status, refusal.body) == (403, "")
    assert Call(front_desk("openai"), request=nameless).refusal is None


def test_audio_comes_in_the_format_that_the_client_agreed() -> None:
    from simrt.audio import ULAW8

    plain = talking().run()
    call = update(Call(one_reply()), 65, audio={"output": {"format": {"type": "audio/pcmu"}}})
    call.say(300, samples_of("booking"))
    call.run()
    sent = [got for got in call.got if got.send.audio]
    assert [got.ms for got in sent] == [got.ms for got in plain.got if got.send.audio]
    for got, before in zip(sent, [got for got in plain.got if got.send.audio], strict=True):
        data = base64.b64decode(got.event["delta"])
        assert data == got.send.audio
        assert ULAW8.duration_us(len(data)) == PCM24.duration_us(len(before.send.audio))
    # the ear hears as much as before, and truncation counts the same milliseconds
    assert [row[2] for row in call.ear.audio] == [row[2] for row in plain.ear.audio]
    (item,) = {got.event["item_id"] for got in sent}
    assert call.realtime.audio_sent_us(item) == 3_000_000


@pytest.mark.parametrize(("profile", "kept"), [("polyai", "You're all"), ("openai", None)])
def test_what_was_not_played_leaves_the_history(profile: str, kept: str | None) -> None:
    call = Call(one_reply(profile, "goodbye"))
    call.say(300, samples_of("booking"))
    call.run()
    item_id = call.one("response.output_audio_transcript.done").event["item_id"]
    at = call.got[-1].ms + 100
    call.send(at, {"type": "conversation.item.truncate", "item_id": item_id, "content_index": 0, "audio_end_ms": 500})
    call.send(at + 50, {"type": "conversation.item.retrieve", "item_id": item_id}).run()
    (content,) = call.one("conversation.item.retrieved").event["item"]["content"]
    assert content["transcript"] == kept
