from itertools import pairwise

import pytest

from .calls import called, marks, replies
from .runs import refused


def gaps_ms(result: object) -> list[float]:
    """The pauses between the client's appends that are longer than two frames."""
    frames = [f for f in result.trace.sent_by("client") if "input_audio_buffer.append" in str(f.payload)[:60]]  # type: ignore[attr-defined]
    times = [frame.t_us / 1000 for frame in frames]
    return [b - a for a, b in pairwise(times) if b - a > 40]


def test_what_was_to_be_said_is_said_later() -> None:
    plain, result = called(), called("mute:reply=0,at=1s,for=20s")
    before, after = (r.caller_turns[1].said_ms for r in (plain, result))
    first = result.replies[0].from_ms
    assert first is not None
    assert after == pytest.approx(first + 1000 + 20_000, abs=21)
    assert after > before
    assert replies(result) == replies(plain)
    assert gaps_ms(result) == []
    assert marks(result) == ["mute:at=1000ms,reply=0,for=20000ms"]


def test_or_never() -> None:
    result = called("mute:reply=0")
    assert [turn.clip for turn in result.caller_turns] == ["booking"]
    assert result.verdict.unsaid
    assert "nobody has said anything for 60 s" in result.log[-1]


def test_nothing_at_all_may_come_from_the_microphone() -> None:
    result = called("mute:reply=0,at=1s,for=20s,send=nothing")
    (gap,) = gaps_ms(result)
    assert gap == pytest.approx(20_000, abs=41)
    assert replies(result) == replies(called())


def test_a_mute_from_the_beginning() -> None:
    assert called("mute:at=0s,for=3s").caller_turns[0].said_ms == pytest.approx(3000, abs=1)


def test_a_place_that_is_not_there_can_never_fire() -> None:
    assert "lies beyond" in refused("mute:reply=0,at=20s")
