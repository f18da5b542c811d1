"""Bugs in what a client does when its connection is lost."""

import asyncio
from contextlib import suppress
from typing import Any

from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from clients.call import Call
from clients.desk import CallFailed
from clients.desk.dial import dial
from tests.zoo.exhibit import Exhibit


class Reconnecting(Call):
    """Connects again when the connection is lost, and tells the new session what was said so far."""

    most = 5

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self._ready = asyncio.Event()
        self._said: list[tuple[str, str]] = []  # role, words
        self._owes = False  # whether the caller waits for an answer

    async def _receive(self) -> None:
        for _ in range(self.most):
            self._ready.set()
            await super()._receive()
            self._ready.clear()
            if not await self.reconnected():
                return
        super().end("the connection was lost too often")

    def end(self, reason: str) -> None:
        if reason.startswith("the connection was lost"):
            self.line.note(reason)  # which is not the end
        else:
            super().end(reason)

    async def reconnected(self) -> bool:
        """Connect again. False: the call is over."""
        try:
            async with asyncio.timeout(10):
                self._socket = await dial(self.line.url, self.line.headers)
                await self._set_up()
                await self._remind()
        except (CallFailed, ConnectionClosed, TimeoutError) as failure:
            super().end(f"no new connection: {failure}")
            return False
        return True

    async def _remind(self) -> None:
        self.turns = type(self.turns)()  # a new session knows of no response
        for role, text in self._said:
            content = [{"type": "input_text" if role == "user" else "output_text", "text": text}]
            item = {"type": "message", "role": role, "content": content}
            await self._send({"type": "conversation.item.create", "item": item})
        if self._owes:
            await self._send({"type": "response.create"})

    async def _append(self, frame: bytes) -> None:
        while True:
            await self._ready.wait()
            try:
                return await super()._append(frame)
            except ConnectionClosed:
                self._ready.clear()

    def on_event(self, event: dict[str, Any]) -> None:
        super().on_event(event)
        match event.get("type"):
            case "conversation.item.input_audio_transcription.completed":
                self._write("user", event["transcript"])
            case "response.output_audio_transcript.done":
                self._write("assistant", event["transcript"])
            case "input_audio_buffer.committed":
                self._owes = True
            case "response.done":
                output = event["response"].get("output") or []
                self._owes = any(item.get("type") == "function_call" for item in output)

    def _write(self, role: str, text: str) -> None:
        if (role, text) not in self._said:  # said again because it was not heard
            self._said.append((role, text))


class Halts(Reconnecting):
    """Stops receiving when the connection is closed, and does nothing else about it."""

    async def reconnected(self) -> bool:
        return False

    async def _append(self, frame: bytes) -> None:
        with suppress(ConnectionClosed):
            await Call._append(self, frame)


class PongInTime(Call):
    """Takes a connection for dead when a pong is 20 s late, whatever else comes over it."""

    async def _talk(self, headers: dict[str, str]) -> None:
        self._socket = await connect(self.line.url, additional_headers=headers)  # and its own idea of keepalive
        await self._set_up()
        self._uplink.open()
        self.spawn(self._uplink.flush())
        await self._receive()


EXHIBITS = (
    Exhibit(
        "B12",
        "pipecat-ai/pipecat#3170",
        "the call dies at 60 minutes",
        Halts,
        Reconnecting,
        "lookup",
        ("END405",),
        ("close:event=response.content_part.added,nth=0,code=1001",),
    ),
    Exhibit(
        "B13",
        "modelscope/FunASR#3533",
        "1011 keepalive timeout under load",
        PongInTime,
        Call,
        "long",
        ("END410",),
        ("no-pong",),
    ),
)
