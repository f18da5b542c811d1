"""A Live server whose script is a coroutine, and one call of the parcel service with it in virtual time."""

import asyncio
import base64
from collections.abc import Callable
from pathlib import Path
from typing import Any

from websockets.asyncio.server import ServerConnection

from clients.parcel import Carrier, Order, OrderBook, Parcel
from simrt import Line
from tests.clients.scripted import Event, Outcome, Script, Server, now_us
from tests.clients.scripted import play as play_any

APPENDS = ("session.commentary.append", "session.thinking.append", "session.instructions.append")


class LiveServer(Server):
    """One connection. Positions on the timeline are those of the moment."""

    def __init__(self, connection: ServerConnection, ready_after_s: float) -> None:
        super().__init__(connection, ready_after_s)
        self._delegations = 0

    async def start(self) -> Event:
        """Accept the session."""
        start = await self.until("session.start")
        await asyncio.sleep(self.ready_after_s)
        await self.send("session.started", session={"id": "live_1", **start["session"]})
        return start

    @property
    def position_ms(self) -> int:
        return len(self.of("session.input_audio.append")) * 20

    async def error(self, code: str, message: str = "No.", **fields: Any) -> None:
        error = {"type": "invalid_request_error", "param": None, **fields, "code": code, "message": message}
        await self.send("error", error=error)

    async def refuse(self, code: str, close_code: int) -> None:
        await self.until("session.start")
        await self.error(code)
        await self.connection.close(close_code)

    async def turn(self, text: str, *, commit: bool = True) -> None:
        """The caller says something."""
        at = {"start_ms": self.position_ms, "end_ms": self.position_ms + 200}
        await self.send("session.input_transcript.delta", delta=text, **at)
        if commit:
            await self.send("kugel.input_transcript.committed", text=text, **at)

    async def delegate(self, text: str = "", *, commit: bool = True) -> str:
        """What the caller says is delegated; returns the id."""
        if text:
            await self.turn(text, commit=commit)
        self._delegations += 1
        body = {"id": f"item_{self._delegations}", "type": "delegation", "target": "client"}
        await self.send("session.delegation.created", delegation=body, offset_ms=self.position_ms)
        return str(body["id"])

    async def appended(self, count: int) -> Event:
        """The n-th append of any kind; it is acknowledged."""
        while len(self.of(*APPENDS)) < count:
            await asyncio.sleep(0.02)
        append = self.of(*APPENDS)[count - 1]
        at = {"start_ms": self.position_ms, "end_ms": self.position_ms + 200}
        await self.send(append["type"].replace("append", "appended"), **at)
        return append

    async def say(self, text: str) -> None:
        """The agent says something, a word every 300 ms; returns when it has been said, and a while after it."""
        for number, word in enumerate(text.split()):
            at = {"start_ms": self.position_ms, "end_ms": self.position_ms + 200}
            await self.sound(300)
            await self.send("session.output_transcript.delta", delta=f" {word}" if number else word, **at)
            await asyncio.sleep(0.3)
        await self.sound(20, b"\0\0")
        await asyncio.sleep(1)

    async def sound(self, ms: int, sample: bytes = b"\x00\x20") -> None:
        delta = base64.b64encode(sample * (24 * ms)).decode()
        await self.send("session.output_audio.delta", delta=delta)

    async def hang_up(self) -> None:
        """Both say goodbye, and the client closes."""
        await self.turn("Thank you. Bye.")
        await self.say("Thank you for calling. Goodbye.")
        await self.close()

    async def close(self, *unplaced: str) -> None:
        """Answer the client's close."""
        await self.until("session.close")
        for event_id in unplaced:
            await self.error("context_injection_incomplete", "Too late.", client_event_id=event_id)
        await self.send("session.closed", reason="close_requested", session={}, usage={"seconds": 1})
        await self.connection.close()


class Call:
    """How a call went, and the book after it."""

    def __init__(self, outcome: Outcome, book: OrderBook) -> None:
        self.outcome, self.notes, self.book = outcome, outcome.notes, book
        self.error, self.line = outcome.error, outcome.line
        self.hung_up_s = outcome.hung_up_us / 1e6

    @property
    def server(self) -> LiveServer:
        server = self.outcome.servers[-1]
        assert isinstance(server, LiveServer)
        return server

    def appends(self) -> list[tuple[str, str, str | None]]:
        """(kind, content, delegation) of each thing that the agent was told."""
        return [(e["type"].split(".")[1], e["content"], e["delegation_id"]) for e in self.server.of(*APPENDS)]

    def order(self, number: str) -> Order:
        return self.book.order(number)


def play(
    folder: Path,
    script: Script,
    *,
    carrier: Carrier | None = None,
    book: OrderBook | None = None,
    desk: Callable[..., Parcel] = Parcel,
    kugel: dict[str, Any] | None = None,
    **options: Any,
) -> Call:
    """One call of the parcel service."""
    kept = book or OrderBook(folder / "book.sqlite")

    def client(line: Line) -> Parcel:
        return desk(line, kept, carrier, kugel={} if kugel is None else kugel or None)

    return Call(play_any(client, script, server_type=LiveServer, **options), kept)


__all__ = ["APPENDS", "Call", "LiveServer", "now_us", "play"]
