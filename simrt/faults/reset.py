"""The connection is lost without a close frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from simrt.faults.base import Action, End
from simrt.faults.draw import Draw, Harm
from simrt.faults.trigger import Ending
from simrt.replay.score import Score


class Reset(Ending, frozen=True):
    """At its moment (`at`, `reply` and `at`, or `event`) the connection breaks, as a TCP reset does it."""

    name: ClassVar[str] = "reset"

    @classmethod
    def draw(cls, draw: Draw) -> Reset:
        """At any interesting moment."""
        return cls(**draw.trigger())

    def harm(self) -> Harm:
        """The call is over."""
        return "fatal"

    def actions(self, score: Score) -> Iterable[Action]:
        """The end, with no close frame: code 1006."""
        return (End(1006, reset=True),)
