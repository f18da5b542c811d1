"""What goes in on one side comes out on the other, and is on the cassette."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.frames import Frame, Opcode

from simrt.record.end import End

from .conftest import Make, RawService, finished, said

pytestmark = pytest.mark.asyncio


async def test_text_and_binary_both_ways(bench: Make) -> None:
    sent: list[str | bytes] = ['{"type":"session.update"}', "no JSON", "", b"", b"\x00\xff", "häß ☎ 𝄞"]
    async with bench() as b:
        async with b.connect() as ws:
            for payload in sent:
                await ws.send(payload)
                assert await ws.recv() == payload
        (cassette,) = await finished(b)
    assert said(cassette) == [(side, payload) for payload in sent for side in ("client", "server")]
    times = [frame.t_us for frame in cassette.trace.frames]
    assert times == sorted(times)
    assert times[0] >= 0
    assert cassette.trace.closing is not None
    assert cassette.trace.closing.t_us >= times[-1]


async def test_the_request_arrives_as_the_client_sent_it(bench: Make) -> None:
    requests: list[Any] = []

    async def handler(ws: ServerConnection) -> None:
        requests.append(ws.request)

    options = {
        "additional_headers": [("OpenAI-Beta", "realtime=v1"), ("X-Thing", "1"), ("X-Thing", "2")],
        "user_agent_header": "acme/1.0",
        "subprotocols": ["realtime", "other.v1"],
    }
    async with bench(handler, server={"subprotocols": ["realtime"]}) as b:
        async with b.connect("/v1/realtime?model=a%20b&x=1", **options) as ws:
            assert ws.subprotocol == "realtime"
            assert "X-Thing" not in ws.response.headers
            await ws.wait_closed()
        (cassette,) = await finished(b)
    (request,) = requests
    assert request.path == "/v1/realtime?model=a%20b&x=1"
    assert request.headers.get_all("X-Thing") == ["1", "2"]
    assert request.headers["User-Agent"] == "acme/1.0"
    assert request.headers["Sec-WebSocket-Protocol"] == "realtime, other.v1"
    assert request.headers["Host"] != f"127.0.0.1:{b.proxy.port}"
    opening = cassette.trace.opening
    assert opening.headers == [
        ("OpenAI-Beta", "realtime=v1"),
        ("X-Thing", "1"),
        ("X-Thing", "2"),
        ("User-Agent", "acme/1.0"),
    ]
    assert (opening.status, opening.subprotocols, opening.subprotocol) == (101, ["realtime", "other.v1"], "realtime")
    assert opening.url.endswith("/v1/realtime?model=a%20b&x=1")
    assert cassette.header.dialect == "realtime"


async def test_a_key_reaches_the_service_and_not_the_disk(bench: Make) -> None:
    seen: list[str] = []

    async def handler(ws: ServerConnection) -> None:
        assert ws.request is not None
        seen.append(ws.request.headers["Authorization"])

    async with bench(handler) as b:
        async with b.connect(additional_headers={"Authorization": "Bearer sk-abcdefghijklmnop1234"}) as ws:
            await ws.wait_closed()
        (cassette,) = await finished(b)
    assert seen == ["Bearer sk-abcdefghijklmnop1234"]
    assert dict(cassette.trace.opening.headers)["Authorization"] == "<redacted>"
    assert cassette.header.redacted == ["header:authorization"]


@pytest.mark.parametrize("server_first", [False, True])
async def test_the_very_bytes_pass(bench: Make, server_first: bool) -> None:
    """Fragments, masks, pings and pongs with payloads, frames that RFC 6455 forbids: nothing is altered or added."""

    def stream(mask: bool) -> bytes:
        frames = [
            Frame(Opcode.TEXT, b"whole"),
            Frame(Opcode.PING, b"\x00ping"),
            Frame(Opcode.TEXT, b"in ", False),
            Frame(Opcode.PONG, b"unasked"),
            Frame(Opcode.CONT, b"three ", False),
            Frame(Opcode.CONT, b"parts"),
            Frame(Opcode.BINARY, bytes(range(256)) * 300),
        ]
        return b"".join(frame.serialize(mask=mask) for frame in frames) + b"\xc1\x01x"

    raw = RawService()
    async with bench(raw=raw) as b:
        async with b.raw() as client:
            pairs = [(client.writer, raw.reader, stream(True)), (raw.writer, client.reader, stream(False))]
            for writer, reader, data in reversed(pairs) if server_first else pairs:
                writer.write(data)
                assert await reader.readexactly(len(data)) == data
        (cassette,) = await finished(b)
    heard = ["whole", "in three parts", bytes(range(256)) * 300, b"x"]
    sides = ["server", "client"] if server_first else ["client", "server"]
    assert said(cassette) == [(side, payload) for side in sides for payload in heard]


async def test_a_ping_is_answered_by_the_other_end_only(bench: Make) -> None:
    """The pong comes when the service sends it: between its two messages, not before."""
    raw = RawService()
    async with bench(raw=raw) as b, b.connect() as ws:
        pong = await ws.ping(b"are you there")
        assert (await raw.reader.readexactly(6 + 13))[0] == 0x89
        raw.writer.write(b"\x81\x05first")
        assert await ws.recv() == "first"
        assert not pong.done()
        raw.writer.write(b"\x8a\x0dare you there\x81\x06second")
        assert await ws.recv() == "second"
        assert pong.done()
        raw.writer.close()


async def test_extensions_are_not_negotiated(bench: Make) -> None:
    async with bench() as b, b.connect(compression="deflate") as ws:
        assert ws.protocol.extensions == []
        await ws.send("x" * 1000)
        assert await ws.recv() == "x" * 1000


async def test_a_frame_of_16_mib(bench: Make) -> None:
    big = bytes(16 * 1024 * 1024 + 1)
    async with bench() as b:
        async with b.connect() as ws:
            await ws.send(big)
            assert await ws.recv() == big
        (cassette,) = await finished(b)
    assert said(cassette) == [("client", big), ("server", big)]


async def test_frames_that_come_with_the_handshake_are_kept(bench: Make) -> None:
    async def handler(ws: ServerConnection) -> None:
        await ws.send('{"type":"session.created"}')
        await ws.wait_closed()

    async with bench(handler) as b:
        for _ in range(20):
            async with b.connect() as ws:
                assert await ws.recv() == '{"type":"session.created"}'
        cassettes = await finished(b)
    assert [said(cassette) for cassette in cassettes] == [[("server", '{"type":"session.created"}')]] * 20


async def test_several_connections_at_once_do_not_mix(bench: Make, tmp_path: Path) -> None:
    async with bench() as b:
        sockets = [await b.connect(f"/v1/realtime?n={n}") for n in range(8)]
        for step in range(5):
            await asyncio.gather(*(ws.send(f"{n} {step}") for n, ws in enumerate(sockets)))
        for n, ws in enumerate(sockets):
            assert [await ws.recv() for _ in range(5)] == [f"{n} {step}" for step in range(5)]
        assert b.proxy.status().connections == 8
        await asyncio.gather(*(ws.close() for ws in sockets))
        cassettes = await finished(b)
    assert sorted(b.proxy.recordings) == sorted(
        [tmp_path / "call", *(tmp_path / f"call-{number}" for number in range(2, 9))]
    )
    for cassette in cassettes:
        n = cassette.trace.opening.url.rpartition("=")[2]
        assert [text for sender, text in said(cassette) if sender == "client"] == [f"{n} {step}" for step in range(5)]


async def test_a_slow_reader_holds_up_the_writer(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody reads: the proxy stops reading too, whatever the service has to send; then all of it arrives."""
    paused = asyncio.Event()
    pause = End.pause
    monkeypatch.setattr(End, "pause", lambda end: (pause(end), paused.set()))
    message = b"x" * 100_000
    count = 400
    raw = RawService()
    async with bench(raw=raw) as b, b.raw() as client:
        client.writer.transport.pause_reading()  # type: ignore[attr-defined]
        frame = Frame(Opcode.BINARY, message).serialize(mask=False)

        async def pour() -> None:
            for _ in range(count):
                raw.writer.write(frame)
                await raw.writer.drain()

        pouring = asyncio.create_task(pour())
        await paused.wait()
        (tunnel,) = b.proxy._tunnels
        assert tunnel.client.unsent() < 1_000_000
        assert not pouring.done()
        client.writer.transport.resume_reading()  # type: ignore[attr-defined]
        for _ in range(count):
            assert await client.reader.readexactly(len(frame)) == frame
        await pouring
        raw.writer.close()


