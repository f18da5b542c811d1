import pytest

from simrt.faults import BargeIn, parse_plan
from tests.replay.hand import Call, answer_tools, samples_of, update

from .calls import called, replies
from .runs import fired, front_desk, plain, refused, times, whole_call


def talked_over(*faults: str) -> Call:
    """The front desk whose caller really says what the faults say, half a second into the goodbye."""
    spoken: list[float] = []

    def react(call: Call, ms: float, event: dict[str, object]) -> None:
        answer_tools(call, ms, event)
        if call.got[-1].send.reply == 1 and call.got[-1].send.audio and not spoken:
            spoken.append(ms)
            call.say(ms + 500, samples_of("one-more-thing"), tail_ms=5000)

    call = Call(front_desk(), faults, react=react)
    update(call, 70)
    track = samples_of("booking")
    call.say(300, track, tail_ms=11_200)
    call.say(300 + 20 + len(track) / 24 + 11_200, samples_of("nothing-else"), tail_ms=900)
    return call.run()


def test_the_caller_says_it_at_that_place_in_the_reply() -> None:
    (fault,) = parse_plan(["barge-in:reply=-1,at=700ms"])
    (say,) = fault.says(front_desk())
    assert say.parallel
    assert say.clip.name == "one-more-thing"
    assert (say.cue.anchor, say.cue.reply, say.cue.offset_us) == ("heard", 1, 700_000)


def test_the_turn_is_taken_and_the_reply_cut_off() -> None:
    call = talked_over("barge-in:answer=breakfast")
    statuses = [got.event["response"]["status"] for got in call.of("response.done")]
    assert statuses == ["completed", "completed", "cancelled", "completed"]
    assert [text for _, text, _ in call.ear.turns][-1] == "Oh wait, one more thing. Is breakfast included?"
    assert [(reply, cut) for reply, _, cut in call.ear.ended] == [(0, False), (1, True), ("answer-0", False)]
    assert fired(call)[0] == (times(call, "input_audio_buffer.speech_started")[-1], "barge-in:answer=breakfast")


def test_without_an_answer_the_server_takes_the_turn_and_says_nothing() -> None:
    call = talked_over("barge-in")
    assert len(call.ear.turns) == 3
    assert times(call, "response.created")[-1] < times(call, "input_audio_buffer.speech_started")[-1]
    assert [reply for reply, _, _ in call.ear.ended] == [0, 1]


def test_a_client_that_asks_for_a_response_then_gets_the_reply_again() -> None:
    call = talked_over("barge-in")
    call.send(call.got[-1].ms + 100, {"type": "response.create"})
    call.run(1e6)
    assert [(reply, cut) for reply, _, cut in call.ear.ended] == [(0, False), (1, True), ("again-0", False)]
    assert call.errors() == []


def test_after_the_last_reply_the_caller_thanks_and_hears_it_again() -> None:
    result = called("barge-in:answer=breakfast")
    assert replies(result) == [(0, False), (1, True), ("answer-0", False), ("again-0", False)]
    assert [turn.transcript for turn in result.caller_turns][-1] == "Great, that's all. Bye."
    assert result.closed_by == "client"
    assert result.verdict.clean


def test_after_another_reply_the_caller_goes_on_when_the_answer_is_over() -> None:
    result = called("barge-in:reply=0,at=1s,answer=breakfast")
    assert replies(result) == [(0, True), ("answer-0", False), (1, False)]
    assert result.verdict.clean


def test_the_answer_is_named_by_the_place_in_the_plan() -> None:
    call = talked_over("latency:add=0ms", "barge-in:answer=breakfast")
    assert [reply for reply, _, _ in call.ear.ended] == [0, 1, "answer-1"]


def test_the_client_is_expected_to_truncate_and_to_answer_the_hang_up() -> None:
    call = talked_over("barge-in:answer=breakfast")
    assert call.session.final_verdict().unasked == [
        "conversation.item.truncate",
        "conversation.item.create:function_call_output",
    ]


def test_never_said_it_is_unfired_and_changes_nothing() -> None:
    call = whole_call(front_desk(), ["barge-in:answer=breakfast"])
    assert call.session.final_verdict().unfired == ["barge-in:answer=breakfast"]
    assert call.rows() == plain().rows()


def test_ids_of_what_is_added_do_not_collide() -> None:
    call = talked_over("barge-in:answer=breakfast")
    ids = [got.event["event_id"] for got in call.got]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("barge-in:reply=5", "reply=5 is not there"),
        ("barge-in:at=6s", "at=6000ms lies beyond"),
    ],
)
def test_a_place_that_is_not_there_can_never_fire(fault: str, why: str) -> None:
    assert why in refused(fault)


@pytest.mark.parametrize("field", ["clip", "answer"])
def test_a_clip_that_does_not_exist_is_told_before_the_call(field: str) -> None:
    from simrt.caller.clip import ClipError

    with pytest.raises(ClipError, match="no clip named 'sneeze'"):
        refused(f"barge-in:{field}=sneeze")


def test_the_shipped_clip_is_the_default() -> None:
    assert BargeIn().clip == "one-more-thing"
