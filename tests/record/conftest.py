"""A real service and a real proxy on loopback; raw peers for what the websockets library would not send."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.client import ClientProtocol
from websockets.uri import parse_uri
from websockets.utils import accept_key

from simrt.cassette.redact import Redactor
from simrt.cassette.store import Cassette, load
from simrt.record import Proxy

Handler = Callable[[ServerConnection], Awaitable[None]]


async def echo(ws: ServerConnection) -> None:
    """Send everything back."""
    async for message in ws:
        await ws.send(message)


class Bench:
    """A proxy with its upstream, and ways to connect through it."""

    def __init__(self, proxy: Proxy, raw: "RawService | None" = None) -> None:
        self.proxy = proxy
        self.raw_service = raw
        self.ws_url = "ws" + proxy.url.removeprefix("http")

    def connect(self, path: str = "/v1/realtime?model=m", **options: Any) -> connect:
        """A websockets client through the proxy."""
        return connect(self.ws_url + path, **{"max_size": None, "ping_interval": None, **options})

    @contextlib.asynccontextmanager
    async def raw(self, path: str = "/v1/realtime") -> AsyncIterator["RawClient"]:
        """A client that sends and sees bytes."""
        reader, writer = await asyncio.open_connection("127.0.0.1", self.proxy.port)
        protocol = ClientProtocol(parse_uri(self.ws_url + path))
        writer.write(protocol.connect().serialize())
        head = await reader.readuntil(b"\r\n\r\n")
        try:
            yield RawClient(reader, writer, head)
        finally:
            writer.close()


class RawClient:
    """A TCP connection after the handshake; `head` is the answer."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, head: bytes) -> None:
        self.reader = reader
        self.writer = writer
        self.head = head


class RawService:
    """An upstream that accepts the handshake (or answers `answer`; b"" is silence) and then sends and sees bytes."""

    def __init__(self, answer: bytes | None = None) -> None:
        self.answer = answer
        self.request = b""
        self.opened = asyncio.Event()
        self.reader: asyncio.StreamReader
        self.writer: asyncio.StreamWriter

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader, self.writer = reader, writer
        self.request = await reader.readuntil(b"\r\n\r\n")
        if self.answer is None:
            key = self.request.split(b"Sec-WebSocket-Key: ")[1].split(b"\r\n")[0].decode()
            writer.write(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Accept: " + accept_key(key).encode() + b"\r\n\r\n"
            )
        elif self.answer:
            writer.write(self.answer)
        self.opened.set()


@pytest.fixture
def bench(tmp_path: Path) -> Callable[..., contextlib.AbstractAsyncContextManager[Bench]]:
    """`async with bench(handler) as b`: a websockets server with that handler behind a proxy that records to `call`.

    `raw=RawService()` puts a raw upstream there; `upstream=URL` one of the test's own; other options are the proxy's.
    """

    @contextlib.asynccontextmanager
    async def make(
        handler: Handler = echo,
        *,
        raw: RawService | None = None,
        upstream: str | None = None,
        server: dict[str, Any] | None = None,
        path: str = "",
        **options: Any,
    ) -> AsyncIterator[Bench]:
        async with contextlib.AsyncExitStack() as stack:
            if upstream is None:
                if raw is not None:
                    service: Any = await asyncio.start_server(raw.handle, "127.0.0.1", 0)
                    stack.callback(service.close)
                else:
                    settings = {"max_size": None, "ping_interval": None, **(server or {})}
                    service = await stack.enter_async_context(serve(handler, "127.0.0.1", 0, **settings))
                upstream = f"ws://127.0.0.1:{service.sockets[0].getsockname()[1]}{path}"
            options.setdefault("redactor", Redactor(environ={}))
            proxy = Proxy(upstream, tmp_path / "call", **options)
            yield Bench(await stack.enter_async_context(proxy), raw)

    return make


Make = Callable[..., contextlib.AbstractAsyncContextManager[Bench]]


async def finished(bench: Bench) -> list[Cassette]:
    """Close the proxy; its cassettes by name."""
    if bench.raw_service is not None:
        bench.raw_service.writer.close()
    await bench.proxy.aclose()
    assert bench.proxy.failures == []
    return [load(path) for path in sorted(bench.proxy.recordings)]


def said(cassette: Cassette) -> list[tuple[str, str | bytes]]:
    """Who said what, in order."""
    return [(frame.sender, frame.payload) for frame in cassette.trace.frames]
