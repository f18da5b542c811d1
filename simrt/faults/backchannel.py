"""The caller says "mm-hmm" while the agent speaks, and means nothing by it.

Live, a soft "mm-hmm" into a reply brought no `speech_started` in 20 of 20 calls: the server takes no notice, and the
reply plays on. A client with an ear of its own (a local voice detector that ducks or clears the speaker) cuts its agent
off for nothing.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar

from simrt.caller.clip import fixture_clip
from simrt.caller.cue import Say
from simrt.faults.base import Fault, Ms
from simrt.faults.draw import Draw
from simrt.faults.speech import check_new, check_place, heard_cue, turn_of
from simrt.replay.edit import with_turn
from simrt.replay.score import Score


class Backchannel(Fault, frozen=True):
    """When `at` ms of reply `reply` have been heard, the caller says `clip`, which is no turn to the server."""

    name: ClassVar[str] = "backchannel"
    clip: str = "mm-hmm"
    reply: int = -1
    at: Ms = 800

    @classmethod
    def draw(cls, draw: Draw) -> Backchannel | None:
        """Into any reply that lasts till its end."""
        made = cls(reply=(reply := draw.reply()), at=draw.place(reply))
        _, length = made.find_reply(draw.score, reply)
        return made if made.at + fixture_clip(made.clip).duration_ms <= length else None

    def check(self, score: Score) -> None:
        """The reply must be there and last longer than `at`; the clip must exist, and be no line of the caller's."""
        check_new(self, score, fixture_clip(self.clip))
        check_place(self, score, self.reply, self.at)

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """The server's ear is told of a clip that is no turn."""
        turn = turn_of(fixture_clip(self.clip), heard_cue(self, score, self.reply, self.at), "unheard")
        return with_turn(score, turn, number)

    def says(self, score: Score) -> list[Say]:
        """The clip, beside whatever else the caller says."""
        return [Say(fixture_clip(self.clip), heard_cue(self, score, self.reply, self.at), parallel=True)]
