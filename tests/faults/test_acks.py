"""Acknowledgements that come late, never, or in another order."""

import pytest

from .live_runs import by_hand, called, fired, marks, never, sent
from .runs import refused

ACK = "session.commentary.appended"
THOUGHT = "session.thinking.appended"


def test_a_late_one_comes_so_much_later() -> None:
    plain, late = by_hand(), by_hand("late-ack:for=2s")
    assert round(late.one(ACK).ms - plain.one(ACK).ms) == 2000
    assert fired(late) == [(late.one(ACK).ms, "late-ack")]
    assert late.said() == plain.said()


def test_those_behind_a_late_one_wait_for_it() -> None:
    call = called("late-ack:for=3s", cassette="verified")
    first, second = (sent(call, f"session.{kind}.appended")[0][0] for kind in ("instructions", "commentary"))
    plain = sent(called(cassette="verified"), "session.instructions.appended")[0][0]
    assert first - plain == pytest.approx(3000, abs=1)
    assert second >= first


def test_a_lost_one_never_comes_and_the_agent_says_it() -> None:
    call = by_hand("lost-ack")
    assert call.of(ACK) == []
    assert call.said().endswith("arrives tomorrow.")
    assert len(fired(call)) == 1


def test_the_next_one_comes_first() -> None:
    call = called("ack-reorder", cassette="verified")
    order = [sent(call, f"session.{kind}.appended")[0][0] for kind in ("commentary", "instructions")]
    frames = [str((frame.event() or {}).get("type")) for frame in call.trace.sent_by("server")]
    acks = [kind for kind in frames if kind.endswith(".appended")]
    assert acks == [ACK, "session.instructions.appended"]
    assert order == sorted(order)
    assert marks(call) == ["ack-reorder"]


def test_without_a_next_one_it_is_late() -> None:
    plain, call = called(cassette="slow-lookup"), called("ack-reorder:within=500ms", cassette="slow-lookup")
    assert sent(call, THOUGHT)[0][0] - sent(plain, THOUGHT)[0][0] == pytest.approx(500, abs=1)
    assert len(sent(call, THOUGHT)) == len(sent(call, ACK)) == 1


@pytest.mark.parametrize("fault", ["late-ack:nth=1", "lost-ack:nth=1", "ack-reorder", "lost-ack:nth=-1"])
def test_the_client_must_append_so_much(fault: str) -> None:
    assert "the client sends 1 events" in never(fault)


@pytest.mark.parametrize("fault", ["late-ack", "lost-ack", "ack-reorder"])
def test_only_live_acknowledges_appends(fault: str) -> None:
    assert "it is about the Live protocol" in refused(fault)


@pytest.mark.parametrize("fault", ["late-ack", "late-ack:for=5s", "lost-ack", "ack-reorder"])
def test_the_right_client_does_not_mind(fault: str) -> None:
    result = called(fault, cassette="verified")
    assert result.findings == []
    assert [reply.heard_text for reply in result.replies] == [r.heard_text for r in called(cassette="verified").replies]


def test_what_was_said_waits_for_nothing_at_the_close() -> None:
    assert called("lost-ack", cassette="unknown-number").findings == []
