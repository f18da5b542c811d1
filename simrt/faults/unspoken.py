"""The agent never says what it was told to say.

The commentary was placed and acknowledged, and then somebody talked, the model found it not worth saying, or a limit
cut it off: placed is not heard. KugelAudio documents it for commentary that belongs to no delegation when the caller
finishes a turn first. To the caller the question was never answered. A client that takes `session.commentary.appended`
for told writes down something that nobody has heard.
"""

from __future__ import annotations

from typing import ClassVar

from simrt.faults.base import Armed, Context, Fault
from simrt.faults.draw import Draw, Harm
from simrt.faults.live import appends, check_append
from simrt.faults.reject import APPENDS
from simrt.replay.score import Score

COMMENTARY = APPENDS[0]


class Unspoken(Fault, frozen=True):
    """The session's `nth` commentary, from 0, is placed, and never spoken; one that says the same again is."""

    name: ClassVar[str] = "unspoken"
    nth: int = 0

    @classmethod
    def draw(cls, draw: Draw) -> Unspoken:
        """Any of them."""
        return cls(draw.pick(range(appends(draw.score, COMMENTARY))))

    def harm(self) -> Harm:
        """The agent is there to say it."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The cassette's client must have so much said."""
        check_append(self, score, self.nth, COMMENTARY)

    def arm(self, context: Context, number: int) -> Armed:
        """Keeps it unsaid."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: Unspoken

    def speak(self, nth: int, now_us: int) -> int | None:
        if nth != self.fault.nth:
            return 0
        self.fire(now_us)
        return None
