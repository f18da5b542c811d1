"""The caller says something in a gap: after a reply, while a tool still runs.

The server answers of its own accord. A client that is about to ask for a response (its tool has just come back) meets
one that is already active, and has to ask again after it: `conversation_already_has_active_response`, reported for
openai/openai-agents-python#1466 and livekit/agents#1056.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar

from simrt.caller.clip import fixture_clip
from simrt.caller.cue import Cue, Say
from simrt.faults.base import Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw
from simrt.faults.rewrite import first_of_turn, moved_lines, response_of
from simrt.faults.speech import REST_US, check_new, reply_of, turn_of
from simrt.replay.edit import with_turn
from simrt.replay.score import Score


class ExtraTurn(Fault, frozen=True):
    """`after` ms after the end of reply `reply` the caller says `clip`, and the server replies with `answer`.

    What the caller would have said after that reply is said after the answer (reply "answer-N", N being the fault's
    place in the plan).
    """

    name: ClassVar[str] = "extra-turn"
    clip: str = "still-there"
    reply: int = 0
    after: Ms = 200
    answer: str = "still-looking"

    @classmethod
    def draw(cls, draw: Draw) -> ExtraTurn:
        """After any reply but the last, after which nobody is there."""
        count = sum(isinstance(reply.index, int) for reply in draw.score.replies)
        return cls(reply=draw.pick(range(count - 1)), after=draw.pick((200, 0, 50, 500)))

    def check(self, score: Score) -> None:
        """The reply must be there and end by itself; the clips must exist, `clip` must be no line of the caller's."""
        check_new(self, score, fixture_clip(self.clip))
        fixture_clip(self.answer)
        self.find_reply(score, self.reply)
        if score.dialect != "live":
            response_of(self, score, self.reply)

    def _cue(self, score: Score) -> Cue:
        return Cue("end", self.find_reply(score, self.reply)[0], self.after * 1000)

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """A turn and the reply to it are added."""
        return with_turn(
            score, turn_of(fixture_clip(self.clip), self._cue(score)), number, answer=reply_of(self.answer)
        )

    def says(self, score: Score) -> list[Say]:
        """The clip, beside whatever else the caller says."""
        return [Say(fixture_clip(self.clip), self._cue(score), parallel=True, rest_us=REST_US)]

    def recast(self, lines: list[Say], score: Score, number: int) -> list[Say]:
        """The rest comes after the answer."""
        return moved_lines(lines, score, self.find_reply(score, self.reply)[0], f"answer-{number}")

    def arm(self, context: Context, number: int) -> Armed:
        """Notes when the server takes the turn."""
        return TakenTurn(self, context, number)


class TakenTurn(Armed):
    """Has fired when the server takes the turn that its fault has added."""

    def __init__(self, fault: Fault, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.first = first_of_turn(context.score, number)

    def acted(self, now_us: int) -> None:
        """What is said into a dead microphone is no turn."""

    def emit(self, send: Send, now_us: int) -> tuple[Send, ...]:
        """The turn begins."""
        if send.frame is not None and send.frame.index == self.first:
            self.fire(now_us)
        return (send,)
