"""A user's own invariants: when they are asked, and what becomes of what they say."""

from collections.abc import Iterator

import pytest

from clients.call import Call
from simrt import CallError, CallResult, run_call
from simrt.invariant import Broken, Step, always, ask
from simrt.scripts import authored


def test_one_that_holds_breaks_nothing() -> None:
    assert run_call(Call, authored("front-desk"), invariants=[lambda result: []]).broken == []


def test_the_end_is_judged_with_the_result() -> None:
    def short(result: CallResult) -> list[str]:
        return [f"{len(result.replies)} replies"]

    result = run_call(Call, authored("front-desk"), invariants=[short])
    assert result.broken == [Broken("short", "2 replies", result.virtual_ms)]
    assert ask([short], result) == result.broken


def test_an_assertion_is_a_message_too() -> None:
    def fails(result: CallResult) -> None:
        assert result.replies == [], "nobody may speak"

    assert [broken.message[:16] for broken in run_call(Call, authored("front-desk"), invariants=[fails]).broken] == [
        "nobody may speak"
    ]


def test_one_for_every_step_sees_each_control_frame_and_is_heard_once() -> None:
    seen: list[Step] = []

    @always
    def ready(step: Step) -> Iterator[str]:
        seen.append(step)
        if any(before.event.get("type") == "session.updated" for before in seen):
            yield "the session is ready"

    result = run_call(Call, authored("front-desk"), invariants=[ready])
    kinds = [step.event.get("type") for step in seen]
    assert kinds[:3] == ["session.created", "session.update", "session.updated"]
    assert kinds[-1] is None
    assert seen[-1].sender == "end"
    assert not any(str(kind).endswith((".delta", "append")) for kind in kinds)
    (broken,) = result.broken
    assert broken.t_ms == result.ready_ms
    assert broken.frame is not None
    updated = result.traces[broken.connection].frames[broken.frame].event() or {}
    assert updated["type"] == "session.updated"


@pytest.mark.parametrize("mark", [always, lambda check: check], ids=["at a step", "at the end"])
def test_one_that_raises_is_named_and_the_call_is_kept(mark: object) -> None:
    def books(what: object) -> list[str]:
        raise KeyError("no such table")

    with pytest.raises(CallError, match="the invariant books raised KeyError: 'no such table'") as caught:
        run_call(Call, authored("front-desk"), invariants=[mark(books)])  # type: ignore[operator]
    assert caught.value.result is not None
    assert isinstance(caught.value.__cause__, CallError)


def test_a_call_that_ends_badly_is_asked_about_as_well() -> None:
    async def crashes(line: object) -> None:
        raise ValueError("no")

    with pytest.raises(CallError, match="ValueError") as caught:
        run_call(crashes, authored("front-desk"), invariants=[lambda result: "paid twice"])
    assert caught.value.result is not None
    assert [broken.message for broken in caught.value.result.broken] == ["paid twice"]
