"""The caller coughs while the agent speaks.

The server's voice detector takes it for speech: the reply is cut off as by a barge-in, and then there is nothing: an
empty transcript, and no reply to it. Reported: a cough that killed the reply (vellum-ai/vellum-assistant#41801). A
client that waits for the answer to the "turn" leaves both sides in silence.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import ClassVar

import numpy as np

from simrt.caller.clip import RATE, Clip
from simrt.caller.cue import Say
from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw, Harm
from simrt.faults.rewrite import Again, again, broken, first_of_turn, moved_lines, patient_lines, response_of
from simrt.faults.speech import REST_US, check_place, heard_cue, turn_of
from simrt.replay.edit import with_turn
from simrt.replay.score import Score


class Cough(Fault, frozen=True):
    """When `at` ms of reply `reply` have been heard, the caller coughs; the server cuts it off and hears no word.

    A client that asks for a response before there is another one gets the reply again, whole; and only then does the
    caller go on with what they would have said after it. On Live nobody asks: the client tells the agent once more.
    """

    name: ClassVar[str] = "cough"
    reply: int = -1
    at: Ms = 800

    @classmethod
    def draw(cls, draw: Draw) -> Cough:
        """Into any reply."""
        reply = draw.reply()
        return cls(reply, draw.place(reply))

    def harm(self) -> Harm:
        """People cough; a reply that is gone has to be asked for."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The reply must be there, end by itself, and last longer than `at`."""
        check_place(self, score, self.reply, self.at)
        if score.dialect != "live":
            response_of(self, score, self.reply)

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """A turn without words is added, and the reply once more."""
        turn = turn_of(cough(), heard_cue(self, score, self.reply, self.at))
        if score.dialect == "live":
            return with_turn(score, turn, number, self.find_reply(score, self.reply)[0])
        made = broken(score, response_of(self, score, self.reply), {}, number)
        return with_turn(made, turn, number, self.find_reply(score, self.reply)[0])

    def says(self, score: Score) -> list[Say]:
        """The cough."""
        return [Say(cough(), heard_cue(self, score, self.reply, self.at), parallel=True, rest_us=REST_US)]

    def recast(self, lines: list[Say], score: Score, number: int) -> list[Say]:
        """What the caller says to the whole reply is said when that was heard."""
        if score.dialect == "live":  # the client may have it told once more
            return patient_lines(lines, score, self.find_reply(score, self.reply)[0])
        return moved_lines(lines, score, self.find_reply(score, self.reply)[0], again(number))

    def arm(self, context: Context, number: int) -> Armed:
        """Waits to give the reply again."""
        if context.cassette.dialect == "live":
            return Armed(self, context, number)
        return Again(self, context, number, first_of_turn(context.score, number))


@cache
def cough() -> Clip:
    """Two bursts of noise, 0.35 s in all; the same samples every time."""
    noise = np.random.default_rng(1918).normal(0.0, 1.0, RATE * 350 // 1000)
    smooth = np.convolve(noise, np.ones(6) / 6, "same")
    t = np.arange(len(smooth)) / RATE
    bursts = np.exp(-t / 0.06) + np.where(t > 0.18, 0.8 * np.exp(-(t - 0.18) / 0.05), 0.0)
    samples = np.clip(smooth * bursts * 20000, -32768, 32767).astype(np.int16)
    return Clip("cough", samples)
