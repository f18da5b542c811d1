"""The final text of the caller's turn comes after its delegation.

With `kugel` in the session `kugel.input_transcript.committed` comes first, and carries what was really said. Two events
on two paths: one may be late. A client that takes up a delegation at once has the words as they were guessed while the
caller spoke, or those of the turn before. (That it never comes is `drop:event=kugel.input_transcript.committed`.)
"""

from __future__ import annotations

from typing import ClassVar

from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw, Harm
from simrt.replay.live_turns import COMMITTED, DELEGATED
from simrt.replay.score import Score, ScoredFrame


class LateCommit(Fault, frozen=True):
    """The `nth` `kugel.input_transcript.committed` comes `after` ms behind the delegation of its turn, or that much
    later, if the turn is not delegated."""

    name: ClassVar[str] = "late-commit"
    nth: int = 0
    after: Ms = 100

    @classmethod
    def draw(cls, draw: Draw) -> LateCommit:
        """Any of them; at once, or after some time."""
        count = sum(frame.kind == COMMITTED for frame in draw.score.own_frames)
        return cls(draw.pick(range(count)), draw.pick((100, 0, 500, 2000)))

    def harm(self) -> Harm:
        """It comes before the delegation."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The event must be there."""
        self.about("live", score)
        self.find_event(score, COMMITTED, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Shifts that frame."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: LateCommit

    def __init__(self, fault: LateCommit, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        frame = fault.find_event(context.cassette, COMMITTED, fault.nth)
        self.index = frame.index
        beside = context.score.answers.get(frame.cause, ())
        behind = [_place_us(other) - _place_us(frame) for other in beside if other.kind == DELEGATED]
        self.later_us = max([0, *behind]) + fault.after * 1000 + 1

    def shift(self, frame: ScoredFrame, due_us: int) -> int:
        return due_us + self.later_us if frame.index == self.index else due_us


def _place_us(frame: ScoredFrame) -> int:
    """How long behind its cause a frame is due, if the audio flows."""
    return (frame.position_us or 0) + frame.delay_us
