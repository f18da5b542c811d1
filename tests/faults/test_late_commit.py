import pytest

from tests.replay.live_hand import DELEGATED

from .live_runs import by_hand, called, fired, never
from .runs import refused

COMMITTED = "kugel.input_transcript.committed"


@pytest.mark.parametrize("after", [0, 100, 2000])
def test_it_comes_behind_the_delegation(after: int) -> None:
    call = by_hand(f"late-commit:after={after}ms", profile="kugel", kugel={})
    committed = call.of(COMMITTED)[0]
    assert committed.ms - call.one(DELEGATED).ms == pytest.approx(after, abs=0.1)
    assert len(fired(call)) == 1


def test_else_it_comes_before() -> None:
    call = by_hand(profile="kugel", kugel={})
    assert call.of(COMMITTED)[0].ms < call.one(DELEGATED).ms


def test_lost_altogether_is_a_drop() -> None:
    call = by_hand(f"drop:event={COMMITTED},nth=0", profile="kugel", kugel={})
    assert call.of(COMMITTED) == []
    assert len(fired(call)) == 1


def test_openai_has_none() -> None:
    assert f"no '{COMMITTED}' event" in never("late-commit")
    assert "it is about the Live protocol" in refused("late-commit")


@pytest.mark.parametrize("fault", ["late-commit:nth=0", "late-commit:nth=0,after=2s", f"drop:event={COMMITTED},nth=0"])
@pytest.mark.parametrize("cassette", ["parcel-status", "cancel-yes-then-no"])
def test_the_right_client_has_the_words_from_the_deltas(fault: str, cassette: str) -> None:
    result = called(fault, cassette=cassette)
    assert result.findings == []
    assert [reply.heard_text for reply in result.replies] == [r.heard_text for r in called(cassette=cassette).replies]
