"""The tasks of one call."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from websockets.exceptions import ConnectionClosed


class Tasks:
    """They end with the call at the latest. `over` is set when it is; `crash` is what first went wrong, and ends it."""

    def __init__(self) -> None:
        self.over = asyncio.Event()
        self.crash: Exception | None = None
        self._running: dict[asyncio.Task[None], None] = {}  # a set would cancel them in any order

    def spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Start work that ends with the call at the latest."""
        task = asyncio.create_task(self._guard(work))
        self._running[task] = None
        task.add_done_callback(self._running.pop)
        task.add_done_callback(lambda _: work.close())  # one that was cancelled before it began has not been awaited
        return task

    async def end(self) -> None:
        """The call is over: cancel what still runs."""
        self.over.set()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    async def _guard(self, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except ConnectionClosed:
            pass  # who receives sees it too, and reports it
        except Exception as crash:
            self.crash = self.crash or crash
            self.over.set()
