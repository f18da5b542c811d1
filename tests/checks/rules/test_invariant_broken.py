from collections.abc import Iterator
from pathlib import Path

import pytest

from clients.call import Call
from clients.refund import CallIdDesk, PassiveDesk, RefundDesk
from simrt import CallResult, run_call
from simrt.checks import Case, judge
from simrt.invariant import Step, always
from simrt.trial import staged


@pytest.mark.parametrize(
    ("desk", "script", "message"),
    [
        (CallIdDesk, "repeat-call", "was refunded 2 times"),
        (PassiveDesk, "missed-confirmation", "was never heard by the caller"),
        (RefundDesk, "repeat-call", None),
        (RefundDesk, "missed-confirmation", None),
    ],
)
def test_the_refund_desks_books(desk: type, script: str, message: str | None) -> None:
    with staged(desk, script) as call:
        assert call.result is not None
        found = judge(Case.of_result(call.result), select=["EFF"])
    if message is None:
        assert found == []
    else:
        assert any(message in finding.message for finding in found)
        assert {finding.evidence["invariant"] for finding in found} == {"reconciled"}


def test_one_that_holds_at_every_step_names_the_frame_where_it_broke() -> None:
    asked: list[str] = []

    @always
    def once(step: Step) -> Iterator[str]:
        if step.event.get("type") == "response.function_call_arguments.done":
            asked.append(str(step.event["call_id"]))
        if len(asked) > 1:
            yield "a second call"

    result = run_call(Call, "front-desk", invariants=[once])
    (found,) = judge(Case.of_result(result), select=["EFF501"])
    assert found.frame is not None
    event = result.traces[found.connection].frames[found.frame].event() or {}
    assert event["call_id"] == asked[1]


def test_one_may_be_asked_when_the_call_is_over(tmp_path: Path) -> None:
    def fails(result: CallResult) -> str:
        return "no"

    result = run_call(Call, "front-desk", invariants=[fails])
    case = Case.of_result(result)
    assert len(judge(case, select=["EFF"], invariants=[fails])) == 1
    assert len(judge(Case.of_result(run_call(Call, "front-desk")), select=["EFF"], invariants=[fails])) == 1
