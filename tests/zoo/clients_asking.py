"""Bugs in when a reply is asked for."""

import asyncio
from typing import Any

from clients.call import Call
from clients.desk import Output, ToolCall
from clients.desk.turns import Turns
from tests.zoo.exhibit import Exhibit


class Pushing(Call):
    """Has its own search for the booking run while the agent plays for time, and tells the model what came up."""

    searches_s = 3.5

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self._searching = False

    def on_event(self, event: dict[str, Any]) -> None:
        super().on_event(event)
        if event.get("type") == "input_audio_buffer.committed" and not self._searching:
            self._searching = True
            self.spawn(self._search())

    async def _search(self) -> None:
        await asyncio.sleep(self.searches_s)
        self.push("It is through now: $32 went to the Visa ending in 4242. Tell the caller.")

    def push(self, text: str) -> None:
        """Have the model speak about it."""
        self.inform(text)


class PushingAtOnce(Pushing):
    """Asks for the reply with the message, whoever is speaking: the server may have begun one by itself."""

    def push(self, text: str) -> None:
        self.inform(text, reply=False)
        self.spawn(self._send({"type": "response.create"}))


class SlowLookup(Call):
    """Its tool takes a moment, as tools do."""

    lookup_s = 0.1

    async def _lookup_booking(self, call: ToolCall) -> Output:
        await asyncio.sleep(self.lookup_s)
        return await super()._lookup_booking(call)


class EagerTurns(Turns):
    """Does not look whether a response is active."""

    def ask(self) -> str | None:
        active, self.active = self.active, None
        event_id = super().ask()
        self.active = active
        return event_id


class EagerAfterTool(SlowLookup):
    """Asks for the reply as soon as the tool's output is sent: the response that made the call may not be over."""

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self.turns = EagerTurns()


class WaitsForRefused(SlowLookup):
    """Logs errors, and does not see that one is the answer to its response.create: it waits until its patience ends."""

    def on_event(self, event: dict[str, Any]) -> None:
        if event.get("type") == "error":
            self.line.note(f"the server reports {event['error'].get('message')}")
        else:
            super().on_event(event)


class Idle(SlowLookup):
    """Has the model ask whether the caller is still there, when nobody has said anything for a while."""

    lookup_s = 3.0
    idle_s = 3.15

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self._looking_up = 0
        self._moves = 0

    async def _lookup_booking(self, call: ToolCall) -> Output:
        self._looking_up += 1
        try:
            return await super()._lookup_booking(call)
        finally:
            self._looking_up -= 1

    def on_event(self, event: dict[str, Any]) -> None:
        super().on_event(event)
        match event.get("type"):
            case "input_audio_buffer.speech_started" | "response.created":
                self._moves += 1
            case "input_audio_buffer.speech_stopped" | "response.done":
                self._moves += 1
                self.spawn(self._idle(self._moves))

    async def _idle(self, move: int) -> None:
        await self.line.speaker.drain()
        await asyncio.sleep(self.idle_s)
        if move == self._moves and not self.occupied():
            self.prompt("The caller has been silent. Ask whether they are still there.")

    def occupied(self) -> bool:
        """Whether a reply is on its way anyway."""
        return self.turns.busy or self._looking_up > 0

    def prompt(self, text: str) -> None:
        """Have the model say something."""
        self.inform(text)


class IdleBesideTool(Idle):
    """Its idle prompt and its tools each ask for a reply when no response is active, and know nothing of the other."""

    def occupied(self) -> bool:
        return self.turns.active is not None

    def prompt(self, text: str) -> None:
        self.inform(text, reply=False)
        self.spawn(self._send({"type": "response.create"}))


EXHIBITS = (
    Exhibit(
        "B03",
        "openai/openai-agents-python#1466",
        '"already has an active response" on sending a message',
        PushingAtOnce,
        Pushing,
        "pushed",
        ("PRO301", "PRO302"),
        ("stall:reply=0,for=1000ms",),
    ),
    Exhibit(
        "B04",
        "livekit/agents#1056",
        "the same after a tool result",
        EagerAfterTool,
        SlowLookup,
        "lookup",
        ("PRO301",),
        ("delay:nth=0",),
    ),
    Exhibit(
        "B05",
        "livekit/agents#6818",
        "a refused response.create leaves the caller waiting 10 s",
        WaitsForRefused,
        SlowLookup,
        "lookup",
        ("PRO302", "AGT211"),
        ("reject",),
    ),
    Exhibit(
        "B06",
        "pollen-robotics/reachy_mini_conversation_app#204",
        "idle prompt and tool reply collide",
        IdleBesideTool,
        Idle,
        "lookup",
        ("PRO301",),
        ("latency",),
    ),
)
