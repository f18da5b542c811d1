"""Scores that are changed before a call: frames left out or put in, turns of the caller added.

Scores are shared by calls: nothing here changes one in place.
"""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import msgspec

from simrt.caller.cue import ReplyKey
from simrt.cassette.script import Reply, Turn
from simrt.replay.authored import OUTPUT, Author
from simrt.replay.authored_live import LiveAuthor
from simrt.replay.score import Cause, LiveScore, Score, ScoredFrame
from simrt.replay.vad import VadName

Changes = dict[int, ScoredFrame | None]
"""By index, what stands in the place of a frame; None: it is left out."""


def patched(score: Score, changes: Changes, more: Sequence[ScoredFrame], **fields: Any) -> Score:
    """The score with these changes, with more frames, and with other values of its own fields if any."""
    cut = len(score.own_frames)
    own = applied(score.frames[:cut], changes)
    frames = [*own, *applied(score.frames[cut:], changes), *more]
    answers: dict[Cause, list[ScoredFrame]] = {}
    for frame in frames:
        answers.setdefault(frame.cause, []).append(frame)
    return msgspec.structs.replace(score, frames=frames, own=len(own), answers=answers, **fields)


def applied(frames: Sequence[ScoredFrame], changes: Changes) -> list[ScoredFrame]:
    """The frames as the changes make them."""
    made = (changes.get(frame.index, frame) for frame in frames)
    return [frame for frame in made if frame is not None]


def next_index(score: Score) -> int:
    """An index that no frame has."""
    return 1 + max((frame.index for frame in score.frames), default=0)


def next_response(score: Score) -> int:
    """A response number that no frame has."""
    return 1 + max((frame.response or 0 for frame in score.frames), default=0)


def with_turn(
    score: Score,
    turn: Turn,
    number: int | str,
    over: ReplyKey | None = None,
    answer: Reply | None = None,
    vad: VadName = "energy",
) -> Score:
    """The score with a caller turn added, and the reply "answer-N" to it if there is one; N is `number`. Ids of what is
    added have the tag `extraN_`.

    If it talks over a reply (`over`), then with it comes what a client is expected to do: truncate what was not heard,
    and give an output to a tool call in the reply that had none (the hang-up that is off now).
    """
    if score.dialect == "live":
        return with_turn_live(score, turn, answer, number, over is not None, vad)
    made = Author(score.pacing, score.profile, vad, first_index=next_index(score))
    made.tag = f"extra{number}_"
    made.response = next_response(score)
    made.counts = Counter(event.kind for event in score.client_events)
    index = 1 + max((t.index for t in score.turns), default=-1)
    made.turn(turn, index).barge_in = over is not None
    reply = next((r for r in score.replies if r.index == over), None) if over is not None else None
    if reply is not None:
        made.talked_over(reply.item_id)
        calls = [f for f in score.own_frames if f.kind == "response.function_call_arguments.done"]
        if calls and calls[-1].response == reply.response and len(calls) > made.counts[OUTPUT]:
            made.answered(str((calls[-1].event or {}).get("call_id")), None)
    if answer is not None:
        made.reply(answer, ("turn.stop", index), f"answer-{number}")
    return patched(
        score,
        {},
        made.frames,
        turns=[*score.turns, *made.turns],
        replies=[*score.replies, *made.replies],
        client_events=[*score.client_events, *made.expected],
    )


def added_to(score: Score, number: int | str) -> LiveAuthor:
    """An author of what is added to a Live score; the ids have the tag `extraN_`, N being `number`."""
    made = LiveAuthor(score.pacing, score.live or LiveScore(), score.profile)
    made.tag = f"extra{number}_"
    made.first_index = next_index(score)
    made.response = next_response(score)
    return made


def with_added(score: Score, made: LiveAuthor) -> Score:
    """The score with all that was added to it."""
    return patched(score, {}, made.frames, turns=[*score.turns, *made.turns], replies=[*score.replies, *made.replies])


def with_turn_live(
    score: Score, turn: Turn, answer: Reply | None, number: int | str, barge_in: bool = False, vad: VadName = "energy"
) -> Score:
    """The score with a caller turn added, and the reply "answer-N" to it if there is one. `barge_in`: it talks over a
    reply."""
    made = added_to(score, number)
    made.vad = vad
    index = 1 + max((t.index for t in score.turns), default=-1)
    made.turn(turn, index).barge_in = barge_in
    if answer is not None:
        made.reply(answer, ("turn.stop", index), f"answer-{number}")
    return with_added(score, made)
