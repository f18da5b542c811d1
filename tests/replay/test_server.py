"""The WebSocket shell, met by the websockets library and by raw bytes, in a World and over a real loopback socket."""

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, ConnectionClosedError, InvalidStatus
from websockets.frames import apply_mask

from simrt.errors import SimrtError
from simrt.faults.plan import parse_plan
from simrt.replay.build import make_session
from simrt.replay.server import MAX_SIZE, Acceptor, ReplayPeer, WebSocketServer, serve
from simrt.wire import Link, Refusal, Request
from simrt.world import World

from .hand import front_desk

Main = Callable[[str], Awaitable[Any]]
Arm = Callable[[Acceptor, Main], Any]


def in_world(acceptor: Acceptor, main: Main) -> Any:
    """MAIN in virtual time."""
    world = World()
    world.listen("*", lambda: WebSocketServer(acceptor))

    async def run() -> Any:
        return await main("ws://api.example")

    return world.run(run())


def on_loopback(acceptor: Acceptor, main: Main) -> Any:
    """MAIN in real time, over a real socket."""

    async def run() -> Any:
        server = await serve(acceptor)
        try:
            return await main(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}")
        finally:
            server.close()

    return asyncio.run(asyncio.wait_for(run(), 30))


both = pytest.mark.parametrize("arm", [in_world, on_loopback], ids=["world", "loopback"])


class Probe:
    """A peer that sends everything back, and does what it is told."""

    def __init__(self, subprotocol: str | None = None) -> None:
        self.subprotocol = subprotocol
        self.requests: list[Request] = []
        self.got: list[str | bytes] = []
        self.ended: list[tuple[int, str, bool]] = []
        self.link: Link | None = None
        self.over = asyncio.Event()

    def __call__(self, request: Request) -> "Probe":
        self.requests.append(request)
        return self

    def opened(self, link: Link) -> None:
        self.link = link

    def received(self, payload: str | bytes) -> None:
        assert self.link is not None
        self.got.append(payload)
        match payload:
            case "close":
                self.link.close(4002, "enough")
            case "no code":
                self.link.close(1005)
            case "reset":
                self.link.reset()
            case _:
                self.link.send(payload)

    def pong_late_us(self) -> int:
        return 0

    def closed(self, code: int, reason: str, by_client: bool) -> None:
        self.ended.append((code, reason, by_client))
        self.over.set()


def dial(url: str, path: str = "/v1/realtime?model=m", **options: Any) -> connect:
    return connect(
        url + path, **{"max_size": None, "ping_interval": None, "compression": None, "proxy": None, **options}
    )


def talk(
    arm: Arm, main: Callable[[ClientConnection], Awaitable[Any]], probe: Probe | None = None, **options: Any
) -> Probe:
    """MAIN with a connection; the probe that it met, when it has seen the end."""
    met = probe or Probe()

    async def run(url: str) -> None:
        async with dial(url, **options) as ws:
            await main(ws)
        await met.over.wait()

    arm(met, run)
    return met


@both
def test_text_and_binary_messages_pass(arm: Arm) -> None:
    messages: list[str | bytes] = ["text", "", "äöü 語", b"\x00\xff", b"", "x" * 70_000]

    async def main(ws: ClientConnection) -> None:
        for message in messages:
            await ws.send(message)
            assert await ws.recv() == message

    assert talk(arm, main).got == messages


@both
def test_fragments_are_joined(arm: Arm) -> None:
    async def main(ws: ClientConnection) -> None:
        await ws.send(["one ", "two ", "three"])
        assert await ws.recv() == "one two three"
        await ws.send([b"\x01", b"", b"\x02"])
        assert await ws.recv() == b"\x01\x02"

    assert talk(arm, main).got == ["one two three", b"\x01\x02"]


@both
def test_a_character_may_lie_across_fragments(arm: Arm) -> None:
    async def main(ws: ClientConnection) -> None:
        whole = "語".encode()
        ws.protocol.send_text(whole[:1], fin=False)
        ws.protocol.send_continuation(whole[1:], fin=True)
        ws.send_data()
        assert await ws.recv() == "語"

    assert talk(arm, main).got == ["語"]


