"""Which moments of a score are interesting."""

import pytest

from simrt.explore.moments import moments
from simrt.replay.build import score_of
from simrt.replay.score import Score
from simrt.trace import Opening


def test_the_goodbye_comes_first_and_the_kinds_take_turns() -> None:
    found = moments(score_of("front-desk"))
    assert (found[0].what, found[0].reply) == ("in the last reply", 1)
    assert len({moment.what for moment in found[:10]}) == 10
    assert len(set(found)) == len(found)


def test_a_realtime_call_has_all_kinds() -> None:
    whats = {moment.what for moment in moments(score_of("refund"))}
    assert whats >= {
        "in the last reply",
        "in a reply",
        "a response has ended",
        "a tool is called",
        "a tool's result has been taken",
        "before the first audio of a reply",
        "the caller begins to speak",
        "the caller has spoken",
        "the session is ready",
    }


def test_a_live_call_has_its_own() -> None:
    whats = {moment.what for moment in moments(score_of("parcel-status"))}
    assert whats >= {
        "in the last reply",
        "work is delegated",
        "a commentary was taken",
        "the caller has spoken",
        "the caller's words come",
        "the session is ready",
    }


@pytest.mark.parametrize("name", ["front-desk", "refund", "front-desk-authored", "parcel-status"])
def test_events_and_places_are_where_they_are_said_to_be(name: str) -> None:
    score = score_of(name)
    lengths = {reply.index: reply.audio_us // 1000 for reply in score.replies}
    for moment in moments(score):
        if moment.event is None:
            assert moment.reply is not None
            assert 0 <= moment.at_ms < lengths[moment.reply]
        else:
            (frame,) = (f for f in score.own_frames if f.kind == moment.event and f.nth == moment.nth)
            assert frame.event is not None


def test_the_taking_of_a_tools_result_is_told_from_other_items() -> None:
    score = score_of("front-desk")
    (taken,) = (moment for moment in moments(score) if moment.what == "a tool's result has been taken")
    (frame,) = (f for f in score.own_frames if (f.kind, f.nth) == (taken.event, taken.nth))
    assert frame.event is not None
    assert frame.event["item"]["type"] == "function_call_output"


def test_of_a_protocol_that_is_not_known_each_type_is_one() -> None:
    score = score_of("front-desk")
    unknown = Score("generic", "", Opening(), score.own_frames, {})
    kinds = {moment.event for moment in moments(unknown)}
    assert kinds == {frame.kind for frame in score.own_frames}


def test_nothing_is_interesting_in_nothing() -> None:
    assert moments(Score("realtime", "openai", Opening(), [], {})) == []
