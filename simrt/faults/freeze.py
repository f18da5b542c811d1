"""The timeline of a Live session stands still for a while, though the caller's audio comes.

The server is busy: it takes no audio in, places nothing, and sends nothing; then it goes on where it was, that much
behind. Acknowledgements that usually take 602 to 959 ms take longer, what the agent was saying breaks off and goes on,
and the caller's words are heard late. A client that counts on the timeline to be where its own audio is (takes its own
count of milliseconds for the server's, or gives a result up after a second) goes wrong.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from simrt.errors import PlanError
from simrt.faults.base import Armed, Context, Ms
from simrt.faults.draw import Draw, Harm
from simrt.faults.trigger import ArmedStroke, Triggered
from simrt.replay.score import Score, ScoredFrame

_LONG_MS = 3000


class Freeze(Triggered, frozen=True):
    """From its moment on (`at`, `reply` and `at`, or `event`) the timeline stands for `for` ms."""

    name: ClassVar[str] = "freeze"
    for_: Ms = msgspec.field(name="for", default=1500)

    @classmethod
    def draw(cls, draw: Draw) -> Freeze:
        """At any interesting moment, for as long as a hiccup lasts, or longer."""
        return cls(**draw.trigger(), for_=draw.ms(200, 5000, typical=1500))

    def harm(self) -> Harm:
        """A server may take its time; in some seconds of it callers give up."""
        return "legal" if self.for_ <= _LONG_MS else "survivable"

    def check(self, score: Score) -> None:
        """There must be a timeline, and it must stand for some time."""
        self.about("live", score)
        super().check(score)
        if not self.for_:
            raise PlanError(f"fault {self}: say for how long: for=1500ms")

    def arm(self, context: Context, number: int) -> Armed:
        """Waits for its moment."""
        return _Armed(self, context, number)


class _Armed(ArmedStroke):
    fault: Freeze
    _since_us = 1 << 62

    def strike(self, now_us: int) -> None:
        self._since_us = now_us
        self.context.live.freeze(now_us, self.fault.for_ * 1000)

    def shift(self, frame: ScoredFrame, due_us: int) -> int:
        """What hangs on positions that were reached before."""
        later_us = self.fault.for_ * 1000
        return due_us + later_us if self._since_us <= due_us < self._since_us + later_us else due_us
