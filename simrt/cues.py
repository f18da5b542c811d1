"""What the caller of a cassette says and when, in terms of what it hears."""

from simrt.caller.clip import Clip
from simrt.caller.cue import Cue, Say, parse_cue
from simrt.replay.score import Score, ScoredReply, ScoredTurn


def says_of(score: Score) -> list[tuple[int, Say]]:
    """(turn number, what is said) for each turn of the cassette that has audio.

    An authored turn brings its cue along. For a recorded one it is worked out from the recording, on the assumption
    that the client played the agent's audio as it came: so far into a reply, or so long after it, or after pickup.
    """
    said = []
    for turn in score.turns:
        if turn.samples is None or (turn.cue is None and turn.said_us is None):
            continue
        clip = Clip(turn.clip or f"turn-{turn.index}", turn.samples, turn.words, turn.text)
        cue = parse_cue(turn.cue) if turn.cue else _cue(score, turn)
        # what is no turn, and a caller's patience, keep no order with the turns
        aside = turn.hearing != "turn" or (turn.leave and not len(turn.samples))
        said.append((turn.index, Say(clip, cue, aside, turn.hearing == "background", turn.leave)))
    return said


def _cue(score: Score, turn: ScoredTurn) -> Cue:
    moment = (turn.said_us or 0) + turn.onset_us
    before: Cue | None = None
    free_us = 0
    for reply in score.replies:
        played = _playback(score, reply, free_us)
        if played is None or not isinstance(reply.index, int):
            continue
        start_us, end_us = played
        if start_us >= moment:
            break
        free_us = end_us
        if moment < end_us:
            before = Cue("heard", reply.index, moment - start_us)
        else:
            before = Cue("end", reply.index, moment - end_us)
    if before is None:
        return Cue("pickup", None, max(0, turn.said_us or 0))
    # a cue says when the clip begins, and the clip begins a little before its voice
    return Cue(before.anchor, before.reply, max(0, before.offset_us - turn.onset_us))


def _playback(score: Score, reply: ScoredReply, free_us: int) -> tuple[int, int] | None:
    """When a reply was heard on the recording, if its audio was played as it came, and after what was there before."""
    start_us: int | None = None
    end_us = free_us
    for frame in score.frames:
        if frame.reply == reply.index and frame.audio_us:
            begin = max(end_us, frame.t_us)
            start_us = begin if start_us is None else start_us
            end_us = begin + frame.audio_us
    return None if start_us is None else (start_us, end_us)
