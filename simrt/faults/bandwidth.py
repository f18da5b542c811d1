"""The line to the server is narrow: a frame takes as long as its bytes need.

PCM at 24 kHz in base64 is 0.54 Mbit/s each way; a mobile network, or a telephone bridge that shares one line among many
calls, has less at times. Frames queue; what is sent ahead of time arrives as it is heard, and a barge-in waits behind
the audio.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from simrt.errors import PlanError
from simrt.faults.base import Armed, Context, Fault, Send
from simrt.faults.draw import Draw
from simrt.replay.score import Score

_FRAMING = 8  # bytes around a message


class Bandwidth(Fault, frozen=True):
    """`kbps` kilobits a second. `to`: which way ("both", "client", "server")."""

    name: ClassVar[str] = "bandwidth"
    apart: ClassVar[tuple[str, ...]] = ("oversize",)  # some megabytes would stop the line for half a minute
    kbps: int = 800
    to: Literal["both", "client", "server"] = "both"

    @classmethod
    def draw(cls, draw: Draw) -> Bandwidth:
        """Wide enough for the audio."""
        kbps = draw.pick((2000, 800, 600))
        to: Literal["both", "client", "server"] = draw.pick(("client", "server", "both"))
        return cls(kbps, to)

    def check(self, score: Score) -> None:
        """A line carries something."""
        if self.kbps <= 0:
            raise PlanError(f"fault {self}: a line carries something; kbps is 1 at least")

    def arm(self, context: Context, number: int) -> Armed:
        """Delays on the network."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: Bandwidth
    _out_us = 0
    _in_us = 0

    def _takes_us(self, size: int) -> int:
        return (size + _FRAMING) * 8000 // self.fault.kbps

    def hold(self, send: Send, now_us: int) -> int:
        if self.fault.to == "server":
            return now_us
        self.fire(now_us)
        self._out_us = max(now_us, self._out_us) + self._takes_us(len(send.payload))
        return self._out_us

    def hold_inbound(self, now_us: int, size: int) -> int:
        if self.fault.to == "client":
            return now_us
        self.fire(now_us)
        self._in_us = max(now_us, self._in_us) + self._takes_us(size)
        return self._in_us
