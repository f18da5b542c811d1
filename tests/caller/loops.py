"""Two event loops whose time jumps: a World's, and asyncio's own with a clock that starts anywhere."""

import asyncio
import selectors
from collections.abc import Callable, Coroutine
from typing import Any

import numpy as np

from simrt.audio import PCM24, AudioFormat, Samples
from simrt.caller import Clip, Clock, Ear, Line
from simrt.world import VirtualLoop


class _Jumping(selectors.DefaultSelector):
    """Does not wait for a timeout, but counts it."""

    now = 1_234.567
    late = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        assert timeout is not None, "nothing will ever happen again"
        if timeout > 0:
            self.now += timeout + self.late
        return super().select(0)


class StockLoop(asyncio.SelectorEventLoop):
    """asyncio's loop; LATE is by how many seconds every timer is late."""

    def __init__(self, late: float = 0.0) -> None:
        self.jumping = _Jumping()
        self.jumping.late = late
        super().__init__(self.jumping)

    def time(self) -> float:
        return self.jumping.now


LOOPS: dict[str, Callable[[], asyncio.AbstractEventLoop]] = {"world": VirtualLoop, "stock": StockLoop}


class Room:
    """A line with an ear at it, on a loop; `at` is a clock's time in ms."""

    def __init__(self, loop: asyncio.AbstractEventLoop, format: AudioFormat = PCM24, pickup_in: float = 0.0) -> None:
        self.loop = loop
        self.clock = Clock(loop, loop.time() + pickup_in)
        self.line = Line.on(self.clock, "wss://inn.example/v1/realtime", {"x-test": "1"}, format)
        self.microphone = self.line.microphone
        self.speaker = self.line.speaker
        self.ear = Ear(self.speaker)

    @property
    def ms(self) -> float:
        return self.clock.now_us() / 1000

    async def until(self, ms: float) -> None:
        await asyncio.sleep(max(0.0, self.clock.pickup + ms / 1000 - self.loop.time()))

    def at(self, ms: float, do: Callable[..., object], *args: object) -> None:
        self.clock.call_at(round(ms * 1000), do, *args)

    def run(self, main: Coroutine[Any, Any, Any]) -> Any:
        return self.loop.run_until_complete(main)

    def run_until(self, ms: float) -> None:
        self.run(self.until(ms))


def noise(ms: float, seed: int = 1, rate: int = 24000) -> Samples:
    """Samples that look like no others."""
    generator = np.random.default_rng(seed)
    return generator.integers(-9000, 9000, round(ms * rate / 1000)).astype(np.int16)


def clip(ms: float, seed: int = 1, name: str = "noise") -> Clip:
    return Clip(name, noise(ms, seed))


def cut(samples: Samples, ms: float, rate: int = 24000) -> list[Samples]:
    """In pieces of that length."""
    size = round(ms * rate / 1000)
    return [samples[at : at + size] for at in range(0, len(samples), size)]
