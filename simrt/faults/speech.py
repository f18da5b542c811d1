"""What the faults share in which the caller is heard."""

from __future__ import annotations

from simrt.caller.clip import Clip, fixture_clip
from simrt.caller.cue import Cue
from simrt.cassette.script import Hearing, Reply, Turn
from simrt.faults.base import Fault
from simrt.replay.score import Score

REST_US = 1_500_000  # having spoken, the caller gives the server time to end the turn and to begin an answer


def turn_of(clip: Clip, cue: Cue, hearing: Hearing = "turn") -> Turn:
    """A clip as a scripted turn."""
    return Turn(clip.text, str(cue), list(clip.words), clip.samples, clip.name, hearing)


def reply_of(name: str) -> Reply:
    """A clip as a scripted reply."""
    said = fixture_clip(name)
    return Reply(text=said.text, words=list(said.words), samples=said.samples)


def heard_cue(fault: Fault, score: Score, reply: int, at_ms: int) -> Cue:
    """When that much of a reply has been heard."""
    return Cue("heard", fault.find_reply(score, reply)[0], at_ms * 1000)


def check_place(fault: Fault, score: Score, reply: int, at_ms: int) -> None:
    """The reply must be there and last longer than `at_ms`."""
    _, length = fault.find_reply(score, reply)
    if at_ms >= length:
        raise fault.never(f"reply {reply} has {length} ms of audio, at={at_ms}ms lies beyond")


def check_new(fault: Fault, score: Score, clip: Clip) -> None:
    """The clip must be one that the caller does not say anyway: the server's ear could not tell which it hears."""
    if score.dialect not in ("realtime", "live"):
        raise fault.never(f"it is about turns, and the protocol is not known: {score.dialect}")
    if any(turn.text and turn.text == clip.text for turn in score.turns):
        raise fault.never(f"the caller of this cassette says {clip.name!r} anyway; name another clip")
