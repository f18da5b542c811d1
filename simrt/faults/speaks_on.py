"""The caller pauses, the server takes that for the end of the turn, and the caller speaks on.

The response that it has begun is cancelled before any of its audio was sent, and one to all that was said follows. A
client that truncates at every `speech_started` truncates an item without audio: refused, reported for
livekit/agents#6157; one that plays what it is owed plays the wrong one.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar

from msgspec.structs import replace

from simrt.caller.clip import fixture_clip
from simrt.caller.cue import Cue, Say
from simrt.cues import says_of
from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw
from simrt.faults.extra_turn import TakenTurn
from simrt.faults.rewrite import broken, brought_by_turn, frames_of
from simrt.faults.speech import REST_US, check_new, turn_of
from simrt.replay.edit import patched, with_turn
from simrt.replay.live_turns import DELEGATED
from simrt.replay.score import Score, ScoredFrame

_SLOW_US = 10_000_000  # the audio would not be there before the caller speaks on, which cuts it off


class SpeaksOn(Fault, frozen=True):
    """`after` ms after the end of their line `turn` (as the cassette numbers them, from 0) the caller says `clip`:
    before the reply to it is heard, which comes after the clip instead."""

    name: ClassVar[str] = "speaks-on"
    clip: str = "hang-on"
    turn: int = 0
    after: Ms = 1200

    @classmethod
    def draw(cls, draw: Draw) -> SpeaksOn:
        """After any line that a spoken reply follows at once."""
        turns = [turn for turn in _lines(draw.score) if _may_go_on(draw.score, turn)]
        return cls(turn=draw.pick(turns), after=draw.pick((1200, 700, 2000)))

    def check(self, score: Score) -> None:
        """A spoken reply that ends by itself must follow the turn (Live: a delegation, and no reply: one would be cut
        off), and the pause must be one that ends a turn."""
        check_new(self, score, fixture_clip(self.clip))
        if self.turn not in _lines(score) or not _may_go_on(score, self.turn):
            if score.dialect == "live":
                raise self.never(f"turn {self.turn} is not followed by a delegation and no reply")
            raise self.never(f"no spoken reply follows turn {self.turn} at once")
        if self.after <= score.pacing.silence_ms + 100:
            raise self.never(f"a pause of {self.after} ms does not end the turn")

    def _cue(self, score: Score) -> Cue:
        return Cue("said", None, self.after * 1000, _lines(score).index(self.turn))

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """The reply's audio would be slow; a turn is added that brings the reply anew."""
        if score.dialect == "live":
            return with_turn(score, turn_of(fixture_clip(self.clip), self._cue(score)), number)
        frames = _reply_to(score, self.turn)
        first = next(frame for frame in frames if frame.audio_us)
        late = [replace(f, delay_us=f.delay_us + _SLOW_US, reply=None) for f in frames if f.place >= first.place]
        early = [replace(f, reply=None) for f in frames if f.place < first.place]
        made = broken(score, frames, {frame.index: None for frame in frames}, number)
        made = with_turn(made, turn_of(fixture_clip(self.clip), self._cue(score)), number)
        return brought_by_turn(patched(made, {}, [*early, *late]), number)

    def says(self, score: Score) -> list[Say]:
        """The clip, beside whatever else the caller says."""
        return [Say(fixture_clip(self.clip), self._cue(score), parallel=True, rest_us=REST_US)]

    def arm(self, context: Context, number: int) -> Armed:
        """Notes when the server takes the turn."""
        return TakenTurn(self, context, number)


def _lines(score: Score) -> list[int]:
    """The turns that the caller says in order."""
    return [turn for turn, say in says_of(score) if not say.parallel]


def _may_go_on(score: Score, turn: int) -> bool:
    """Whether the cassette has what the fault needs behind that turn."""
    if score.dialect != "live":
        return bool(_reply_to(score, turn))
    after = score.answers.get(("turn.stop", turn), ())
    return any(f.kind == DELEGATED for f in after) and not any(f.reply is not None for f in after)


def _reply_to(score: Score, turn: int) -> list[ScoredFrame]:
    """The frames of the spoken response that a turn brings, if it ends by itself; else none."""
    found = score.answers.get(("turn.stop", turn), ())
    number = next((frame.response for frame in found if frame.kind == "response.created"), None)
    frames = [] if number is None else frames_of(score, number)
    whole = any(frame.audio_us for frame in frames) and any(frame.kind == "response.done" for frame in frames)
    return frames if whole else []
