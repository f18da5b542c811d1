"""A delegation comes while the agent speaks already.

The agent says that it will see to it, and the delegation follows when it has begun to speak: a Live session has no
turns that take turns, both sides talk at once, and an acknowledgement may be spoken ahead of the work
(`acknowledgement_delay_ms` is 0 by default). A client that drops what comes while the agent speaks, or that takes the
agent's "one moment" for the answer, never tells the caller anything.
"""

from __future__ import annotations

from random import Random
from typing import ClassVar

from msgspec.structs import replace

from simrt.caller.clip import fixture_clip
from simrt.faults.base import Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw
from simrt.faults.live import draw_delegation, find_delegation
from simrt.faults.speech import reply_of
from simrt.replay.edit import added_to, patched, with_added
from simrt.replay.score import Score, ScoredReply


class LateDelegation(Fault, frozen=True):
    """The `nth` delegation comes when the agent is `at` ms into what it says to the caller's turn: what it says on the
    cassette, or `clip`, a shipped clip, if it says nothing there."""

    name: ClassVar[str] = "late-delegation"
    nth: int = -1
    at: Ms = 500
    clip: str = "let-me-check"

    @classmethod
    def draw(cls, draw: Draw) -> LateDelegation:
        """Any of them; as the agent begins, or near its end."""
        return cls(draw_delegation(draw), draw.pick((500, 0, 100, 1000)))

    def check(self, score: Score) -> None:
        """The delegation must be there, follow a turn, and the reply must last longer than `at`."""
        frame = find_delegation(self, score, self.nth)
        if frame.cause[0] != "turn.stop":
            raise self.never(f"delegation {self.nth} follows no turn of the caller's")
        own = _reply_to(score, frame.cause)
        length = own.audio_us // 1000 if own is not None else fixture_clip(self.clip).duration_ms
        if self.at >= length:
            raise self.never(f"what the agent says then lasts {length} ms, at={self.at}ms lies beyond")

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """The delegation comes later; a reply is added if there is none."""
        frame = find_delegation(self, score, self.nth)
        reply = _reply_to(score, frame.cause)
        if reply is None:
            made = added_to(score, number)
            made.reply(reply_of(self.clip), frame.cause, f"holding-{number}")
            score, reply = with_added(score, made), made.replies[0]
        later = replace(frame, position_us=reply.start_us + self.at * 1000)
        return patched(score, {frame.index: later}, ())

    def arm(self, context: Context, number: int) -> Armed:
        """Has fired when the delegation comes."""
        return _Armed(self, context, number)


def _reply_to(score: Score, cause: tuple[str, int]) -> ScoredReply | None:
    return next((reply for reply in score.replies if reply.cause == cause), None)


class _Armed(Armed):
    fault: LateDelegation

    def __init__(self, fault: LateDelegation, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.index = find_delegation(fault, context.cassette, fault.nth).index

    def emit(self, send: Send, now_us: int) -> tuple[Send, ...]:
        if send.frame is not None and send.frame.index == self.index:
            self.fire(now_us)
        return (send,)
