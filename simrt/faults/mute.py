"""The caller falls silent: puts the telephone down, presses mute, is talking to somebody else.

The line stays open. Either silence goes on arriving, or nothing does (a carrier that sends no silence, a muted
softphone); then the server's clock of the caller's audio stands still. Nobody answers the agent, and the connection is
billed.
"""

from __future__ import annotations

from typing import ClassVar, Literal

import msgspec

from simrt.caller.cue import Cue, Say
from simrt.faults.base import Fault, Ms
from simrt.faults.draw import Draw, Harm
from simrt.faults.hang_up import SILENCE
from simrt.faults.speech import check_place, heard_cue
from simrt.replay.score import Score


class Mute(Fault, frozen=True):
    """From `at` ms after pickup on, or from when that much of reply `reply` has been heard, the caller says nothing
    more: for `for` ms, or for good.

    `send`: what the microphone gives meanwhile, "silence" or "nothing" (no frames).
    """

    name: ClassVar[str] = "mute"
    at: Ms = 0
    reply: int | None = None
    for_: Ms | None = msgspec.field(name="for", default=None)
    send: Literal["silence", "nothing"] = "silence"

    @classmethod
    def draw(cls, draw: Draw) -> Mute:
        """From a reply on, for some seconds or for good."""
        reply = draw.reply()
        at, for_ = draw.place(reply), draw.pick((3000, 10_000, None))
        send: Literal["silence", "nothing"] = draw.pick(("silence", "nothing"))
        return cls(at, reply, for_, send)

    def harm(self) -> Harm:
        """Somebody who never comes back cannot be talked to."""
        return "fatal" if self.for_ is None else "legal"

    def check(self, score: Score) -> None:
        """The reply must be there and last longer than `at`."""
        if self.reply is not None:
            check_place(self, score, self.reply, self.at)

    def says(self, score: Score) -> list[Say]:
        """Nothing."""
        cue = Cue("pickup", None, self.at * 1000)
        if self.reply is not None:
            cue = heard_cue(self, score, self.reply, self.at)
        rest_us = None if self.for_ is None else self.for_ * 1000
        return [Say(SILENCE, cue, parallel=True, rest_us=rest_us, gap=self.send == "nothing")]
