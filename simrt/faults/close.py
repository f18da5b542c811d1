"""The server ends the connection."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from simrt.errors import PlanError
from simrt.faults.base import Action, End
from simrt.faults.draw import Draw, Harm
from simrt.faults.trigger import Ending
from simrt.replay.score import Score


class Close(Ending, frozen=True):
    """At its moment (`at`, `reply` and `at`, or `event`) the server closes with `code` and `reason`."""

    name: ClassVar[str] = "close"
    code: int = 1011
    reason: str = ""

    @classmethod
    def draw(cls, draw: Draw) -> Close:
        """At any interesting moment: an error, or the end of the longest session."""
        return cls(**draw.trigger(), code=draw.pick((1011, 1001, 1000)))

    def harm(self) -> Harm:
        """The call is over."""
        return "fatal"

    def check(self, score: Score) -> None:
        """The code must be one that may stand in a close frame (RFC 6455 §7.4)."""
        super().check(score)
        if not (1000 <= self.code < 1015 and self.code not in (1004, 1005, 1006)) and not 3000 <= self.code < 5000:
            raise PlanError(f"fault {self}: {self.code} is no code for a close frame; use reset for a lost connection")

    def actions(self, score: Score) -> Iterable[Action]:
        """A close frame."""
        return (End(self.code, self.reason),)
