"""The client's pings are not answered.

The server is too busy to answer in time, or something between swallows control frames. A client that pings (websockets
does, every 20 s, and closes with 1011 when no pong has come for 20 s) gives up a connection on which everything else
still works: reported as `1011 keepalive ping timeout` under load for modelscope/FunASR#3533.
"""

from __future__ import annotations

from typing import ClassVar

import msgspec

from simrt.errors import PlanError
from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw, Harm
from simrt.replay.score import Score

_PATIENCE_MS = 20_000


class NoPong(Fault, frozen=True):
    """From `at` ms after the connection opened on no ping is answered for `for` ms; then all are."""

    name: ClassVar[str] = "no-pong"
    at: Ms = 0
    for_: Ms = msgspec.field(name="for", default=60_000)

    @classmethod
    def draw(cls, draw: Draw) -> NoPong:
        """For some seconds, or for longer than clients wait."""
        at, for_ = draw.pick(((15_000, 10_000), (0, 60_000)))
        return cls(at, for_)

    def harm(self) -> Harm:
        """Clients wait for 20 s."""
        return "legal" if self.for_ < _PATIENCE_MS else "fatal"

    def check(self, score: Score) -> None:
        """It must last."""
        if not self.for_:
            raise PlanError(f"fault {self}: say for how long: for=30s")

    def arm(self, context: Context, number: int) -> Armed:
        """Holds pongs."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: NoPong
    _since_us = 0

    def opened(self, now_us: int) -> None:
        self._since_us = now_us + self.fault.at * 1000

    def pong(self, now_us: int) -> int:
        until_us = self._since_us + self.fault.for_ * 1000
        if not self._since_us <= now_us < until_us:
            return now_us
        self.fire(now_us)
        return until_us
