from tests.replay.hand import Call, samples_of, update

from .calls import called, kinds, marks, replies
from .runs import front_desk, refused


def test_the_reply_is_cut_before_it_is_heard_and_comes_after_all_was_said() -> None:
    result = called("speaks-on:turn=1")
    assert replies(result) == [(0, False), (1, False)]
    events = [frame.event() or {} for frame in result.trace.sent_by("server")]
    statuses = [event["response"]["status"] for event in events if event["type"] == "response.done"]
    assert statuses == ["completed", "completed", "cancelled", "completed"]
    assert [turn.transcript for turn in result.caller_turns][-1] == "Wait, hang on a second."
    assert marks(result) == ["speaks-on:turn=1"]
    assert result.verdict.clean


def test_an_item_without_audio_cannot_be_truncated() -> None:
    def react(call: Call, ms: float, event: dict[str, object]) -> None:
        if event.get("type") == "input_audio_buffer.speech_started" and len(call.of("response.content_part.added")):
            part = call.of("response.content_part.added")[-1].event
            where = {"item_id": part["item_id"], "content_index": 0, "audio_end_ms": 0}
            call.send(ms, {"type": "conversation.item.truncate", **where})

    call = update(Call(front_desk(), ["speaks-on:turn=1"], react=react), 70)
    call.say(300, samples_of("nothing-else"), tail_ms=1200)
    end = 300 + 20 + len(samples_of("nothing-else")) / 24 + 1200
    call.say(end, samples_of("hang-on"), tail_ms=9000)
    call.run()
    assert [code for code, _ in call.errors()] == ["unsupported_content_type"]
    assert [reply for reply, _, _ in call.ear.ended] == [1]


def test_the_pause_decides_how_far_the_server_had_come() -> None:
    early, late = called("speaks-on:turn=1,after=700ms"), called("speaks-on:turn=1,after=2s")
    assert replies(early) == replies(late) == [(0, False), (1, False)]
    assert kinds(late).count("response.content_part.added") >= kinds(early).count("response.content_part.added")


def test_where_there_is_no_spoken_reply_it_can_never_fire() -> None:
    assert "no spoken reply follows turn 0 at once" in refused("speaks-on")
    assert "no spoken reply follows turn 7" in refused("speaks-on:turn=7")
    assert "does not end the turn" in refused("speaks-on:turn=1,after=500ms")
