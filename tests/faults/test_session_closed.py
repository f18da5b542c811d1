import pytest

from simrt.faults.base import End
from tests.replay.live_hand import DELEGATED

from .live_runs import by_hand, called, fired, never, sent
from .runs import refused


@pytest.mark.parametrize("reason", ["content", "expired", "connection_lost", "remote_hangup"])
def test_the_server_says_why_and_closes(reason: str) -> None:
    call = by_hand(f"session-closed:event={DELEGATED},reason={reason}")
    closed = call.one("session.closed")
    assert closed.event["reason"] == reason
    assert closed is call.got[-1]
    assert call.end is not None
    assert call.end[1] == End(1005)
    assert [ms for ms, _ in fired(call)] == [call.one(DELEGATED).ms]


def test_what_was_not_placed_is_told_first() -> None:
    delegated = round(by_hand().one(DELEGATED).ms)
    call = by_hand(f"session-closed:at={delegated + 350}ms", until_ms=delegated + 250)  # no audio, and an append
    assert call.codes() == ["context_injection_incomplete"]
    assert [got.kind for got in call.got[-2:]] == ["error", "session.closed"]


def test_a_recording_that_was_closed_by_its_client_says_it_too() -> None:
    result = called("session-closed:reply=1,at=1s,reason=expired")
    assert [event["reason"] for _, event in sent(result, "session.closed")] == ["expired"]
    assert result.findings == []
    assert any("closed the session (expired)" in note for note in result.log)


def test_when_must_be_said() -> None:
    assert "say when" in never("session-closed")
    assert "it is about the Live protocol" in refused("session-closed:at=1s")


def test_the_realtime_way_to_expire_is_not_lives() -> None:
    assert "use session-closed:reason=expired" in never("expire:at=1s")
