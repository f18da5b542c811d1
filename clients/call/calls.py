"""Three ways to start and end a call. Only the first is right."""

import asyncio

from ..desk import ToolCall
from .front_desk import FrontDesk


class Call(FrontDesk):
    """Keeps what the caller says until the session is ready; hangs up when the goodbye has been heard."""


class NaiveCall(FrontDesk):
    """Drops what the caller says until the session is ready; hangs up a second after `end_call`."""

    hold_ms = 0

    async def goodbye_over(self, call: ToolCall) -> bool:
        await asyncio.sleep(1.0)
        return True


class DrainCall(FrontDesk):
    """Starts like `Call`, but hangs up at the first moment that the speaker has nothing to play."""

    async def goodbye_over(self, call: ToolCall) -> bool:
        await self.line.speaker.drain()
        return True
