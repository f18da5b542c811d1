"""A World: one virtual-time event loop, an in-memory network, a wall clock that follows, and no outside."""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from typing import Any, TypeVar

from simrt.errors import WorldError
from simrt.world import clock, guard
from simrt.world.loop import VirtualLoop
from simrt.world.network import HostNotServed
from simrt.world.stuck import Deadlock, place_of

__all__ = ["Deadlock", "HostNotServed", "VirtualLoop", "World", "WorldError", "new_loop"]

T = TypeVar("T")

_SETTLE_S = 60.0  # virtual seconds that cancelled tasks have to end

START = "2026-01-05T09:00:00+00:00"

# The clock and the guard are the process's, so only one World can run at a time.
_running = threading.Lock()


class World:
    """A place where a program runs in virtual time and meets only what is served there.

    START is the wall clock's time when the loop's is 0 (naive or without zone: UTC); SEED seeds `random`,
    `os.urandom` and what draws from them. A World runs once.
    """

    loop: VirtualLoop

    def __init__(self, *, start: datetime | str = START, seed: int = 0) -> None:
        self._start = clock.parse_start(start)
        self._chance = guard.Chance(seed)
        self._inside = False
        self.loop = VirtualLoop()
        self.loop.around = self._around

    def listen(self, host: str, factory: Callable[[], asyncio.Protocol], port: int | None = None) -> None:
        """Serve HOST ("*": any host) at PORT (None: any port): each connection gets its own FACTORY().

        Raises:
            WorldError: the same host and port are served already.
        """
        self.loop.network.listen(host, factory, port)

    def run(self, main: Coroutine[Any, Any, T]) -> T:
        """Run MAIN to its end in virtual time; then cancel what is left, close generators and threads.

        Raises:
            Deadlock: MAIN waits for something that will never come.
            WorldError: another World runs, this one has run, or an event loop runs in this thread.
        """
        if not asyncio.iscoroutine(main):
            raise TypeError(f"World.run() takes a coroutine, as in world.run(main()); got {main!r}")
        try:
            self._check()
            with self._around(), asyncio.Runner(loop_factory=lambda: self.loop) as runner:
                return runner.run(_then_settle(main))
        finally:
            main.close()

    def _check(self) -> None:
        if self.loop.is_closed():
            raise WorldError("this World has run: a World runs once, so make a new one")
        if asyncio._get_running_loop() is not None:
            raise WorldError(
                "World.run() was called while an event loop runs in this thread (a World inside a World, or "
                "an asynchronous test): call it from synchronous code, or await the program in that loop"
            )

    @contextmanager
    def _around(self) -> Iterator[None]:
        if self._inside:
            yield
            return
        if not _running.acquire(blocking=False):
            raise WorldError("another World runs in this process; the clock is the process's: run one at a time")
        with ExitStack() as stack:
            stack.callback(_running.release)
            stack.enter_context(guard.rare_collection())
            stack.enter_context(guard.no_proxies())
            stack.enter_context(guard.names_from_loop())
            stack.enter_context(self._chance.drawn())
            stack.enter_context(clock.following(self._start, lambda: self.loop.time_us))
            stack.enter_context(guard.nothing_leaves())
            self._inside = True
            try:
                yield
            finally:
                self._inside = False


async def _then_settle(main: Coroutine[Any, Any, T]) -> T:
    """MAIN, and after it the end of all that it left running.

    Raises:
        Deadlock: MAIN went well but left a task that will not be cancelled.
    """
    try:
        result = await main
    except BaseException:
        await _settle()
        raise
    stubborn = await _settle()
    if stubborn:
        raise Deadlock(f"the program has ended, but these tasks will not be cancelled: {stubborn}")
    return result


async def _settle() -> str:
    """Cancel what is left, and close what will not hear of it; returns a description of the latter."""
    left = asyncio.all_tasks() - {asyncio.current_task()}
    for task in left:
        task.cancel()
    if left:
        _, left = await asyncio.wait(left, timeout=_SETTLE_S)
    names = sorted(f"{task.get_name()} at {place_of(task.get_coro())}" for task in left)
    for task in left:
        task.add_done_callback(lambda done: done.cancelled() or done.exception())
        coroutine = task.get_coro()
        if coroutine is not None:
            with suppress(RuntimeError):
                coroutine.close()
    return ", ".join(names)


def new_loop(*, start: datetime | str = START, seed: int = 0) -> VirtualLoop:
    """A virtual-time loop for `asyncio.Runner(loop_factory=...)` or pytest-asyncio's loop factories.

    While it runs, it is in a World of its own: the clock follows, the network is `loop.network`.
    """
    return World(start=start, seed=seed).loop
