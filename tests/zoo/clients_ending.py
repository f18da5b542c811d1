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
        self._farewells: asyncio.Queue[str] | None = None  # responses that may be it
        self._last_word = 0.0

    def on_event(self, event: dict[str, Any]) -> None:
        super().on_event(event)
        self._last_word = asyncio.get_running_loop().time()
        if event.get("type") == "response.created" and self._farewells is not None:
            self._farewells.put_nowait(event["response"]["id"])

    async def _end_call(self, call: ToolCall) -> Output | None:
        if self._farewells is None:
            self._farewells = asyncio.Queue()
            self.spawn(self._hang_up(self._farewells))
            self.spawn(self._give_up(self._farewells))
        return Output({"message": "Say goodbye now."})

    async def _hang_up(self, farewells: "asyncio.Queue[str]") -> None:
        """When the goodbye was heard."""
        while True:
            response_id = await farewells.get()
            status = await self.outcome(response_id)
            await self.line.speaker.drain()
            if not self.turns.busy and farewells.empty():
                break  # else it was not the reply to the tool
        if status == "completed" and not self.playout.lost_audio_of(response_id):
            self.end("the call is finished")
            return
        self._farewells = None
        self.line.note("the caller talked over the goodbye: staying on the line")

    async def _give_up(self, farewells: "asyncio.Queue[str]") -> None:
        """When nothing comes any more."""
        while self._farewells is farewells:
            silent_s = asyncio.get_running_loop().time() - self._last_word
            if silent_s >= self.patience_s:
                self.end("there is no goodbye")
            await asyncio.sleep(max(self.patience_s - silent_s, 0) + 0.001)


class FollowUpTimer(FollowUp):
    """Gives the reply to the tool five seconds, all of it."""

    async def _give_up(self, farewells: "asyncio.Queue[str]") -> None:
        await asyncio.sleep(5.0)
        self.end("tool reply timed out")


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
