"""The network holds everything back for a while, then releases it in one burst."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from simrt.faults.base import Action, Armed, Context, Ms, Send
from simrt.faults.draw import Draw
from simrt.faults.trigger import ArmedTrigger, Triggered, in_reply


class Clog(Triggered, frozen=True):
    """From its moment on (`at`, `reply` and `at`, or `event`) nothing reaches the client for `for` ms; nothing is
    lost."""

    name: ClassVar[str] = "clog"
    for_: Ms = msgspec.field(name="for", default=500)

    @classmethod
    def draw(cls, draw: Draw) -> Clog:
        """At any interesting moment."""
        return cls(**draw.trigger(), for_=draw.ms(100, 3000, typical=1000))

    def arm(self, context: Context, number: int) -> Armed:
        """Holds what enters the network."""
        return _Armed(self, context, number)


class _Armed(ArmedTrigger):
    fault: Clog
    since_us: int | None = None

    def opened(self, now_us: int) -> None:
        if self.reply is None and self.frame is None:
            self.since_us = now_us + (self.fault.at or 0) * 1000

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        if self.since_us is None and send.frame is not None:
            hit_reply = self.reply is not None and send.reply == self.reply
            if hit_reply and in_reply(send, (self.fault.at or 0) * 1000):
                self.since_us = now_us
            elif self.frame is not None and send.frame.index == self.frame.index:
                self.since_us = now_us + 1
        return (send,)

    def hold(self, send: Send, now_us: int) -> int:
        return self.pong(now_us)

    def pong(self, now_us: int) -> int:
        """Pongs wait as everything does."""
        if self.since_us is None or not self.since_us <= now_us < self.since_us + self.fault.for_ * 1000:
            return now_us
        self.fire(now_us)
        return self.since_us + self.fault.for_ * 1000
