"""A reply's audio comes far ahead of real time."""

from __future__ import annotations

from typing import ClassVar

from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw
from simrt.replay.score import Score, ScoredFrame


class Burst(Fault, frozen=True):
    """All of reply `reply`, to its `response.done`, is delivered within `within` ms of its first audio."""

    name: ClassVar[str] = "burst"
    reply: int = -1
    within: Ms = 300

    @classmethod
    def draw(cls, draw: Draw) -> Burst:
        """Any reply; at once, or in a second."""
        return cls(draw.reply(), draw.pick((300, 0, 100, 1000)))

    def check(self, score: Score) -> None:
        """The reply must be there, and the protocol must let it come ahead of real time."""
        self.find_reply(score, self.reply)
        if score.dialect == "live" and score.profile != "kugel":
            raise self.never("a Live track comes at the pace of the caller's audio; clog makes bursts of it")

    def arm(self, context: Context, number: int) -> Armed:
        """Brings the frames of the reply forward."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: Burst
    by_place = True

    def __init__(self, fault: Burst, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.reply, _ = fault.find_reply(context.cassette, fault.reply)
        self.live = context.cassette.dialect == "live"
        self.length_us = next(one.audio_us for one in context.score.replies if one.index == self.reply)
        self.began_us: int | None = None
        self.first_us: dict[int | None, int] = {}  # by response: when its first audio is due
        self.spans: dict[int | None, tuple[int, int]] = {}  # by response: another fault may have it given again
        mine = [frame for frame in context.score.frames if frame.reply == self.reply]
        for response in {frame.response for frame in mine}:
            delays = [frame.delay_us for frame in mine if frame.response == response]
            first_us = min((f.delay_us for f in mine if f.response == response and f.audio_us), default=max(delays))
            self.spans[response] = first_us, max(1, max(delays) - first_us)

    def shift(self, frame: ScoredFrame, due_us: int) -> int:
        if self.live:
            return self._on_track(frame, due_us)
        first_us, span_us = self.spans.get(frame.response, (0, 1))
        behind_us = frame.delay_us - first_us
        if frame.reply != self.reply:
            return due_us
        if behind_us <= 0:
            if behind_us == 0:
                self.first_us.setdefault(frame.response, due_us)
            return due_us
        early_us = due_us - behind_us + min(behind_us, behind_us * self.fault.within * 1000 // span_us)
        return max(early_us, min(due_us, self.first_us.get(frame.response, early_us)))  # another burst was there before

    def _on_track(self, frame: ScoredFrame, due_us: int) -> int:
        """A reply on a Live track, where what comes behind its first piece is told by its place in the audio."""
        if frame.reply != self.reply or not self.context.live.rules.kugel:
            return due_us
        if self.began_us is None and not frame.audio_us:
            return due_us  # before the first piece
        if self.began_us is None:
            self.began_us = due_us
        within_us = self.fault.within * 1000 * frame.audio_start_us // max(1, self.length_us)
        return min(due_us, self.began_us + within_us)