@both
def test_pings_are_answered_also_between_fragments(arm: Arm) -> None:
    async def main(ws: ClientConnection) -> None:
        await (await ws.ping("a"))
        ws.protocol.send_text(b"one ", fin=False)
        ws.protocol.send_ping(b"b")
        ws.protocol.send_continuation(b"two", fin=True)
        ws.send_data()
        await (await ws.ping())
        assert await ws.recv() == "one two"

    assert talk(arm, main).got == ["one two"]


@both
def test_frames_of_16_mib_pass_both_ways(arm: Arm) -> None:
    big = "a" * (16 * 1024 * 1024)

    async def main(ws: ClientConnection) -> None:
        await ws.send(big)
        assert len(await ws.recv()) == len(big)

    assert [len(message) for message in talk(arm, main).got] == [len(big)]


def test_a_message_beyond_the_limit_closes_with_1009() -> None:
    async def main(ws: ClientConnection) -> None:
        # only the head of the frame: it says how much is to come
        ws.protocol.writes.append(b"\x82\xff" + (MAX_SIZE + 1).to_bytes(8, "big") + bytes(4))
        ws.send_data()
        with pytest.raises(ConnectionClosed) as caught:
            await ws.recv()
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1009

    assert talk(in_world, main).ended[0][0] == 1009


@both
@pytest.mark.parametrize("data", [b"\xff\xfe", b"\xc3", b"\xed\xa0\x80"])
def test_text_that_is_no_utf8_closes_with_1007(arm: Arm, data: bytes) -> None:
    async def main(ws: ClientConnection) -> None:
        ws.protocol.send_text(data)
        ws.send_data()
        with pytest.raises(ConnectionClosed) as caught:
            await ws.recv()
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1007

    probe = talk(arm, main)
    assert probe.got == []
    assert [(code, by_client) for code, _, by_client in probe.ended] == [(1007, False)]


@both
def test_the_clients_code_and_reason_arrive(arm: Arm) -> None:
    async def main(ws: ClientConnection) -> None:
        await ws.close(4001, "bye")

    assert talk(arm, main).ended == [(4001, "bye", True)]


@both
def test_the_servers_code_and_reason_arrive(arm: Arm) -> None:
    async def main(ws: ClientConnection) -> None:
        await ws.send("close")
        with pytest.raises(ConnectionClosedError) as caught:
            await ws.recv()
        assert caught.value.rcvd is not None
        assert (caught.value.rcvd.code, caught.value.rcvd.reason) == (4002, "enough")

    assert talk(arm, main).ended == [(4002, "enough", False)]


@both
def test_a_close_without_a_code(arm: Arm) -> None:
    async def main(ws: ClientConnection) -> None:
        await ws.send("no code")
        with pytest.raises(ConnectionClosed) as caught:
            await ws.recv()
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1005

    assert talk(arm, main).ended == [(1005, "", False)]


@both
def test_a_reset_shows_no_close_frame(arm: Arm) -> None:
    async def main(ws: ClientConnection) -> None:
        await ws.send("reset")
        with pytest.raises(ConnectionClosedError) as caught:
            await ws.recv()
        assert caught.value.rcvd is None

    assert talk(arm, main).ended[0][0] == 1006


@both
def test_a_client_that_vanishes_is_noticed(arm: Arm) -> None:
    async def main(ws: ClientConnection) -> None:
        ws.transport.abort()

    probe = talk(arm, main)
    assert probe.ended[0][0] == 1006
    assert probe.ended[0][2] is True


@both
def test_what_is_sent_after_the_end_is_dropped(arm: Arm) -> None:
    async def main(ws: ClientConnection) -> None:
        await ws.close()

    probe = talk(arm, main)
    assert probe.link is not None
    probe.link.send("late")
    probe.link.close(1000)


# --- how the bytes are cut does not matter


