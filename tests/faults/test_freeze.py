import pytest

from tests.replay.live_hand import AUDIO, DELEGATED, HEARD

from .live_runs import by_hand, fired, never
from .runs import refused


def test_nothing_is_sent_while_the_timeline_stands() -> None:
    call = by_hand("freeze:at=6s,for=1500ms")
    assert fired(call) == [(6000, "freeze:at=6000ms")]
    before = max(got.ms for got in call.got if got.ms < 7000)
    after = min(got.ms for got in call.got if got.ms > before)
    assert before <= 6000
    assert after >= 7500


def test_all_comes_then_and_that_much_later() -> None:
    plain, frozen = by_hand(), by_hand("freeze:at=4s,for=1500ms")
    for kind in (HEARD, DELEGATED):
        gone = [got.ms for got in plain.of(kind)]
        late = [got.ms for got in frozen.of(kind)]
        assert min(gone) > 4000
        assert [b - a for a, b in zip(gone, late, strict=True)] == pytest.approx([1500] * len(gone), abs=20)
    assert frozen.said() == plain.said()


def test_the_order_is_kept() -> None:
    plain, frozen = by_hand(), by_hand("freeze:reply=0,at=500ms,for=800ms")
    assert [got.send.reply for got in frozen.speech()] == [got.send.reply for got in plain.speech()]
    assert [got.ms for got in frozen.of(AUDIO)] == sorted(got.ms for got in frozen.of(AUDIO))
    assert len(fired(frozen)) == 1


def test_what_is_appended_meanwhile_is_acknowledged_afterwards() -> None:
    call = by_hand(f"freeze:event={DELEGATED},for=3s", until_ms=25_000)
    delegated = call.one(DELEGATED).ms
    assert call.one("session.commentary.appended").ms > delegated + 3000


@pytest.mark.parametrize(("fault", "why"), [("freeze", "say when"), ("freeze:at=1s,for=0s", "for how long")])
def test_when_and_how_long_must_be_said(fault: str, why: str) -> None:
    assert why in never(fault)


def test_only_live_has_a_timeline() -> None:
    assert "it is about the Live protocol" in refused("freeze:at=1s")
