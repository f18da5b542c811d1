"""The agent delegates something that nobody has asked for.

A noise, the agent's own voice in the caller's microphone, or a model's whim: a delegation comes, and the transcript
holds no turn that it could be about. It is never answered, since there is no answer. A client that takes the turn
before for the one that is meant does that again; one that waits for the words waits for ever.
"""

from __future__ import annotations

from typing import ClassVar

from simrt.dialect import live_events
from simrt.faults.base import Armed, Context
from simrt.faults.draw import Draw, Harm
from simrt.faults.trigger import ArmedStroke, Triggered
from simrt.replay.live_timeline import window_ms
from simrt.replay.score import Score


class StrayDelegation(Triggered, frozen=True):
    """At its moment (`at`, `reply` and `at`, or `event`) there is a delegation more."""

    name: ClassVar[str] = "stray-delegation"

    @classmethod
    def draw(cls, draw: Draw) -> StrayDelegation:
        """At any interesting moment."""
        return cls(**draw.trigger())

    def harm(self) -> Harm:
        """A delegation is about something that the caller wants."""
        return "survivable"

    def check(self, score: Score) -> None:
        """There must be a Live session."""
        self.about("live", score)
        super().check(score)

    def arm(self, context: Context, number: int) -> Armed:
        """Waits for its moment."""
        return _Armed(self, context, number)


class _Armed(ArmedStroke):
    fault: StrayDelegation

    def __init__(self, fault: StrayDelegation, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.number = number

    def strike(self, now_us: int) -> None:
        live = self.context.live
        offset_ms = window_ms(live.timeline.position(now_us))[0]
        live.delegate(
            live_events.delegation_created(f"event_stray{self.number}", f"item_stray{self.number}", offset_ms),
            0,
            now_us,
        )
