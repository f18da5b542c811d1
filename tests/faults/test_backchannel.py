import pytest

from simrt.caller.clip import ClipError
from simrt.replay.build import score_of
from simrt.scripts import authored

from .calls import called, kinds, marks, replies
from .runs import refused


def test_nobody_takes_notice() -> None:
    plain, result = called(), called("backchannel:reply=0,at=2s")
    assert kinds(result) == kinds(plain)
    assert replies(result) == [(0, False), (1, False)]
    assert result.verdict.clean


def test_it_was_said_all_the_same() -> None:
    result = called("backchannel:reply=0,at=2s")
    said = next(utterance for utterance in result.utterances if utterance.clip.name == "mm-hmm")
    first = result.replies[0].from_ms
    assert first is not None
    assert said.started_us / 1000 == pytest.approx(first + 2000, abs=21)
    assert marks(result) == ["backchannel:reply=0,at=2000ms"]


def test_what_the_caller_says_anyway_could_not_be_told_apart() -> None:
    score = score_of(authored("mm-hmm"))
    assert "the caller of this cassette says 'mm-hmm' anyway" in refused("backchannel", score)


def test_a_place_or_a_clip_that_is_not_there() -> None:
    assert "at=9000ms lies beyond" in refused("backchannel:at=9s")
    with pytest.raises(ClipError, match="sneeze"):
        refused("backchannel:clip=sneeze")