async def test_a_request_that_is_no_websocket_passes_unrecorded(bench: Make) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = await reader.readuntil(b"\r\n\r\n")
        body = await reader.readexactly(7)
        assert head.startswith(b"POST /v1/realtime/client_secrets HTTP/1.1\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n" + body[::-1])
        writer.close()

    service = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with service, bench(upstream=f"http://127.0.0.1:{service.sockets[0].getsockname()[1]}/v1") as b:
        reader, writer = await asyncio.open_connection("127.0.0.1", b.proxy.port)
        writer.write(b"POST /v1/realtime/client_secrets HTTP/1.1\r\nHost: x\r\nContent-Length: 7\r\n\r\nabc")
        writer.write(b"defg")
        assert (await reader.read()).endswith(b"\r\n\r\ngfedcba")
        writer.close()
        assert await finished(b) == []


async def test_the_openai_sdk(bench: Make) -> None:
    openai = pytest.importorskip("openai")

    async def handler(ws: ServerConnection) -> None:
        await ws.send('{"type":"session.created","event_id":"e1","session":{"type":"realtime"}}')
        async for _ in ws:
            await ws.send('{"type":"session.updated","event_id":"e2","session":{"type":"realtime"}}')

    async with bench(handler) as b:
        client = openai.AsyncOpenAI(api_key="sk-abcdefghijklmnop1234", base_url=f"{b.proxy.url}/v1")
        async with client.realtime.connect(model="gpt-realtime") as connection:
            assert (await connection.recv()).type == "session.created"
            await connection.session.update(session={"type": "realtime", "instructions": "Be brief."})
            assert (await connection.recv()).type == "session.updated"
        (cassette,) = await finished(b)
    assert [event["type"] for frame in cassette.trace.frames if (event := frame.event())] == [
        "session.created",
        "session.update",
        "session.updated",
    ]
    assert cassette.trace.opening.url.endswith("/v1/realtime?model=gpt-realtime")


