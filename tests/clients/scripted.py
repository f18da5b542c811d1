"""A server whose script is a coroutine, and one call of a desk with it in virtual time."""

import asyncio
import base64
import json
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import Any

from websockets.asyncio.server import ServerConnection, serve
from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.http11 import Request, Response

from clients.desk import CallFailed
from simrt.audio import PCM24, AudioFormat
from simrt.caller.clock import Clock
from simrt.caller.line import Line, Speaker
from simrt.world import World

URL = "ws://desk.test/v1/realtime?model=any"
KEY = {"Authorization": "Bearer not-a-real-key"}

Event = dict[str, Any]


class NumberedMicrophone:
    """20 ms frames that say which one they are; ends at hang-up."""

    def __init__(self, clock: Clock, format: AudioFormat) -> None:
        self.clock = clock
        self.format = format
        self.opened_us: int | None = None
        self._next = 0
        self._closed = asyncio.Event()

    def close(self) -> None:
        self._closed.set()

    def __aiter__(self) -> "NumberedMicrophone":
        return self

    async def __anext__(self) -> bytes:
        if self.opened_us is None:
            self.opened_us = self.clock.now_us()
        wait_s = ((self._next + 1) * 20_000 - self.clock.now_us()) / 1e6
        try:
            async with asyncio.timeout(wait_s):
                await self._closed.wait()
            raise StopAsyncIteration
        except TimeoutError:
            self._next += 1
            return (self._next - 1).to_bytes(2, "big") * (self.format.size_of(20) // 2)


class Server:
    """One connection of a Realtime server whose script is a coroutine; keeps what the client sent, with times."""

    def __init__(self, connection: ServerConnection, ready_after_s: float) -> None:
        self.connection = connection
        self.ready_after_s = ready_after_s
        self.got: list[tuple[int, Event]] = []
        self.close_code: int | None = None
        self._reading = asyncio.Event()
        self._reading.set()
        self._news = asyncio.Condition()

    async def send(self, kind: str, **fields: Any) -> None:
        await self.connection.send(json.dumps({"type": kind, "event_id": "event", **fields}))

    async def read(self) -> None:
        try:
            while True:
                await self._reading.wait()
                message = await self.connection.recv()
                async with self._news:
                    self.got.append((now_us(), json.loads(message)))
                    self._news.notify_all()
        except ConnectionClosed as closed:
            self.close_code = closed.rcvd.code if closed.rcvd else None

    def of(self, *kinds: str) -> list[Event]:
        return [event for _, event in self.got if event["type"] in kinds]

    def when(self, kind: str) -> list[int]:
        return [t_us for t_us, event in self.got if event["type"] == kind]

    async def until(self, kind: str, count: int = 1) -> Event:
        async with self._news:
            await self._news.wait_for(lambda: len(self.of(kind)) >= count)
        return self.of(kind)[count - 1]

    def stop_reading(self) -> None:
        self._reading.clear()

    def go_on_reading(self) -> None:
        self._reading.set()

    async def greet(self) -> None:
        await self.send("session.created", session={"type": "realtime"})
        update = await self.until("session.update")
        await asyncio.sleep(self.ready_after_s)
        await self.send("session.updated", session=update["session"])

    async def audio(self, ms: int, response: str = "r1", item: str = "i1", *, beta: bool = False) -> None:
        kind = "response.audio.delta" if beta else "response.output_audio.delta"
        delta = base64.b64encode(b"\1\2" * (24 * ms)).decode()
        await self.send(kind, response_id=response, item_id=item, output_index=0, content_index=0, delta=delta)

    async def paced(self, ms: int, response: str = "r1", item: str = "i1") -> None:
        """300 ms at once, then 200 ms chunks in real time."""
        await self.audio(300, response, item)
        sent = 300
        while sent < ms:
            await asyncio.sleep(0.2)
            chunk = min(200, ms - sent)
            await self.audio(chunk, response, item)
            sent += chunk

    async def begin(self, response: str = "r1") -> None:
        await self.send("response.created", response={"id": response, "status": "in_progress"})

    async def call(
        self, name: str, arguments: str, call_id: str = "c1", response: str = "r1", *, named: bool = True
    ) -> None:
        item = {"type": "function_call", "id": f"item-{call_id}", "call_id": call_id, "name": name, "arguments": ""}
        await self.send("response.output_item.added", response_id=response, item=item)
        extra = {"name": name} if named else {}
        await self.send(
            "response.function_call_arguments.done",
            response_id=response,
            item_id=f"item-{call_id}",
            call_id=call_id,
            arguments=arguments,
            **extra,
        )

    async def goodbye(self, call_id: str = "c1", response: str = "r1") -> None:
        arguments = json.dumps({"goodbye": "Goodbye from the Harborview Inn.", "reason": "done"})
        await self.call("end_call", arguments, call_id, response)

    async def done(self, response: str = "r1", status: str = "completed") -> None:
        await self.send("response.done", response={"id": response, "status": status, "status_details": None})

    async def in_history(self, call_id: str = "c1") -> None:
        await self.send("conversation.item.added", item={"type": "function_call_output", "call_id": call_id})


@dataclass
class Outcome:
    """How a call went: all times in µs since pickup."""

    line: Line
    servers: list[Server] = field(default_factory=list)
    hung_up_us: int = 0
    error: CallFailed | None = None
    leftovers: list[str] = field(default_factory=list)

    @property
    def server(self) -> Server:
        return self.servers[0]

    @property
    def notes(self) -> str:
        return "\n".join(note.message for note in self.line.notes)

    @property
    def outputs(self) -> list[tuple[str, Event]]:
        items = [event["item"] for event in self.server.of("conversation.item.create")]
        return [(item["call_id"], json.loads(item["output"])) for item in items if item["type"] != "message"]

    @property
    def heard_frames(self) -> list[int]:
        """The numbers of the microphone frames that the server got, in the order in which it got them."""
        appends = [base64.b64decode(event["audio"]) for event in self.server.of("input_audio_buffer.append")]
        return [int.from_bytes(frame[:2], "big") for frame in appends]


Script = Callable[[Any], Awaitable[None]]


def now_us() -> int:
    return round(asyncio.get_running_loop().time() * 1e6)


def play(
    client: Callable[[Line], Any],
    script: Script,
    *,
    server_type: type[Server] = Server,
    format: AudioFormat = PCM24,
    headers: dict[str, str] | None = None,
    ready_after_s: float = 0.0,
    status: int | None = None,
    url: str = URL,
    caller_hangs_up_s: float = 60.0,
) -> Outcome:
    """One call of `client` with a server that greets and then follows `script`."""

    async def main() -> Outcome:
        clock = Clock(asyncio.get_running_loop())
        microphone: Any = NumberedMicrophone(clock, format)
        line = Line(url, KEY if headers is None else headers, format, microphone, Speaker(clock, format))
        outcome = Outcome(line)

        async def handler(connection: ServerConnection) -> None:
            server = server_type(connection, ready_after_s)
            outcome.servers.append(server)
            reading = asyncio.create_task(server.read())
            playing = asyncio.ensure_future(script(server))
            await reading
            playing.cancel()
            await asyncio.gather(playing, return_exceptions=True)
            if not playing.cancelled() and (failure := playing.exception()):
                assert isinstance(failure, ConnectionClosed), failure

        def answer(_: ServerConnection, __: Request) -> Response | None:
            return (
                None
                if status is None
                else Response(
                    status, HTTPStatus(status).phrase, Headers({"Content-Length": "2", "Connection": "close"}), b"{}"
                )
            )

        asyncio.get_running_loop().call_later(caller_hangs_up_s, line.cut, "caller")
        async with serve(handler, "desk.test", 80, process_request=answer):
            before = asyncio.all_tasks()
            try:
                await client(line).run()
            except CallFailed as error:
                outcome.error = error
            outcome.hung_up_us = now_us()
            await asyncio.sleep(1)
            outcome.leftovers = [str(task) for task in asyncio.all_tasks() - before if "/clients/" in str(task)]
        return outcome

    return World().run(main())


async def greet_only(server: Server) -> None:
    await server.greet()
