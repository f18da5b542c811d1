"""The caller talks over a reply."""

from __future__ import annotations

from random import Random
from typing import ClassVar

from simrt.caller.clip import fixture_clip
from simrt.caller.cue import Cue, Say
from simrt.cassette.script import Reply, Turn
from simrt.faults.base import Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw, Harm
from simrt.replay.authored_live import with_barge_in_live
from simrt.replay.edit import with_turn
from simrt.replay.score import Score


class BargeIn(Fault, frozen=True):
    """When `at` ms of reply `reply` have been heard, the caller says `clip` (a shipped clip's name, or a file).

    `answer`: the clip that the server replies with, as reply "answer-N", N being the fault's place in the plan;
    without it the server takes the turn and says nothing.
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
        _, length = self.find_reply(score, self.reply)
        if self.at >= length:
            raise self.never(f"reply {self.reply} has {length} ms of audio, at={self.at}ms lies beyond")
        for clip in (self.clip, self.answer):
            if clip is not None:
                fixture_clip(clip)

    def _cue(self, score: Score) -> Cue:
        return Cue("heard", self.find_reply(score, self.reply)[0], self.at * 1000)

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """A turn, and perhaps a reply to it, are added to the score."""
        clip = fixture_clip(self.clip)
        turn = Turn(clip.text, str(self._cue(score)), list(clip.words), clip.samples)
        answer = None
        if self.answer is not None:
            said = fixture_clip(self.answer)
            answer = Reply(text=said.text, words=list(said.words), samples=said.samples)
        if score.dialect == "live":
            return with_barge_in_live(score, turn, answer, number)
        return with_turn(score, turn, number, self.find_reply(score, self.reply)[0], answer)

    def says(self, score: Score) -> list[Say]:
        """The clip, beside whatever else the caller says."""
        return [Say(fixture_clip(self.clip), self._cue(score), parallel=True)]

    def arm(self, context: Context, number: int) -> Armed:
        """Notes when the server takes the turn."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: BargeIn

    def __init__(self, fault: BargeIn, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.event_prefix = f"event_extra{number}_"

    def acted(self, now_us: int) -> None:
        """Only a turn that the server takes is a barge-in."""

    def emit(self, send: Send, now_us: int) -> tuple[Send, ...]:
        event = send.frame.event if send.frame is not None else None
        if event is not None and str(event.get("event_id")).startswith(self.event_prefix):
            self.fire(now_us)
        return (send,)
