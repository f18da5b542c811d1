"""A desk that answers one phone call over one Realtime session: the plumbing, without anything to say.

A subclass gives it instructions and tools. One task listens to the microphone, one receives events, and each
tool call has its own. The task that receives never waits for something to be sent: when the way out is
jammed, the agent is still heard.
"""

import asyncio
import base64
import json
import logging
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, ClassVar

from websockets.asyncio.client import ClientConnection
from websockets.exceptions import ConnectionClosed

from .dial import CallFailed, auth_headers, dial, why_closed
from .patience import Patience
from .playout import Playout
from .tasks import Tasks
from .tools import Output, Tool, ToolCall, ToolError
from .turns import Turns
from .uplink import Uplink

if TYPE_CHECKING:
    from simrt import Line

logger = logging.getLogger(__name__)

READY_TIMEOUT_S = 30.0
ITEM_TIMEOUT_S = 1.0

_FORMAT_TYPES = {"pcm16": "audio/pcm", "ulaw": "audio/pcmu", "alaw": "audio/pcma"}


class Desk(ABC):
    """One call: `await Desk(line).run()` returns when the line is hung up. CallFailed: it never got going."""

    instructions: ClassVar[str]
    hold_ms: ClassVar[int] = 5000  # how much of the caller to keep until the session is ready

    def __init__(self, line: "Line") -> None:
        self.line = line
        self.playout = Playout(line)
        self.turns = Turns()
        self.session_id = ""  # the server's
        self.caller_turns = 0  # how often the caller began to speak
        self._tools = {tool.name: tool for tool in self.tools()}
        self._call_names: dict[str, str] = {}
        self._calls_seen: set[str] = set()
        self._statuses: dict[str, asyncio.Future[str]] = {}
        self._outcomes: dict[str, asyncio.Future[str]] = {}
        self._notes = 0
        self._uplink = Uplink(line.microphone, self._append, self.hold_ms)
        self._socket: ClientConnection | None = None
        self._tasks = Tasks()
        self._patience = Patience(self)

    @abstractmethod
    def tools(self) -> list[Tool]:
        """The tools that the model gets."""

    async def run(self) -> None:
        """Take the call, from pickup to hang-up."""
        try:
            headers = self.line.headers or auth_headers()
            self.spawn(self._listen())  # first: the caller talks from pickup on
            self.spawn(self._talk(headers))
            await self._tasks.over.wait()
        finally:
            await self._shut()
        if self._tasks.crash is not None:
            raise self._tasks.crash

    async def _talk(self, headers: dict[str, str]) -> None:
        clock = asyncio.get_running_loop().time
        pickup = clock()
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                self._socket = await dial(self.line.url, headers)
                await self._set_up()
        except TimeoutError as error:
            raise CallFailed(f"the session was not ready after {READY_TIMEOUT_S:.0f} s") from error
        held = self._uplink.open()
        self.line.note(f"session ready {clock() - pickup:.2f} s after pickup: {held}")
        self.spawn(self._uplink.flush())
        self.spawn(self._patience.quiet())
        await self._receive()

    async def _shut(self) -> None:
        await self._tasks.end()
        if self._socket is not None:
            # Read on while closing: the server's answer comes after whatever it has already sent.
            await asyncio.gather(self._socket.close(), self._discard())
        await self.line.hang_up()

    async def _discard(self) -> None:
        with suppress(ConnectionClosed):
            while True:
                await self._connection.recv()

    def end(self, reason: str) -> None:
        """Hang up; `run` closes the connection."""
        if not self._tasks.over.is_set():
            self.line.note(f"hanging up: {reason}")
            self._tasks.over.set()

    def outcome(self, response_id: str) -> "asyncio.Future[str]":
        """Done with the status of this response when its `response.done` arrives, if it does."""
        if response_id not in self._outcomes:
            self._outcomes[response_id] = asyncio.get_running_loop().create_future()
        return self._outcomes[response_id]

    @property
    def _connection(self) -> ClientConnection:
        assert self._socket is not None, "not connected yet"
        return self._socket

    # The caller's audio

    async def _listen(self) -> None:
        await self._uplink.listen()
        self.end("the caller hung up")

    async def _append(self, frame: bytes) -> None:
        await self._send({"type": "input_audio_buffer.append", "audio": base64.b64encode(frame).decode()})

    # The session

    def _session(self) -> dict[str, Any]:
        encoding = self.line.format.encoding
        audio: dict[str, Any] = {"type": _FORMAT_TYPES[encoding]}
        if encoding == "pcm16":
            audio["rate"] = self.line.format.rate
        return {
            "type": "realtime",
            "instructions": self.instructions,
            "audio": {
                "input": {
                    "format": audio,
                    "transcription": {"model": "gpt-4o-transcribe"},
                    # PolyAI drops the whole update when turn_detection holds any other tuning.
                    "turn_detection": {"type": "server_vad"},
                },
                "output": {"format": audio},
            },
            "tools": [tool.definition() for tool in self._tools.values()],
        }

    async def _set_up(self) -> None:
        created = await self._expect("session.created")
        self.session_id = str(_object(created, "session").get("id") or "")
        await self._send({"type": "session.update", "session": self._session()})
        self._check_format(await self._expect("session.updated"))

    def _check_format(self, updated: dict[str, Any]) -> None:
        """CallFailed when the server says that its audio is not in the format that was asked for."""
        asked = self._session()["audio"]["output"]["format"]
        stated = _object(_object(_object(_object(updated, "session"), "audio"), "output"), "format")
        if any(key in stated and stated[key] != value for key, value in asked.items()):
            raise CallFailed(f"the session's audio is {stated}, and not {asked} as was asked for: nobody could hear it")

    async def _expect(self, kind: str) -> dict[str, Any]:
        while True:
            try:
                event = _parse(await self._connection.recv())
            except ConnectionClosed as closed:
                raise CallFailed(f"the server closed the connection {why_closed(closed)} before {kind}") from closed
            if event.get("type") == kind:
                return event
            if event.get("type") == "error":
                error = _object(event, "error")
                raise CallFailed(
                    f"the session was refused before {kind}: {error.get('message')} "
                    f"(code {error.get('code')}, parameter {error.get('param')}); correct the session.update"
                )

    async def _send(self, event: dict[str, Any]) -> None:
        await self._connection.send(json.dumps(event))

    async def _receive(self) -> None:
        while True:
            try:
                message = await self._connection.recv()
            except ConnectionClosed as closed:
                self.end(f"the connection was lost {why_closed(closed)}")
                return
            event = _parse(message)
            try:
                self.on_event(event)
                self._patience.noticed(event)
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                self.line.note(f"cannot read a {event.get('type')} event: {error!r}")

    def on_event(self, event: dict[str, Any]) -> None:
        """Deal with an event of the server's; must not wait. What is amiss with the event may raise."""
        match event.get("type"):
            case "response.output_audio.delta" | "response.audio.delta":
                pcm = base64.b64decode(event["delta"], validate=True)
                self.playout.play(event["response_id"], event["item_id"], event.get("content_index", 0), pcm)
            case "response.created":
                self.turns.started(event["response"]["id"])
            case "response.done":
                self._on_done(event["response"])
            case "response.output_audio.done" | "response.audio.done":
                self.playout.complete(event["response_id"])
            case "input_audio_buffer.speech_started":
                self.caller_turns += 1
                self._barge_in()
            case "response.output_item.added":
                item = event["item"]
                if item.get("type") == "function_call":
                    self._call_names[item["call_id"]] = item["name"]
            case "response.output_item.done":
                item = event["item"]
                if item.get("type") == "function_call":
                    self._on_call_item(item, event["response_id"])
            case "response.function_call_arguments.done":
                self._on_call(event)
            case "conversation.item.added" | "conversation.item.created" | "conversation.item.done":
                item = event["item"]
                if item.get("type") == "function_call_output":
                    self.turns.output_in_history(item["call_id"])
                elif item.get("role") == "system":
                    self.turns.output_in_history(item["id"])
            case "conversation.item.input_audio_transcription.completed":
                self.line.note(f"caller: {event['transcript']}")
            case "response.output_audio_transcript.done" | "response.audio_transcript.done":
                self.line.note(f"agent: {event['transcript']}")
            case "error":
                error = _object(event, "error")
                self.line.note(f"the server reports {error.get('code')}: {error.get('message')}")
                if self.turns.refused(error.get("event_id"), error.get("code")):
                    self.spawn(self._patience.retry())

    def _on_done(self, response: dict[str, Any]) -> None:
        response_id, status = response["id"], response.get("status") or "completed"
        if status == "cancelled" and not self.playout.silenced(response_id):
            self._barge_in()
        if status in ("failed", "incomplete"):
            self.line.note(f"response {response_id} {status}: {response.get('status_details')}")
        self.playout.complete(response_id)
        self.turns.finished(response_id, status)
        if not self.outcome(response_id).done():
            self.outcome(response_id).set_result(status)
        self._ask_for_reply()

    def _barge_in(self) -> None:
        for cut in self.playout.cut(self.turns.active):
            self.line.note(f"the caller cuts in: {cut.heard_ms} of {cut.received_ms} ms heard")
            if not cut.heard_ms:  # a truncate to nothing is refused by some servers
                self.spawn(self._send({"type": "conversation.item.delete", "item_id": cut.item_id}))
                continue
            heard = {"content_index": cut.content_index, "audio_end_ms": cut.heard_ms}
            self.spawn(self._send({"type": "conversation.item.truncate", "item_id": cut.item_id, **heard}))

    # Tools

    def _on_call(self, event: dict[str, Any]) -> None:
        call_id = event["call_id"]
        if call_id in self._calls_seen:
            self.line.note(f"call {call_id} came twice: not run again")
            return
        self._calls_seen.add(call_id)
        name = event.get("name") or self._call_names.get(call_id, "")
        response_id = event.get("response_id") or self.turns.active or ""
        self.spawn(self._answer(ToolCall(name, call_id, response_id, event.get("arguments") or "")))

    def _on_call_item(self, item: dict[str, Any], response_id: str) -> None:
        """It tells whether the call is whole, and all of the call as well, should that have been lost."""
        status = item.get("status") or "completed"
        if not self._call_status(item["call_id"]).done():
            self._call_status(item["call_id"]).set_result(status)
        if status == "completed" and item["call_id"] not in self._calls_seen:
            self._on_call({**item, "response_id": response_id})

    async def _answer(self, call: ToolCall) -> None:
        if not call.whole and await self._broken_off(call):
            self.line.note(f"{call.name or 'a call'} was broken off: nothing to answer")
            return
        try:
            if call.name not in self._tools:
                raise ToolError(f"There is no tool named {call.name!r}.")
            output = await self._tools[call.name].run(call)
        except ToolError as error:
            output = Output({"error": str(error)})
        except Exception:
            logger.exception("tool %s failed", call.name)
            self.line.note(f"tool {call.name} failed")
            output = Output({"error": "That did not work because of a fault on our side."})
        if output is None:
            return
        if output.reply:
            self.turns.output_sent(call.call_id)
        item = {"type": "function_call_output", "call_id": call.call_id, "output": json.dumps(output.result)}
        await self._send({"type": "conversation.item.create", "item": item})
        self._ask_for_reply()

    async def _broken_off(self, call: ToolCall) -> bool:
        """Whether the model never finished the call. Its arguments alone do not tell: the item's end does, and in the
        worst case the response's."""
        ends = [self._call_status(call.call_id), self.outcome(call.response_id)]
        await asyncio.wait(ends, timeout=ITEM_TIMEOUT_S, return_when=asyncio.FIRST_COMPLETED)
        status = next((end.result() for end in ends if end.done()), "completed")
        return status != "completed"

    def _call_status(self, call_id: str) -> "asyncio.Future[str]":
        """Done with the status of this function call's item when that is complete."""
        return self._statuses.setdefault(call_id, asyncio.get_running_loop().create_future())

    def inform(self, text: str, *, reply: bool = True) -> None:
        """Tell the model something that the caller did not say; `reply`: and have it speak about it."""
        self._notes += 1
        item_id = f"note-{self._notes}"
        if reply:
            self.turns.output_sent(item_id)
        content = [{"type": "input_text", "text": text}]
        item = {"id": item_id, "type": "message", "role": "system", "content": content}
        self.spawn(self._send({"type": "conversation.item.create", "item": item}))
        self._ask_for_reply()  # goes out after the note: tasks start in the order of being made

    def _ask_for_reply(self) -> None:
        """Ask for one if one is owed, and it is time: not into the caller's words, whose end brings one anyway."""
        event_id = None if self._patience.caller_talks else self.turns.ask()
        if event_id is not None:
            self.spawn(self._send({"type": "response.create", "event_id": event_id}))
            self.spawn(self._patience.asked(event_id))

    def unanswered(self) -> None:
        """Nothing has come of what the caller said: a cough, or it got lost. Have the model go on."""
        self.line.note("the caller's turn brought no reply: asked for one")
        self.turns.owe("turn")
        self._ask_for_reply()

    async def cancel(self, response_id: str) -> None:
        """Break a response off."""
        await self._send({"type": "response.cancel", "response_id": response_id})

    # Tasks

    def spawn(self, work: Coroutine[Any, Any, None]) -> None:
        """Work that ends with the call at the latest."""
        self._tasks.spawn(work)


def _parse(message: str | bytes) -> dict[str, Any]:
    """A message as an event; `{}` when it is none (the wire may garble one: that is no reason to hang up)."""
    try:
        event = json.loads(message)
    except ValueError:
        event = None
    return event if isinstance(event, dict) else {}


def _object(event: dict[str, Any], key: str) -> dict[str, Any]:
    value = event.get(key)
    return value if isinstance(value, dict) else {}
