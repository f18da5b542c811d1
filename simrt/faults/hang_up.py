"""The caller hangs up: in the middle of a reply, while a tool runs, before anything was said.

The microphone ends and nothing is played any more. What the agent was about to say goes unheard; what its tools have
done stays done.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from simrt.caller.clip import Clip
from simrt.caller.cue import Cue, Say
from simrt.faults.base import Fault, Ms
from simrt.faults.draw import Draw, Harm
from simrt.faults.speech import check_place, heard_cue
from simrt.replay.score import Score

SILENCE = Clip("silence", np.zeros(0, np.int16))


class HangUp(Fault, frozen=True):
    """The caller hangs up `at` ms after pickup, or when that much of reply `reply` has been heard."""

    name: ClassVar[str] = "hang-up"
    at: Ms = 0
    reply: int | None = None

    @classmethod
    def draw(cls, draw: Draw) -> HangUp:
        """In a reply, or early on."""
        early = draw.pick((False, True))
        reply = draw.reply()
        at, moment = draw.place(reply), draw.ms(100, 10_000, typical=2000)
        return cls(moment) if early else cls(at, reply)

    def harm(self) -> Harm:
        """The call is over."""
        return "fatal"

    def check(self, score: Score) -> None:
        """The reply must be there and last longer than `at`."""
        if self.reply is not None:
            check_place(self, score, self.reply, self.at)

    def says(self, score: Score) -> list[Say]:
        """Nothing, and good-bye."""
        cue = Cue("pickup", None, self.at * 1000)
        if self.reply is not None:
            cue = heard_cue(self, score, self.reply, self.at)
        return [Say(SILENCE, cue, parallel=True, leave=True)]
