import pytest

from clients.refund import RefundDesk
from simrt.replay.build import score_of
from simrt.scripts import authored

from .calls import called, marks, replies
from .runs import refused


def test_the_server_answers_and_the_caller_goes_on_after_it() -> None:
    result = called("extra-turn:answer=breakfast")
    assert replies(result) == [(0, False), ("answer-0", False), (1, False)]
    assert [turn.clip for turn in result.caller_turns] == ["booking", "still-there", "nothing-else"]
    assert [turn.words_lost for turn in result.caller_turns] == [0, 0, 0]
    assert marks(result) == ["extra-turn:answer=breakfast"]
    assert result.verdict.clean


def test_in_the_gap_a_tools_result_meets_an_active_response() -> None:
    score = score_of(authored("refund"))
    result = called("extra-turn", client=RefundDesk, cassette=score)
    assert replies(result) == [(0, False), ("answer-0", False), (1, False), (2, False)]
    assert any("told: R-4417" in line and "untold" not in line for line in result.log)


def test_what_is_said_into_a_dead_line_is_no_turn() -> None:
    assert called("extra-turn:reply=1").verdict.unfired == ["extra-turn:reply=1"]


@pytest.mark.parametrize(
    ("fault", "why"),
    [("extra-turn:reply=2", "reply=2 is not there"), ("extra-turn:clip=booking", "says 'booking' anyway")],
)
def test_what_cannot_be_can_never_fire(fault: str, why: str) -> None:
    assert why in refused(fault)
