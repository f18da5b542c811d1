"""Three ways to start and end a call. Only the first is right."""

import asyncio

from .front_desk import FrontDesk
from .tools import ToolCall

HANG_UP_CAP_S = 8.0


class Call(FrontDesk):
    """Keeps what the caller says until the session is ready; hangs up when the goodbye has been heard."""

    async def goodbye_over(self, call: ToolCall) -> bool:
        """The server has sent all of the goodbye, *and* all of it was played; at most 8 s from `end_call`."""
        try:
            async with asyncio.timeout(HANG_UP_CAP_S):
                status = await self.outcome(call.response_id)
                if status == "completed":
                    await self.line.speaker.drain()
        except TimeoutError:
            self.line.note(f"the goodbye was not over {HANG_UP_CAP_S} s after end_call: hang-up cap hit")
            return True
        return status == "completed" and not self.playout.lost_audio_of(call.response_id)


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
