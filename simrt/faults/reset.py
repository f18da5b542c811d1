"""The connection is lost without a close frame."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from simrt.faults.base import Action, End
from simrt.faults.trigger import Triggered


class Reset(Triggered, frozen=True):
    """At its moment (`at`, `reply` and `at`, or `event`) the connection breaks, as a TCP reset does it."""

    name: ClassVar[str] = "reset"

    def actions(self) -> Iterable[Action]:
        """The end, with no close frame: code 1006."""
        return (End(1006, reset=True),)
