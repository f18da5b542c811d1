"""Bugs in how a call ends."""

import asyncio
from typing import Any

from clients.call import Call
from clients.desk import Output, ToolCall
from clients.desk.goodbye import HANG_UP_CAP_S
from tests.zoo.exhibit import Exhibit


class HangsUpWhenSent(Call):
    """Takes the server's word that all of the goodbye was sent for the caller's having heard it."""

    async def goodbye_over(self, call: ToolCall) -> bool:
        try:
            async with asyncio.timeout(HANG_UP_CAP_S):
                return await self.outcome(call.response_id) == "completed"
        except TimeoutError:
            return True


class FollowUp(Call):
    """The tool that ends the call is answered, and the goodbye is the reply to that answer."""

    patience_s = 10.0  # for the goodbye to begin, and then for more of it to come

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self._farewell: asyncio.Future[str] | None = None
        self._last_word = 0.0

    def on_event(self, event: dict[str, Any]) -> None:
        super().on_event(event)
        self._last_word = asyncio.get_running_loop().time()
        if event.get("type") == "response.created" and self._farewell is not None and not self._farewell.done():
            self._farewell.set_result(event["response"]["id"])

    async def _end_call(self, call: ToolCall) -> Output | None:
        self._farewell = asyncio.get_running_loop().create_future()
        self.spawn(self._say_goodbye(self._farewell))
        return Output({"message": "Say goodbye now."})

    async def _say_goodbye(self, farewell: "asyncio.Future[str]") -> None:
        if await self.heard(farewell):
            self.end("the call is finished")
        else:
            self.line.note("the caller talked over the goodbye: staying on the line")

    async def heard(self, farewell: "asyncio.Future[str]") -> bool:
        """Whether the line may be let go: the goodbye was heard, or there will be none."""
        while True:
            silent_s = asyncio.get_running_loop().time() - self._last_word
            try:
                async with asyncio.timeout(self.patience_s - silent_s + 0.001):
                    return await self.all_heard(farewell)
            except TimeoutError:
                if asyncio.get_running_loop().time() - self._last_word >= self.patience_s:
                    return True

    async def all_heard(self, farewell: "asyncio.Future[str]") -> bool:
        """Wait for the reply, for its end, and for the speaker. False: the caller talked over it."""
        response_id = await asyncio.shield(farewell)
        status = await asyncio.shield(self.outcome(response_id))
        await self.line.speaker.drain()
        return status == "completed" and not self.playout.lost_audio_of(response_id)


class FollowUpTimer(FollowUp):
    """Gives the reply to the tool five seconds, all of it."""

    async def heard(self, farewell: "asyncio.Future[str]") -> bool:
        try:
            async with asyncio.timeout(5.0):
                return await self.all_heard(farewell)
        except TimeoutError:
            self.line.note("tool reply timed out")
            return True


EXHIBITS = (
    Exhibit(
        "B01",
        "openclaw/openclaw#155271",
        "hung up before the farewell had played",
        HangsUpWhenSent,
        Call,
        "farewell",
        ("AGT201",),
        ("burst",),
    ),
    Exhibit(
        "B02",
        "livekit/agents#5096",
        "end-call tool: last audio cut, then a reply timeout",
        FollowUpTimer,
        FollowUp,
        "follow-up",
        ("AGT201", "END401"),
        ("stall:for=3000ms",),
    ),
)