async def test_an_aiohttp_client(bench: Make) -> None:
    """It offers compression and packed answers, and answers pings by itself."""
    aiohttp = pytest.importorskip("aiohttp")
    async with bench() as b:
        url = b.ws_url + "/v1/realtime"
        async with aiohttp.ClientSession() as session, session.ws_connect(url, compress=15, heartbeat=30) as ws:
            await ws.send_str("häß")
            assert await ws.receive_str() == "häß"
            await ws.close(code=4002, message=b"done")
        (cassette,) = await finished(b)
    assert said(cassette) == [("client", "häß"), ("server", "häß")]
    assert cassette.trace.closing is not None
    assert (cassette.trace.closing.code, cassette.trace.closing.by) == (4002, "client")


async def test_what_the_service_says_right_before_it_leaves_arrives(bench: Make) -> None:
    """Data, close and FIN in one go, while the client reads slowly."""
    raw = RawService()
    async with bench(raw=raw) as b, b.connect(max_queue=1) as ws:
        for index in range(50):
            raw.writer.write(Frame(Opcode.TEXT, b"%d" % index + b"x" * 50_000).serialize(mask=False))
        raw.writer.write(b"\x88\x02\x03\xe8")
        raw.writer.write_eof()
        assert len([message async for message in ws]) == 50
        assert ws.protocol.close_code == 1000
