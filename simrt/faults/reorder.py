"""Neighbouring events come in the other order, where the protocol gives them none.

Which comes first, a word or its sound, an item in the response or in the conversation, the end of the audio or of its
transcript, the rate limits or the end of the response: recorded sessions and providers differ. A client that has learnt
one recording by heart waits for the wrong one.
"""

from __future__ import annotations

from itertools import pairwise
from random import Random
from typing import ClassVar

from msgspec.structs import replace

from simrt.faults.base import Armed, Context, Fault, Send
from simrt.faults.draw import Draw
from simrt.replay.edit import Changes, patched
from simrt.replay.score import Cause, Score, ScoredFrame

_NEAR_US = 50_000
_FREE = {
    frozenset(pair)
    for pair in (
        ("response.output_audio.delta", "response.output_audio_transcript.delta"),
        ("response.output_audio.done", "response.output_audio_transcript.done"),
        ("response.output_item.added", "conversation.item.added"),
        ("response.output_item.done", "conversation.item.done"),
        ("response.done", "rate_limits.updated"),
        ("response.created", "conversation.item.input_audio_transcription.completed"),
        ("response.output_item.added", "conversation.item.input_audio_transcription.completed"),
        ("session.output_audio.delta", "session.output_transcript.delta"),
    )
}


class Reorder(Fault, frozen=True):
    """Of each two such events within 50 ms, `percent` of 100 times, the second comes first; neither comes earlier than
    the second did."""

    name: ClassVar[str] = "reorder"
    percent: int = 50

    @classmethod
    def draw(cls, draw: Draw) -> Reorder:
        """Some of them, or all."""
        return cls(draw.pick((50, 100)))

    def check(self, score: Score) -> None:
        """There must be such events."""
        if not 0 < self.percent <= 100:
            raise self.never("percent is from 1 to 100")
        if score.dialect == "live" and (score.authored or score.profile != "kugel"):
            raise self.never("on Live only recorded replies of fluid-1 have an order that may be another")
        if not any(_pairs(score)):
            raise self.never("the cassette has no neighbours that may change places")

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """Pairs change places."""
        changes: Changes = {}
        for first, second in _pairs(score):
            if first.index not in changes and rng.randrange(100) < self.percent:
                changes[first.index] = replace(first, delay_us=second.delay_us, rank=second.place)
                changes[second.index] = replace(second, rank=first.place)
        return patched(score, changes, ())

    def arm(self, context: Context, number: int) -> Armed:
        """Has fired when the first of them goes out."""
        return _Armed(self, context, number)


def _pairs(score: Score) -> list[tuple[ScoredFrame, ScoredFrame]]:
    """Neighbours that may change places."""
    groups: dict[Cause, list[ScoredFrame]] = {}
    for frame in score.frames:
        groups.setdefault(frame.cause, []).append(frame)
    pairs = []
    for frames in groups.values():
        frames.sort(key=lambda frame: (frame.delay_us, frame.place))
        for first, second in pairwise(frames):
            near = second.delay_us - first.delay_us <= _NEAR_US
            if near and frozenset((first.kind, second.kind)) in _FREE and first.kind != second.kind:
                pairs.append((first, second))
    return pairs


class _Armed(Armed):
    def __init__(self, fault: Fault, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        before = {frame.index: frame.rank for frame in context.cassette.frames}
        self.moved = {f.index for f in context.score.frames if f.rank is not None and before.get(f.index, 0) is None}

    def emit(self, send: Send, now_us: int) -> tuple[Send, ...]:
        if send.frame is not None and send.frame.index in self.moved:
            self.fire(now_us)
        return (send,)
