from msgspec.structs import replace

from simrt.cassette.script import Turn
from simrt.replay.edit import applied, next_index, next_response, patched, with_turn
from tests.replay.hand import front_desk, reply, samples_of, turn


def test_a_frame_is_left_out_and_another_put_in_its_place() -> None:
    score = front_desk()
    first, second = score.frames[0], score.frames[1]
    other = replace(second, kind="something.else")
    made = patched(score, {first.index: None, second.index: other}, ())
    assert made.frames[0] is other
    assert len(made.frames) == len(score.frames) - 1
    assert other in made.answers[second.cause]
    assert first not in made.answers.get(first.cause, [])
    assert score.frames[0] is first


def test_what_is_added_is_not_the_cassettes_own() -> None:
    score = front_desk()
    more = replace(score.frames[0], index=next_index(score))
    made = patched(score, {}, [more])
    assert more in made.frames
    assert more not in made.own_frames
    assert len(made.own_frames) == len(score.frames)


def test_new_numbers_are_new() -> None:
    score = front_desk()
    assert next_index(score) not in {frame.index for frame in score.frames}
    assert next_response(score) not in {frame.response for frame in score.frames}


def test_applied_keeps_the_order() -> None:
    frames = front_desk().frames[:4]
    assert applied(frames, {frames[1].index: None}) == [frames[0], frames[2], frames[3]]


def test_a_turn_brings_its_events_and_the_answer_its_own() -> None:
    score = front_desk()
    made = with_turn(score, turn("thats-all", "reply[0].end"), 7, answer=reply("breakfast"))
    assert made.turns[-1].text == "Great, that's all. Bye."
    assert made.replies[-1].index == "answer-7"
    new = made.frames[len(score.frames) :]
    assert {frame.cause[0] for frame in new} == {"turn.start", "turn.stop"}
    assert all(str((frame.event or {})["event_id"]).startswith("event_extra7_") for frame in new)
    assert len(score.turns) == 2


def test_a_turn_over_a_reply_has_to_be_truncated_for() -> None:
    score = front_desk()
    made = with_turn(score, turn("thats-all", "reply[1].heard"), 0, over=1)
    kinds = [event.kind for event in made.client_events[len(score.client_events) :]]
    assert kinds == ["conversation.item.truncate", "conversation.item.create:function_call_output"]


def test_a_turn_that_nobody_hears_brings_nothing() -> None:
    soft = Turn("Mm-hmm.", "pickup", [], samples_of("mm-hmm"), "mm-hmm", "unheard")
    score = front_desk()
    made = with_turn(score, soft, 0)
    assert len(made.frames) == len(score.frames)
    assert made.turns[-1].hearing == "unheard"
