"""Every frame takes longer; the order is kept."""

from __future__ import annotations

from typing import ClassVar, Literal

from simrt.faults.base import Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw, ladder


class Latency(Fault, frozen=True):
    """`add` ms each way, and up to `jitter` ms more, drawn for each frame. `to`: which way ("both", "client",
    "server")."""

    name: ClassVar[str] = "latency"
    add: Ms = 100
    jitter: Ms = 0
    to: Literal["both", "client", "server"] = "both"

    @classmethod
    def draw(cls, draw: Draw) -> Latency:
        """Up to that of a bad line."""
        add, jitter = draw.ms(20, 500, typical=200), draw.pick((0, *ladder(20, 200)))
        return cls(add, jitter, draw.pick(("both", "client", "server")))

    def arm(self, context: Context, number: int) -> Armed:
        """Delays on the network."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: Latency

    def _later(self, now_us: int) -> int:
        self.fire(now_us)
        more = self.rng.randrange(self.fault.jitter * 1000 + 1) if self.fault.jitter else 0
        return now_us + self.fault.add * 1000 + more

    def hold(self, send: Send, now_us: int) -> int:
        return now_us if self.fault.to == "server" else self._later(now_us)

    def hold_inbound(self, now_us: int, size: int) -> int:
        return now_us if self.fault.to == "client" else self._later(now_us)
