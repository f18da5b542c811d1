"""Delegations that come late, twice, or for nothing; commentary that is said late or never."""

import pytest

from tests.replay.live_hand import DELEGATED, SAID

from .live_runs import by_hand, called, fired, marks, never, sent
from .runs import refused


def test_it_comes_while_the_agent_speaks() -> None:
    call = called("late-delegation:at=500ms")
    delegated = sent(call, DELEGATED)[0][0]
    holding = next(reply for reply in call.replies if reply.reply == "holding-0")
    assert holding.from_ms is not None
    assert holding.from_ms + 300 <= delegated <= holding.from_ms + holding.audio_ms
    assert marks(call) == ["late-delegation"]


def test_the_agents_own_line_will_do() -> None:
    call = called("late-delegation:at=100ms", cassette="slow-lookup")
    assert [reply.reply for reply in call.replies] == [0, 1, 2, 3]
    own = call.replies[1]
    assert own.from_ms is not None
    assert own.from_ms <= sent(call, DELEGATED)[0][0] <= own.from_ms + own.audio_ms


def test_two_are_open_at_once() -> None:
    call = called("second-delegation:after=1s", cassette="slow-lookup")
    (first, one), (second, other) = sent(call, DELEGATED)
    assert round(second - first) == 1000
    assert one["delegation"]["id"] != other["delegation"]["id"]
    assert one["offset_ms"] == other["offset_ms"]
    assert marks(call) == ["second-delegation:after=1000ms"]
    assert [d.outcome for d in call.delegations] == ["answered", "progress only"]


def test_the_server_knows_the_second_one() -> None:
    call = by_hand("second-delegation")
    assert call.codes() == []
    assert len(call.of("session.commentary.appended")) == 2


def test_nobody_has_asked() -> None:
    call = by_hand("stray-delegation:reply=0,at=500ms")
    stray, real = call.of(DELEGATED)
    assert stray.ms < real.ms
    assert stray.event["delegation"]["id"] == "item_stray0"
    assert 0 < stray.event["offset_ms"] < real.event["offset_ms"]
    assert fired(call) == [(stray.ms, "stray-delegation:at=500ms,reply=0")]


def test_it_is_placed_and_never_said() -> None:
    call = by_hand("unspoken")
    assert len(call.of("session.commentary.appended")) == 1
    assert "4711" not in call.said()
    assert [name for _, name in fired(call)] == ["unspoken"]


def test_told_again_the_agent_says_it() -> None:
    call = called("unspoken")
    assert [reply.reply for reply in call.replies] == [0, 1, 2]
    assert call.findings == []
    assert len(sent(call, "session.commentary.appended")) == 2


def test_it_is_said_later() -> None:
    plain, late = by_hand(), by_hand("late-commentary:by=2s")

    def began(call: object) -> float:
        return next(got.ms for got in call.of(SAID) if "Order" in got.event["delta"])  # type: ignore[attr-defined]

    assert began(late) - began(plain) == pytest.approx(2000, abs=150)
    assert late.said() == plain.said()
    assert len(fired(late)) == 1


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("late-delegation:nth=1", "has 1 'session.delegation.created' events"),
        ("late-delegation:at=1m", "no duration"),
        ("late-delegation:at=9s", "lies beyond"),
        ("second-delegation:nth=3", "nth=3 is not there"),
        ("stray-delegation", "say when"),
        ("unspoken:nth=1", "the client sends 1 events"),
        ("late-commentary:nth=-1", "nth=-1 is not there"),
    ],
)
def test_what_can_never_fire_is_said(fault: str, why: str) -> None:
    assert why in never(fault)


@pytest.mark.parametrize(
    "fault", ["late-delegation", "second-delegation", "stray-delegation:at=1s", "unspoken", "late-commentary"]
)
def test_only_live_delegates(fault: str) -> None:
    assert "it is about the Live protocol" in refused(fault)


@pytest.mark.parametrize("cassette", ["parcel-status", "slow-lookup"])
@pytest.mark.parametrize(
    "fault",
    [
        "late-delegation",
        "second-delegation",
        "second-delegation:nth=0,after=0s",
        "stray-delegation:reply=0",
        "late-commentary",
    ],
)
def test_the_right_client_does_not_mind(fault: str, cassette: str) -> None:
    result = called(fault, cassette=cassette)
    assert result.findings == []
    assert result.verdict.unfired == []
    plain = called(cassette=cassette)
    assert result.closed_by == plain.closed_by
    assert [r.heard_text for r in plain.replies] == [r.heard_text for r in result.replies if r.reply != "holding-0"]
