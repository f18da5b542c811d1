"""The time of one call: integer microseconds since pickup, on any event loop, virtual or real."""

import asyncio
from collections.abc import Callable

US = 1_000_000


class Clock:
    """Reads `loop.time()` as µs since pickup. `pickup` is a loop time in seconds (default: now); it may lie ahead."""

    def __init__(self, loop: asyncio.AbstractEventLoop, pickup: float | None = None) -> None:
        self.loop = loop
        self.pickup = loop.time() if pickup is None else pickup
        self._time, self._call_at = loop.time, loop.call_at

    def now_us(self) -> int:
        """µs since pickup; negative before it."""
        return round((self._time() - self.pickup) * US)

    def call_at(self, t_us: int, callback: Callable[..., object], *args: object) -> asyncio.TimerHandle:
        """Call back at that moment of the call, or as soon as possible when it is past."""
        return self._call_at(self.pickup + t_us / US, callback, *args)


def release(waiter: "asyncio.Future[None]") -> None:
    """Let whoever awaits it go on; nothing when it is done or cancelled."""
    if not waiter.done():
        waiter.set_result(None)
