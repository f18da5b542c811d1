"""How connections begin badly and how they end: the client learns what the service would have told it."""

import asyncio
import datetime
import socket
import ssl
import struct
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import InvalidStatus
from websockets.frames import Frame, Opcode

from simrt.record import frames, tunnel
from simrt.trace import Closing

from .conftest import Make, RawService, echo, finished, said

pytestmark = pytest.mark.asyncio


def closing(end: Closing | None) -> tuple[int, str, str]:
    """An end without its time."""
    assert end is not None
    return end.code, end.reason, end.by


@pytest.mark.parametrize(("code", "reason"), [(1000, ""), (1001, "going"), (1013, "try later"), (4404, "häß")])
async def test_the_service_closes(bench: Make, code: int, reason: str) -> None:
    async def handler(ws: ServerConnection) -> None:
        await ws.close(code, reason)

    async with bench(handler) as b:
        async with b.connect() as ws:
            await ws.wait_closed()
            assert (ws.protocol.close_code, ws.protocol.close_reason) == (code, reason)
        (cassette,) = await finished(b)
    assert closing(cassette.trace.closing) == (code, reason, "server")


@pytest.mark.parametrize(("code", "reason"), [(1000, ""), (1001, "bye"), (4000, "x" * 100)])
async def test_the_client_closes(bench: Make, code: int, reason: str) -> None:
    seen: asyncio.Queue[tuple[int | None, str | None]] = asyncio.Queue()

    async def handler(ws: ServerConnection) -> None:
        await ws.wait_closed()
        seen.put_nowait((ws.protocol.close_code, ws.protocol.close_reason))

    async with bench(handler) as b:
        async with b.connect() as ws:
            await ws.close(code, reason)
        assert await seen.get() == (code, reason)
        (cassette,) = await finished(b)
    assert closing(cassette.trace.closing) == (code, reason, "client")


async def test_a_close_frame_without_a_code(bench: Make) -> None:
    raw = RawService()
    async with bench(raw=raw) as b:
        async with b.raw() as client:
            raw.writer.write(b"\x88\x00")
            assert await client.reader.readexactly(2) == b"\x88\x00"
            client.writer.write(b"\x88\x80abcd")
            assert await raw.reader.readexactly(6) == b"\x88\x80abcd"
        (cassette,) = await finished(b)
    assert closing(cassette.trace.closing) == (1005, "", "server")


async def test_frames_that_cross_the_close_frame_are_kept_before_the_end(bench: Make) -> None:
    raw = RawService()
    async with bench(raw=raw) as b:
        async with b.raw() as client:
            client.writer.write(Frame(Opcode.CLOSE, b"\x03\xe8").serialize(mask=True))
            await raw.reader.readexactly(8)
            raw.writer.write(b"\x81\x04late\x88\x02\x03\xe8")
            assert await client.reader.readexactly(10) == b"\x81\x04late\x88\x02\x03\xe8"
        (cassette,) = await finished(b)
    assert said(cassette) == [("server", "late")]
    assert closing(cassette.trace.closing) == (1000, "", "client")
    assert cassette.trace.closing is not None
    assert cassette.trace.closing.t_us >= cassette.trace.frames[0].t_us


async def test_the_service_leaves_without_a_word(bench: Make) -> None:
    raw = RawService()
    async with bench(raw=raw) as b:
        async with b.connect() as ws:
            raw.writer.close()
            await ws.wait_closed()
            assert ws.protocol.close_code == 1006
        (cassette,) = await finished(b)
    assert closing(cassette.trace.closing) == (1006, "", "server")


async def test_the_client_leaves_without_a_word(bench: Make) -> None:
    gone = asyncio.Event()

    async def handler(ws: ServerConnection) -> None:
        await ws.wait_closed()
        assert ws.protocol.close_code == 1006
        gone.set()

    async with bench(handler) as b:
        ws = await b.connect()
        ws.transport.abort()
        await gone.wait()
        (cassette,) = await finished(b)
    assert closing(cassette.trace.closing) == (1006, "", "client")


def reset(writer: asyncio.StreamWriter) -> None:
    """End a connection as a crashed machine would: RST."""
    sock = writer.get_extra_info("socket")
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    writer.transport.abort()  # type: ignore[attr-defined]


async def test_a_reset_by_the_service_is_a_reset_for_the_client(bench: Make) -> None:
    raw = RawService()
    async with bench(raw=raw) as b:
        async with b.raw() as client:
            raw.writer.write(b"\x81\x05hello")
            assert await client.reader.readexactly(7) == b"\x81\x05hello"
            reset(raw.writer)
            with pytest.raises(ConnectionResetError):
                await client.reader.read()
        (cassette,) = await finished(b)
    assert said(cassette) == [("server", "hello")]
    assert closing(cassette.trace.closing) == (1006, "", "network")