class Wire(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__()
        self.written = b""
        self.gone = False

    def write(self, data: Any) -> None:
        self.written += data

    def is_closing(self) -> bool:
        return self.gone

    def close(self) -> None:
        self.gone = True


def masked(opcode: int, payload: bytes, mask: bytes, fin: bool = True) -> bytes:
    """A client's frame."""
    size = len(payload)
    if size < 126:
        head = bytes([0x80 | size])
    elif size < 0x10000:
        head = b"\xfe" + size.to_bytes(2, "big")
    else:
        head = b"\xff" + size.to_bytes(8, "big")
    return bytes([0x80 * fin | opcode]) + head + mask + apply_mask(payload, mask)


HANDSHAKE = (
    b"GET /v1/realtime HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n"
    b"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
)
# masks that look like the beginning of a frame
MASKS = st.sampled_from([b"\x81\x80\x81\x80", b"\x82\x81\x00\x00", b"\x81\xfe\x00\x01", bytes(4), b"\x12\x34\x56\x78"])
SIZES = st.sampled_from([0, 1, 2, 5, 125, 126, 127, 300, 65_535, 65_536])


def messages() -> st.SearchStrategy[list[tuple[bytes, list[bytes]]]]:
    """Messages as (what they are, the frames that they are sent in)."""

    @st.composite
    def message(draw: st.DrawFn) -> tuple[bytes, list[bytes]]:
        parts = [
            bytes([draw(st.sampled_from([0x81, 0x82, 0x41]))]) * draw(SIZES) for _ in range(draw(st.integers(1, 3)))
        ]
        cut = []
        for k, part in enumerate(parts):
            cut.append(masked(0x2 if k == 0 else 0x0, part, draw(MASKS), fin=k == len(parts) - 1))
            if draw(st.booleans()):
                cut.append(masked(0x9, b"\x81\x80", draw(MASKS)))
        return b"".join(parts), cut

    return st.lists(message(), min_size=1, max_size=4)


@settings(max_examples=60, deadline=None)
@given(messages(), st.lists(st.integers(1, 40) | st.sampled_from([2, 6, 14, 1000, 70_000]), min_size=1), st.booleans())
def test_frames_arrive_whole_however_the_bytes_are_cut(
    sent: list[tuple[bytes, list[bytes]]], cuts: list[int], with_handshake: bool
) -> None:
    probe = Quiet()
    server = WebSocketServer(lambda request: probe)
    server.connection_made(Wire())
    data = b"".join(frame for _, parts in sent for frame in parts)
    if with_handshake:
        data = HANDSHAKE + data
    else:
        server.data_received(HANDSHAKE)
    at, k = 0, 0
    while at < len(data):
        size = max(cuts[k % len(cuts)], len(data) // 5000)
        server.data_received(data[at : at + size])
        at, k = at + size, k + 1
    assert probe.got == [whole for whole, _ in sent]
    assert probe.ended == []


class Quiet(Probe):
    """A probe that only listens."""

    def __init__(self) -> None:
        super().__init__()

    def received(self, payload: str | bytes) -> None:
        self.got.append(payload)


@pytest.mark.parametrize(
    "bad",
    [
        bytes([0x81, 0x02]) + b"ab",  # not masked
        masked(0x1, b"x", bytes(4), fin=False) + masked(0x1, b"y", bytes(4)),  # a message within a message
        bytes([0x91, 0x80]) + bytes(4),  # a reserved bit
        masked(0x0, b"x", bytes(4)),  # goes on with nothing
    ],
    ids=["unmasked", "interleaved", "reserved bit", "stray continuation"],
)
@pytest.mark.parametrize("size", [1, 2, 1000])
def test_frames_that_break_the_protocol_close_with_1002(bad: bytes, size: int) -> None:
    probe, wire = Quiet(), Wire()
    server = WebSocketServer(lambda request: probe)
    server.connection_made(wire)
    server.data_received(HANDSHAKE)
    good = masked(0x1, b"good", bytes(4))
    data = good + bad + good
    for at in range(0, len(data), size):
        server.data_received(data[at : at + size])
    assert probe.got == ["good"]
    assert b"\x88" in wire.written
    assert (1002).to_bytes(2, "big") in wire.written


# --- the handshake


@both
def test_the_request_is_seen_as_it_was_made(arm: Arm) -> None:
    async def main(ws: ClientConnection) -> None:
        assert ws.subprotocol is None

    headers = {"Authorization": "Bearer k", "X-Two": "2"}
    (request,) = talk(arm, main, additional_headers=headers, path="/some/where?a=1&b=2").requests
    assert request.path == "/some/where?a=1&b=2"
    assert request.host in ("api.example", "127.0.0.1")
    assert request.header("authorization") == "Bearer k"
    assert request.header("x-two") == "2"
    assert request.header("nothing") is None
    assert request.subprotocols == []


@both
def test_the_subprotocol_that_the_peer_chose_is_selected(arm: Arm) -> None:
    offered = ["realtime", "openai-insecure-api-key.KEY", "openai-beta.realtime-v1"]

    async def main(ws: ClientConnection) -> None:
        assert ws.subprotocol == "realtime"

    (request,) = talk(arm, main, Probe("realtime"), subprotocols=offered).requests
    assert request.subprotocols == offered


@both
@pytest.mark.parametrize("status", [401, 403, 429, 503])
def test_a_refusal_arrives_whole(arm: Arm, status: int) -> None:
    body = json.dumps({"error": {"code": "x", "message": "größer"}}, ensure_ascii=False)
    headers = [("Content-Type", "application/json"), ("Retry-After", "7"), ("Set-Cookie", "a=1"), ("Set-Cookie", "b=2")]

    async def main(url: str) -> None:
        with pytest.raises(InvalidStatus) as caught:
            await dial(url)
        response = caught.value.response
        assert response.status_code == status
        assert response.body is not None
        assert response.body.decode() == body
        assert response.headers["Content-Type"] == "application/json"
        assert response.headers["Retry-After"] == "7"
        assert response.headers.get_all("Set-Cookie") == ["a=1", "b=2"]

    arm(lambda request: Refusal(status, body, headers), main)


@both
@pytest.mark.parametrize(
    ("sent", "answer"),
    [
        (b"GET /v1/realtime HTTP/1.1\r\nHost: h\r\n\r\n", b"HTTP/1.1 426 "),
        (
            b"GET /v1/realtime HTTP/1.1\r\nHost: h\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n",
            b"HTTP/1.1 400 ",
        ),
        (b"HELLO\r\n\r\n", b""),
        (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03\r\n\r\n", b""),
        (b"", b""),
    ],
    ids=["plain http", "no key", "no http", "tls", "nothing"],
)
def test_what_is_no_websocket_handshake_reaches_no_peer(arm: Arm, sent: bytes, answer: bytes) -> None:
    probe = Probe()

    async def main(url: str) -> None:
        host, _, port = url.removeprefix("ws://").partition(":")
        reader, writer = await asyncio.open_connection(host, int(port or 80))
        writer.write(sent)
        writer.write_eof()
        with contextlib.suppress(ConnectionError):
            got = await reader.read()
            assert got.startswith(answer)
            assert b"101" not in got[:20]
        writer.close()

    arm(probe, main)
    assert (probe.requests, probe.ended) == ([], [])


def test_a_port_in_use_is_named_with_the_way_out() -> None:
    async def main(url: str) -> None:
        port = int(url.rpartition(":")[2])
        with pytest.raises(SimrtError, match=f"cannot listen on 127.0.0.1:{port}: .*; give another --port"):
            await serve(Probe(), port=port)

    on_loopback(Probe(), main)


# --- a session behind it


class Host:
    """Accepts replays of the front desk and keeps the peers."""

    def __init__(self, *faults: str) -> None:
        self.faults = parse_plan(faults)
        self.peers: list[ReplayPeer] = []

    def __call__(self, request: Request) -> ReplayPeer | Refusal:
        session = make_session(front_desk(), self.faults)
        refusal = session.accept(request)
        if refusal is not None:
            return refusal
        self.peers.append(ReplayPeer(session, request))
        return self.peers[-1]


UPDATE = json.dumps({"type": "session.update", "session": {"type": "realtime", "instructions": "x"}})


async def shake_hands(ws: ClientConnection) -> None:
    assert json.loads(await ws.recv())["type"] == "session.created"
    await ws.send(UPDATE)
    assert json.loads(await ws.recv())["type"] == "session.updated"


@both
def test_a_session_is_played_and_written_down(arm: Arm) -> None:
    host = Host()

    async def main(url: str) -> None:
        async with dial(url, subprotocols=["realtime"]) as ws:
            await shake_hands(ws)
            await ws.send("{")
            assert json.loads(await ws.recv())["error"]["code"] == "invalid_json"
            await ws.close(1000, "done")
        await asyncio.sleep(0)

    arm(host, main)
    (peer,) = host.peers
    assert peer.subprotocol == peer.trace.opening.subprotocol == "realtime"
    assert [(f.sender, (f.event() or {}).get("type"), f.synthetic) for f in peer.trace.frames] == [
        ("server", "session.created", False),
        ("client", "session.update", False),
        ("server", "session.updated", False),
        ("client", None, False),
        ("server", "error", True),
    ]
    times = [frame.t_us for frame in peer.trace.frames]
    assert times == sorted(times)
    assert times[0] >= 60_000
    assert times[2] - times[1] >= 200_000
    closing = peer.trace.closing
    assert closing is not None
    assert (closing.code, closing.reason, closing.by) == (1000, "done", "client")


def test_in_a_world_the_times_are_exact() -> None:
    host = Host()

    async def main(url: str) -> None:
        async with dial(url) as ws:
            await shake_hands(ws)

    in_world(host, main)
    created, update, updated = host.peers[0].trace.frames
    assert created.t_us == 60_000
    assert 0 <= update.t_us - created.t_us < 1000
    assert updated.t_us - update.t_us == 200_000


@both
@pytest.mark.parametrize(
    ("fault", "code", "reason", "by"),
    [
        ("close:event=session.updated,code=1013,reason=busy", 1013, "busy", "server"),
        ("reset:event=session.updated", 1006, "", "network"),
    ],
)
def test_an_end_by_a_fault_is_not_the_clients(arm: Arm, fault: str, code: int, reason: str, by: str) -> None:
    host = Host(fault)
    finished: list[ReplayPeer] = []

    async def main(url: str) -> None:
        async with dial(url) as ws:
            host.peers[0]._finished = finished.append
            await shake_hands(ws)
            with pytest.raises(ConnectionClosed):
                await ws.recv()

    arm(host, main)
    (peer,) = host.peers
    assert finished == [peer]
    closing = peer.trace.closing
    assert closing is not None
    assert (closing.code, closing.reason, closing.by) == (code, reason, by)
    assert [mark.kind for mark in peer.trace.marks] == ["fault"]


@both
def test_several_connections_are_sessions_of_their_own(arm: Arm) -> None:
    host = Host()

    async def main(url: str) -> None:
        async with dial(url) as one, dial(url) as two:
            await asyncio.gather(shake_hands(one), shake_hands(two))

    arm(host, main)
    assert len({id(peer.session) for peer in host.peers}) == 2
    assert [len(peer.trace.frames) for peer in host.peers] == [3, 3]


@both
def test_a_refusal_by_fault_is_an_http_answer(arm: Arm) -> None:
    async def main(url: str) -> None:
        with pytest.raises(InvalidStatus) as caught:
            await dial(url)
        assert caught.value.response.status_code == 401
        assert b"invalid_api_key" in (caught.value.response.body or b"")

    arm(Host("refuse:status=401"), main)


def test_a_raw_client_sees_a_real_reset() -> None:
    async def main(url: str) -> None:
        async with dial(url) as ws:
            await ws.send("reset")
            with pytest.raises(ConnectionClosedError) as caught:
                await ws.recv()
            assert isinstance(caught.value.__cause__, ConnectionResetError)

    on_loopback(Probe(), main)
    in_world(Probe(), main)


def test_opcodes_that_are_reserved_close_with_1002() -> None:
    async def main(ws: ClientConnection) -> None:
        ws.protocol.writes.append(bytes([0x80 | 0x3, 0x80]) + bytes(4))
        ws.send_data()
        with pytest.raises(ConnectionClosed) as caught:
            await ws.recv()
        assert caught.value.rcvd is not None
        assert caught.value.rcvd.code == 1002

    assert talk(in_world, main).ended[0][0] == 1002
