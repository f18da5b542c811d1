"""The caller is slow to speak: the call was put through before anybody had the receiver at the ear.

Whoever speaks first does so later, the session has long been ready, and an agent that greets has been heard by nobody.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from simrt.caller.cue import Cue, Say
from simrt.faults.base import Fault, Ms
from simrt.faults.draw import Draw
from simrt.faults.hang_up import SILENCE
from simrt.replay.score import Score


class LatePickup(Fault, frozen=True):
    """What the caller says after picking up is said `by` ms later."""

    name: ClassVar[str] = "late-pickup"
    by: Ms = 3000

    @classmethod
    def draw(cls, draw: Draw) -> LatePickup:
        """Up to ten seconds."""
        return cls(draw.ms(500, 10_000, typical=3000))

    def check(self, score: Score) -> None:
        """The caller must be the one who speaks first."""
        if not score.turns:
            raise self.never("the caller of this cassette says nothing")

    def says(self, score: Score) -> list[Say]:
        """Nothing, at the moment of picking up."""
        return [Say(SILENCE, Cue("pickup", None, self.by * 1000), parallel=True)]

    def recast(self, lines: list[Say], score: Score, number: int) -> list[Say]:
        """What is said at pickup is said later."""
        return [self._later(line) for line in lines]

    def _later(self, line: Say) -> Say:
        cue = line.cue
        if cue.anchor != "pickup":
            return line
        return msgspec.structs.replace(line, cue=Cue("pickup", None, cue.offset_us + self.by * 1000))