async def test_a_reset_by_the_client_is_a_reset_for_the_service(bench: Make) -> None:
    raw = RawService()
    async with bench(raw=raw) as b:
        async with b.raw() as client:
            await raw.opened.wait()
            reset(client.writer)
            with pytest.raises(ConnectionResetError):
                await raw.reader.read()
        (cassette,) = await finished(b)
    assert closing(cassette.trace.closing) == (1006, "", "client")


@pytest.mark.parametrize("status", [401, 403, 429, 503])
async def test_a_refusal_passes_and_is_a_cassette(bench: Make, status: int) -> None:
    body = '{"error":{"message":"no"}}'
    raw = RawService(
        f"HTTP/1.1 {status} No\r\nContent-Type: application/json\r\nRetry-After: 7\r\n"
        f"Content-Length: {len(body)}\r\n\r\n{body}".encode()
    )
    async with bench(raw=raw) as b:
        with pytest.raises(InvalidStatus) as caught:
            await b.connect()
        (cassette,) = await finished(b)
    response = caught.value.response
    assert (response.status_code, response.body, response.headers["Retry-After"]) == (status, body.encode(), "7")
    opening = cassette.trace.opening
    assert (opening.status, opening.response_body) == (status, body)
    assert ("Retry-After", "7") in opening.response_headers
    assert cassette.trace.frames == []


async def test_nobody_is_there(bench: Make) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, not listening
        port = taken.getsockname()[1]
        async with bench(upstream=f"ws://127.0.0.1:{port}") as b:
            for _ in range(2):  # it stays up
                with pytest.raises(InvalidStatus) as caught:
                    await b.connect()
                assert caught.value.response.status_code == 502
                assert f"ws://127.0.0.1:{port}".encode() in (caught.value.response.body or b"")
            assert b.proxy.recordings == []
            assert f"ws://127.0.0.1:{port}" in str(b.proxy.failures[0])


async def test_a_name_that_nobody_knows(bench: Make) -> None:
    async with bench(upstream="ws://nobody.invalid") as b:
        with pytest.raises(InvalidStatus) as caught:
            await b.connect()
        assert b"ws://nobody.invalid:80" in (caught.value.response.body or b"")


