"""The times of a call vary as they do live, so that many runs of one script are not one run."""

from __future__ import annotations

from random import Random
from typing import ClassVar

import msgspec

from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw
from simrt.faults.late_ready import ready_event
from simrt.replay.score import Cause, Score, ScoredFrame

_SOONER_US = 20_000  # the median cut, 0.76 s, is this far behind the earliest


class Spread(Fault, frozen=True):
    """Seeded jitter from measured spreads; each value is the most that is added, in ms.

    `ready`: to `session.updated` (live: 0.23 to 2.83 s after pickup), on Live to `session.started`. `think`: to each
    reply, all of it. `cut`: to the moment at which a reply is cut off when the caller talks over it, less 20 ms (live:
    0.74 to 0.79 s after the first sound, median 0.76 s).
    """

    name: ClassVar[str] = "spread"
    ready: Ms = 2200
    think: Ms = 400
    cut: Ms = 50

    @classmethod
    def draw(cls, draw: Draw) -> Spread:
        """The spreads that were measured."""
        return cls()

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """Barge-ins are taken a little sooner or later; which, is drawn by `arm`. So are replies on a Live timeline."""
        turns = [msgspec.structs.replace(turn) for turn in score.turns]
        replies = [msgspec.structs.replace(reply) for reply in score.replies]
        return msgspec.structs.replace(score, turns=turns, replies=replies)

    def arm(self, context: Context, number: int) -> Armed:
        """Draws for each reply."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: Spread
    by_place = True

    def __init__(self, fault: Spread, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.cut_us: dict[Cause, int] = {}  # of cuts that are on the cassette: what they bring
        for turn in context.score.turns if fault.cut else ():
            later_us = self._draw(fault.cut) - _SOONER_US
            cause = ("turn.start", turn.index)
            if any(frame.response is not None for frame in context.score.answers.get(cause, ())):
                self.cut_us[cause] = later_us
            elif turn.cut_us:
                turn.cut_us += later_us
        self.ready_us = self._draw(fault.ready)
        self.ready = ready_event(context.cassette)
        self.live = context.cassette.dialect == "live"
        self.think_us: dict[int, int] = {}
        for reply in context.score.replies if self.live else ():
            reply.start_us += self._draw(fault.think)

    def _draw(self, most: int) -> int:
        return self.rng.randrange(most * 1000 + 1)

    def shift(self, frame: ScoredFrame, due_us: int) -> int:
        if frame.kind == self.ready and frame.nth == 0:
            return due_us + self.ready_us
        if frame.cause in self.cut_us:
            return due_us + self.cut_us[frame.cause]
        if self.live or frame.response is None or frame.cause[0] == "turn.start":
            return due_us
        if frame.response not in self.think_us:
            self.think_us[frame.response] = self._draw(self.fault.think)
        return due_us + self.think_us[frame.response]
