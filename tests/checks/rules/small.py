"""A client as small as a right one can be, for tests to spoil in one thing.

It holds the caller's words until the session is ready, answers each call once, asks for a reply when no response is
active and again when it was refused, truncates at what was heard, and hangs up when the goodbye has been heard.
"""

import asyncio
import base64
import contextlib
import json
from collections.abc import Coroutine
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from simrt import Line

Event = dict[str, Any]


class Item:
    """An item of the agent's on the speaker: from where on, and how much was queued of it."""

    def __init__(self, start_ms: float) -> None:
        self.start_ms, self.received_ms = start_ms, 0.0

    def heard_ms(self, played_ms: float) -> float:
        return min(max(played_ms - self.start_ms, 0.0), self.received_ms)


class Small:
    """One call."""

    def __init__(self, line: Line) -> None:
        self.line = line
        self.over = asyncio.Event()
        self.ready = asyncio.Event()
        self.tasks: list[asyncio.Task[None]] = []
        self.items: dict[str, Item] = {}
        self.seen: set[str] = set()
        self.names: dict[str, str] = {}
        self.done: dict[str, asyncio.Future[str]] = {}
        self.active: str | None = None
        self.cut: set[str] = set()
        self.wanted = self.asked = False
        self.crash: Exception | None = None

    async def run(self) -> None:
        """From pickup to hang-up."""
        async with connect(self.line.url, additional_headers=self.line.headers, max_size=None) as self.socket:
            self.spawn(self.listen())
            self.spawn(self.receive())
            await self.over.wait()
            await self.tidy_up()
        await self.line.hang_up()
        if self.crash is not None:
            raise self.crash

    async def tidy_up(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        self.tasks.append(asyncio.ensure_future(work))

    async def send(self, kind: str, **fields: Any) -> None:
        with contextlib.suppress(ConnectionClosed):
            await self.socket.send(json.dumps({"type": kind, **fields}))

    async def listen(self) -> None:
        held: list[bytes] = []
        async for frame in self.line.microphone:
            held.append(frame)
            if self.ready.is_set():
                for one in held:
                    await self.send("input_audio_buffer.append", audio=base64.b64encode(one).decode())
                held = []
        self.end()

    async def receive(self) -> None:
        try:
            async for message in self.socket:
                await self.on_event(json.loads(message))
        except ConnectionClosed:
            pass
        except Exception as crash:
            self.crash = crash
            self.over.set()
            return
        self.lost()

    def lost(self) -> None:
        """The connection is gone."""
        self.end()

    def end(self) -> None:
        self.over.set()

    async def on_event(self, event: Event) -> None:
        match event["type"]:
            case "session.created":
                await self.send("session.update", session={"type": "realtime"})
            case "session.updated":
                self.ready.set()
            case "response.created":
                self.active, self.asked = event["response"]["id"], False
            case "response.done":
                await self.response_done(event["response"])
            case "response.output_audio.delta":
                self.play(event)
            case "response.output_item.added":
                item = event["item"]
                if item["type"] == "function_call":
                    self.names[item["call_id"]] = item["name"]
            case "response.function_call_arguments.done":
                self.take(event)
            case "input_audio_buffer.speech_started":
                await self.barge_in()
            case "error":
                await self.error(event["error"])

    async def response_done(self, response: Event) -> None:
        self.active = None
        self.outcome(response["id"]).set_result(response["status"])
        await self.ask()

    def outcome(self, response_id: str) -> asyncio.Future[str]:
        if response_id not in self.done:
            self.done[response_id] = asyncio.get_running_loop().create_future()
        return self.done[response_id]

    async def error(self, error: Event) -> None:
        """Refused, or something went wrong at the server's."""
        if error["code"] == "conversation_already_has_active_response":
            self.asked, self.wanted = False, True
            await self.ask()

    # the agent's voice

    def play(self, event: Event) -> None:
        if event["response_id"] in self.cut:
            return
        speaker, pcm = self.line.speaker, base64.b64decode(event["delta"])
        item = self.items.setdefault(event["item_id"], Item(speaker.played_ms + speaker.queued_ms))
        item.received_ms += len(pcm) / self.line.format.bytes_per_ms
        speaker.play(pcm)

    async def barge_in(self) -> None:
        played_ms = self.line.speaker.played_ms
        self.line.speaker.clear()
        if self.active is not None:
            self.cut.add(self.active)
        items, self.items = self.items, {}
        for item_id, item in items.items():
            heard_ms = item.heard_ms(played_ms)
            if heard_ms < item.received_ms - 1:
                await self.tell(item_id, item, heard_ms)

    async def tell(self, item_id: str, item: Item, heard_ms: float) -> None:
        """Let the server know how much of an item was heard."""
        cut = {"item_id": item_id, "content_index": 0, "audio_end_ms": int(heard_ms)}
        await self.send("conversation.item.truncate", **cut)

    # calls and replies

    def take(self, event: Event) -> None:
        if event["call_id"] not in self.seen:
            self.seen.add(event["call_id"])
            self.spawn(self.answer(event))

    async def answer(self, event: Event) -> None:
        name, call_id = self.names.get(event["call_id"], ""), event["call_id"]
        if name != "end_call":
            await self.output(call_id, self.look_up(event["arguments"]))
            self.wanted = True
            await self.ask()
        elif await self.goodbye_over(event["response_id"]):
            self.end()
        else:
            await self.output(call_id, "The line is still open.")

    def look_up(self, arguments: str) -> str:
        """What the tool says."""
        try:
            return f"found with {json.loads(arguments)}"
        except ValueError:
            return "error: the arguments are no JSON object"

    async def output(self, call_id: str, output: str) -> None:
        item = {"type": "function_call_output", "call_id": call_id, "output": output}
        await self.send("conversation.item.create", item=item)

    async def ask(self) -> None:
        """Ask for a reply, if one is wanted and none is under way."""
        if self.wanted and self.active is None and not self.asked:
            self.wanted, self.asked = False, True
            await self.send("response.create")

    async def goodbye_over(self, response_id: str) -> bool:
        """Wait for the end of the goodbye; False: the caller talked over it."""
        try:
            async with asyncio.timeout(8):
                if await self.outcome(response_id) != "completed":
                    return False
                await self.line.speaker.drain()
        except TimeoutError:
            pass
        return True