async def test_a_service_that_does_not_come_up_in_time(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    async def never(*_: object, **__: object) -> None:
        await asyncio.Event().wait()

    monkeypatch.setattr(tunnel, "CONNECT_LIMIT", 0.0)
    async with bench(upstream="ws://127.0.0.1:1") as b:
        reader, writer = await asyncio.open_connection("127.0.0.1", b.proxy.port)
        monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", never)
        writer.write(b"GET /v1/realtime HTTP/1.1\r\nUpgrade: websocket\r\n\r\n")
        answer = await reader.read()
        writer.close()
    assert answer.startswith(b"HTTP/1.1 502")
    assert b"no connection within" in answer


@pytest.mark.parametrize(
    ("answer", "told"),
    [
        (b"SSH-2.0-OpenSSH\r\n\r\n", b"did not answer as a web server"),
        (b"HTTP/1.1 101 OK\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n", b"nobody offered"),
    ],
)
async def test_an_answer_that_makes_no_sense(bench: Make, answer: bytes, told: bytes) -> None:
    async with bench(raw=RawService(answer)) as b:
        with pytest.raises(InvalidStatus) as caught:
            await b.connect()
    assert caught.value.response.status_code == 502
    assert told in (caught.value.response.body or b"")


async def test_a_service_that_hangs_up_instead_of_answering(bench: Make) -> None:
    raw = RawService(b"")
    async with bench(raw=raw) as b:
        connecting = asyncio.create_task(b.connect().__aenter__())
        await raw.opened.wait()
        raw.writer.close()
        with pytest.raises(InvalidStatus) as caught:
            await connecting
    assert b"without an answer" in (caught.value.response.body or b"")


async def test_a_client_that_gives_up_while_the_service_thinks(bench: Make) -> None:
    raw = RawService(b"")
    async with bench(raw=raw) as b:
        _, writer = await asyncio.open_connection("127.0.0.1", b.proxy.port)
        writer.write(b"GET /v1/realtime HTTP/1.1\r\nUpgrade: websocket\r\n\r\n")
        await raw.opened.wait()
        writer.close()
        assert await raw.reader.read() == b""
        assert await finished(b) == []


async def test_what_is_no_http_is_refused(bench: Make) -> None:
    async with bench() as b:
        reader, writer = await asyncio.open_connection("127.0.0.1", b.proxy.port)
        writer.write(b"\x16\x03\x01 hello\r\n\r\n")
        assert (await reader.read()).startswith(b"HTTP/1.1 400 ")
        writer.close()


async def test_a_frame_that_is_too_big_ends_the_call(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "SIZE_LIMIT", 70_000)
    async with bench() as b:
        async with b.connect() as ws:
            await ws.send("x" * 70_001)
            await ws.wait_closed()
            assert ws.protocol.close_code == 1009
        (cassette,) = await finished(b)
    assert closing(cassette.trace.closing)[::2] == (1009, "network")


async def test_stopping_ends_open_calls_with_1001(bench: Make) -> None:
    closed: asyncio.Queue[int | None] = asyncio.Queue()

    async def handler(ws: ServerConnection) -> None:
        await echo(ws)
        closed.put_nowait(ws.protocol.close_code)

    async with bench(handler) as b, b.connect() as ws:
        await ws.send("x")
        await ws.recv()
        serving = asyncio.create_task(b.proxy.serve_forever())
        await asyncio.sleep(0)
        b.proxy.stop()
        await serving
        await ws.wait_closed()
        assert ws.protocol.close_code == 1001
        assert await closed.get() == 1001
        (cassette,) = await finished(b)
    assert said(cassette) == [("client", "x"), ("server", "x")]
    assert closing(cassette.trace.closing)[::2] == (1001, "network")


async def test_peers_that_never_leave_are_dropped(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tunnel, "LINGER", 0.0)
    raw = RawService()
    async with bench(raw=raw) as b, b.raw() as client:
        raw.writer.write(b"\x88\x02\x03\xe8")
        raw.writer.write_eof()
        assert await client.reader.read() == b"\x88\x02\x03\xe8"
        await b.proxy._empty.wait()  # the client has not closed: in the end the proxy does
        (cassette,) = await finished(b)
    assert closing(cassette.trace.closing) == (1000, "", "server")


def certificate(folder: Path) -> Path:
    """A self-signed certificate for localhost with its key, in one file."""
    pytest.importorskip("cryptography")
    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "localhost")])
    now = datetime.datetime.now(datetime.UTC)
    built = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=1))
        .not_valid_after(now + datetime.timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName("localhost")]), critical=False)
        .sign(key, hashes.SHA256())
    )
    path = folder / "localhost.pem"
    path.write_bytes(
        built.public_bytes(serialization.Encoding.PEM)
        + key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    )
    return path


@pytest.mark.parametrize("trusted", [True, False])
async def test_tls(bench: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, trusted: bool) -> None:
    path = certificate(tmp_path)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    if trusted:
        monkeypatch.setenv("SSL_CERT_FILE", str(path))
    from websockets.asyncio.server import serve

    async with serve(echo, "localhost", 0, ssl=context, max_size=None) as service:
        port = service.sockets[0].getsockname()[1]
        async with bench(upstream=f"wss://localhost:{port}") as b:
            if not trusted:
                with pytest.raises(InvalidStatus) as caught:
                    await b.connect()
                assert b"SSL_CERT_FILE" in (caught.value.response.body or b"")
                return
            async with b.connect() as ws:
                for payload in ("hello", "x" * 3_000_000):
                    await ws.send(payload)
                    assert await ws.recv() == payload
                await ws.close(4001, "done")
            (cassette,) = await finished(b)
    assert [len(payload) for _, payload in said(cassette)] == [5, 5, 3_000_000, 3_000_000]
    assert closing(cassette.trace.closing) == (4001, "done", "client")


async def test_tls_to_a_service_without_tls(bench: Make) -> None:
    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readexactly(1)
        writer.write(b"HTTP/1.1 400 Bad\r\n\r\n")
        writer.close()

    service = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with service, bench(upstream=f"wss://127.0.0.1:{service.sockets[0].getsockname()[1]}") as b:
        with pytest.raises(InvalidStatus) as caught:
            await b.connect()
    assert b"TLS failed" in (caught.value.response.body or b"")


async def test_a_fragment_at_the_end_is_no_message(bench: Make) -> None:
    """Half a message was forwarded, but nobody received it: there is nothing to keep."""
    raw = RawService()
    async with bench(raw=raw) as b:
        async with b.raw() as client:
            half = Frame(Opcode.TEXT, b"half", False).serialize(mask=False)
            raw.writer.write(half)
            assert await client.reader.readexactly(len(half)) == half
            raw.writer.close()
            assert await client.reader.read() == b""
        (cassette,) = await finished(b)
    assert said(cassette) == []
