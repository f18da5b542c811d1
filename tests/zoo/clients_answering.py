"""Bugs in how a client answers the model's tool calls."""

import asyncio
import json
from typing import Any

from clients.call import Call
from clients.desk import Output, ToolCall
from clients.desk.patience import Patience
from tests.zoo.exhibit import Exhibit


class EndlessPatience(Patience):
    """Waits for a response that it has asked for, or that has begun, for as long as it takes."""

    async def asked(self, event_id: str) -> None:
        pass

    async def _goes_on(self, response_id: str) -> None:
        pass


class TrustsServer(Call):
    """Sends the tool's output, asks for a reply, and counts on it."""

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self._patience = EndlessPatience(self)


class ReadsArguments(Call):
    """Reads a call's arguments where it is taken up: that is JSON, empty or not."""

    async def _answer(self, call: ToolCall) -> None:
        self.line.note(f"{call.name} is called with {json.loads(call.arguments)}")
        await super()._answer(call)


class RunsEveryItem(Call):
    """Runs a tool call when its item is done, whatever its status, and as often as that comes."""

    def on_event(self, event: dict[str, Any]) -> None:
        if event.get("type") != "response.function_call_arguments.done":
            super().on_event(event)

    def _on_call_item(self, item: dict[str, Any], response_id: str) -> None:
        self._calls_seen.discard(item["call_id"])
        super()._on_call_item({**item, "status": "completed"}, response_id)


class LongLookup(Call):
    """Its tool takes a while; a caller may well speak meanwhile."""

    lookup_s = 2.0

    async def _lookup_booking(self, call: ToolCall) -> Output:
        await asyncio.sleep(self.lookup_s)
        return await super()._lookup_booking(call)


class DropsOnBargeIn(LongLookup):
    """Cancels everything when the caller cuts in: the tools that are running, too."""

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self._answering: dict[str, asyncio.Task[Any] | None] = {}

    async def _answer(self, call: ToolCall) -> None:
        self._answering[call.call_id] = asyncio.current_task()
        await super()._answer(call)
        del self._answering[call.call_id]

    def _barge_in(self) -> None:
        super()._barge_in()
        for answering in self._answering.values():
            if answering is not None:
                answering.cancel()
        self._answering.clear()


EXHIBITS = (
    Exhibit(
        "B15",
        "pipecat-ai/pipecat#917",
        "silence after a tool call",
        TrustsServer,
        Call,
        "looked-up",
        ("AGT210",),
        ("hang",),
    ),
    Exhibit(
        "B16",
        "openai/openai-agents-js#664",
        "crash on a tool call without arguments",
        ReadsArguments,
        Call,
        "looked-up",
        ("PRO310", "END409"),
        ("arguments",),
    ),
    Exhibit(
        "B17",
        "livekit/agents#7230",
        "an incomplete or repeated tool call is run",
        RunsEveryItem,
        Call,
        "looked-up",
        ("PRO308", "PRO309"),
        ("repeat-call",),
    ),
    Exhibit(
        "B18",
        "bolna-ai/bolna#827",
        "barge-in loses the call/output pair, the call is made again",
        DropsOnBargeIn,
        LongLookup,
        "holding",
        ("PRO307",),
        ("barge-in:reply=-2,at=0ms,answer=breakfast",),
    ),
)
