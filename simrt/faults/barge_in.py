"""The caller talks over a reply.

The server cancels the response when it has made out that somebody speaks, and takes what was said as a turn. The client
falls silent, tells how much was heard, and leaves off what the reply was to bring (a hang-up). Nearly half of the bug
reports of voice clients are about this moment.
"""

from __future__ import annotations

from contextlib import suppress
from random import Random
from typing import ClassVar

from simrt.caller.clip import Clip, fixture_clip
from simrt.caller.cue import Cue, Say
from simrt.errors import PlanError
from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw, Harm
from simrt.faults.rewrite import (
    Again,
    again,
    broken,
    brought_by_turn,
    first_of_turn,
    moved_lines,
    patient_lines,
    response_of,
)
from simrt.faults.speech import REST_US, check_place, heard_cue, reply_of, turn_of
from simrt.replay.edit import with_turn
from simrt.replay.score import Score

_THANKS = ("thats-all", "thanks-bye", "nothing-else")


class BargeIn(Fault, frozen=True):
    """When `at` ms of reply `reply` have been heard, the caller says `clip` (a shipped clip's name, or a file).

    `answer`: the clip that the server replies with, as reply "answer-N", N being the fault's place in the plan. What
    the caller would have said after the reply is said after the answer; after the last reply, which was to end the
    call, they thank, and hear it again, whole, as "again-N".
    Without an answer the server takes the turn and says nothing; a client that asks for a response before there is
    another one gets the reply again.
    """

    name: ClassVar[str] = "barge-in"
    clip: str = "one-more-thing"
    reply: int = -1
    at: Ms = 500
    answer: str | None = None

    @classmethod
    def draw(cls, draw: Draw) -> BargeIn:
        """Over any reply, anywhere in it."""
        reply = draw.reply()
        return cls(reply=reply, at=draw.place(reply), answer="breakfast")

    def harm(self) -> Harm:
        """A server answers the turns that it takes."""
        return "survivable" if self.answer is None else "legal"

    def check(self, score: Score) -> None:
        """The reply must be there and last longer than `at`, and the clips must exist."""
        check_place(self, score, self.reply, self.at)
        for clip in (self.clip, self.answer):
            if clip is not None:
                fixture_clip(clip)

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """A turn, and perhaps a reply to it, are added to the score."""
        turn = turn_of(fixture_clip(self.clip), heard_cue(self, score, self.reply, self.at))
        answer = None if self.answer is None else reply_of(self.answer)
        over, thanks = self.find_reply(score, self.reply)[0], self._thanks(score, number)
        if score.dialect == "live":
            return with_turn(score, turn, number, over, answer)
        if answer is not None and thanks is None:
            return with_turn(score, turn, number, over, answer)
        with suppress(PlanError):  # cut off on the cassette too: there is no whole one to give again
            score = broken(score, response_of(self, score, self.reply), {}, number)
        score = with_turn(score, turn, number, over, answer)
        return brought_by_turn(with_turn(score, turn_of(*thanks), f"{number}b"), number) if thanks else score

    def _thanks(self, score: Score, number: int) -> tuple[Clip, Cue] | None:
        """What the caller says to the answer, and when, where nothing more was to be said."""
        own = [reply.index for reply in score.replies if isinstance(reply.index, int)]
        if score.dialect == "live" or self.answer is None or self.find_reply(score, self.reply)[0] != own[-1]:
            return None
        said = {turn.text for turn in score.turns if "_extra" not in turn.item_id}
        clip = next(clip for clip in map(fixture_clip, _THANKS) if clip.text not in said)
        return clip, Cue("end", f"answer-{number}", 600_000)

    def says(self, score: Score) -> list[Say]:
        """The clip, beside whatever else the caller says."""
        return [
            Say(fixture_clip(self.clip), heard_cue(self, score, self.reply, self.at), parallel=True, rest_us=REST_US)
        ]

    def recast(self, lines: list[Say], score: Score, number: int) -> list[Say]:
        """The rest comes after the answer."""
        if score.dialect == "live":  # what was talked over may be told once more
            return patient_lines(lines, score, self.find_reply(score, self.reply)[0])
        to = again(number) if self.answer is None else f"answer-{number}"
        moved = moved_lines(lines, score, self.find_reply(score, self.reply)[0], to)
        thanks = self._thanks(score, number)
        return [*moved, Say(*thanks, parallel=True)] if thanks else moved

    def arm(self, context: Context, number: int) -> Armed:
        """Notes when the server takes the turn."""
        return _Armed(self, context, number, first_of_turn(context.score, number))


class _Armed(Again):
    fault: BargeIn

    def asked(self, now_us: int) -> bool:
        """The reply is given again if there is no answer."""
        return self.fault.answer is None and super().asked(now_us)
