"""The thin shell around a replay session: a WebSocket on any asyncio transport, real or in a World.

`WebSocketServer` is an asyncio protocol over websockets' sans-I/O server; it drives one `Peer`. `ReplayPeer` is the
Peer that plays a session and writes the call's Trace.
"""

import asyncio
import socket
import ssl
import struct
from collections.abc import Callable

from websockets.datastructures import Headers
from websockets.frames import Frame as WireFrame
from websockets.frames import Opcode
from websockets.http11 import Request as HttpRequest
from websockets.protocol import State
from websockets.server import ServerProtocol

from simrt.errors import SimrtError
from simrt.faults.base import End
from simrt.replay.session import Session
from simrt.trace import Closing, Ender, Frame, Opening, Trace
from simrt.wire import Link, Peer, Refusal, Request

try:
    from websockets.speedups import apply_mask
except ImportError:  # websockets was installed without its C extension
    from websockets.utils import apply_mask

Acceptor = Callable[[Request], Peer | Refusal]

_TEXT, _BINARY, _PONG = 0x81, 0x82, 0x8A
_OPEN = State.OPEN  # by a name of its own: an enum's members are slow to reach
_MASKED_16 = 0x80 | 126  # masked, with a length of 16 bits
MAX_SIZE = 64 * 1024 * 1024


class WebSocketServer(asyncio.Protocol):
    """One server connection. `acceptor` looks at the opening handshake and returns a Peer or a Refusal.

    Pings are answered, fragments joined; messages over 64 MiB close the connection with 1009.
    """

    def __init__(self, acceptor: Acceptor) -> None:
        self._acceptor = acceptor
        self._protocol = ServerProtocol(max_size=MAX_SIZE)
        self._transport: asyncio.Transport | None = None
        self._peer: Peer | None = None
        self._opcode = Opcode.TEXT
        self._parts: list[bytes] = []
        self._fragmented = False
        self._splitting = False
        self._held = b""
        self._owed = 0
        self._closed = False

    # asyncio.Protocol

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._splitting:
            self._split(self._held + data if self._held else data)
            return
        fresh = self._peer is None
        self._general(data)
        # with frames right behind the handshake the general parser may be in the middle of one: it keeps the job
        self._splitting = fresh and self._peer is not None and data.endswith(b"\r\n\r\n")

    def _general(self, data: bytes) -> None:
        """Bytes for websockets' own parser."""
        self._protocol.receive_data(data)
        self._events()
        self._flush()

    def _split(self, data: bytes) -> None:
        """Cut the bytes into frames: whole, unfragmented messages are taken here, the others go to the protocol.

        The former are nearly all there is, and websockets' general parser costs ten times as much. `_held` is the
        beginning of one of them, `_owed` how much is to come of a frame that the protocol has begun to read.
        """
        start, size = 0, len(data)
        if (
            size > 8
            and data[0] == _TEXT
            and data[1] == _MASKED_16
            and int.from_bytes(data[2:4]) == size - 8
            and not (self._owed or self._fragmented)
            and self._protocol.state is _OPEN
        ):  # one message of middle length and nothing else: so the caller's audio comes
            self._held = b""
            self._text(apply_mask(data[8:], data[4:8]))
            return
        while start < size:
            if self._owed or self._protocol.state is not _OPEN:
                part = data[start : start + self._owed] if self._owed else data[start:]
                self._owed -= min(self._owed, len(part))
                start += len(part)
                self._general(part)
                continue
            if size - start < 2:
                break
            second = data[start + 1]
            length, head = second & 0x7F, 6 if second & 0x80 else 2
            if length >= 126:
                wide = 2 if length == 126 else 8
                if size - start < 2 + wide:
                    break
                length, head = int.from_bytes(data[start + 2 : start + 2 + wide]), head + wide
            if data[start] not in (_TEXT, _BINARY) or not second & 0x80 or length > 0xFFFF or self._fragmented:
                self._owed = head + length
                continue
            begin, stop = start + head, start + head + length
            if stop > size:
                break
            payload = apply_mask(data[begin:stop], data[begin - 4 : begin])
            opcode, start = Opcode.TEXT if data[start] == _TEXT else Opcode.BINARY, stop
            self._message(opcode, payload)
        self._held = data[start:]

    def eof_received(self) -> bool:
        self._protocol.receive_eof()
        self._events()
        self._flush()
        return False

    def connection_lost(self, exc: Exception | None) -> None:
        if self._protocol.state is not State.CLOSED:
            self._protocol.receive_eof()
        self._over()

    # Link, for the peer

    def send(self, payload: str | bytes) -> None:
        """One message."""
        if self._protocol.state is not _OPEN or self._transport is None or self._transport.is_closing():
            return
        # what the protocol has to send itself is flushed at once, so frames can pass it by: no extensions, no mask
        opcode, data = (_TEXT, payload.encode()) if isinstance(payload, str) else (_BINARY, payload)
        self._transport.write(_frame_head(opcode, len(data)) + data)

    def close(self, code: int, reason: str = "") -> None:
        """The closing handshake, begun by the server."""
        if self._protocol.state is State.OPEN:
            if code == 1005:
                self._protocol.send_close()
            else:
                self._protocol.send_close(code, reason)
            self._flush()

    def reset(self) -> None:
        """Break the connection."""
        if self._transport is not None:
            reset = getattr(self._transport, "reset", None)  # in a World the other side sees a reset by this
            if reset is not None:
                reset()
                return
            sock = self._transport.get_extra_info("socket")
            if sock is not None:  # closing with unsent data thrown away makes the kernel send RST
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            self._transport.abort()

    # inner workings

    def _events(self) -> None:
        for event in self._protocol.events_received():
            if isinstance(event, HttpRequest):
                self._handshake(event)
            elif isinstance(event, WireFrame):
                self._frame(event)
        if self._protocol.state is State.CLOSED:
            self._over()

    def _handshake(self, http: HttpRequest) -> None:
        headers = list(http.headers.raw_items())
        offered = [p.strip() for v in http.headers.get_all("Sec-WebSocket-Protocol") for p in v.split(",")]
        host = http.headers.get("Host", "")
        request = Request(host.rsplit(":", 1)[0] if host[-1:].isdigit() else host, http.path, headers, offered)
        response = self._protocol.accept(http)
        if response.status_code != 101:  # no WebSocket handshake at all: none of the acceptor's business
            self._protocol.send_response(response)
            return
        answer = self._acceptor(request)
        if isinstance(answer, Refusal):
            response = self._protocol.reject(answer.status, answer.body)
            given = Headers(answer.headers)
            for name in set(given) & set(response.headers):
                del response.headers[name]
            response.headers.update(given)
            self._protocol.send_response(response)
            return
        if answer.subprotocol is not None:
            response.headers["Sec-WebSocket-Protocol"] = answer.subprotocol
        self._protocol.send_response(response)
        if self._protocol.state is State.OPEN:
            self._flush()
            self._peer = answer
            answer.opened(self)

    def _frame(self, frame: WireFrame) -> None:
        if frame.opcode in (Opcode.TEXT, Opcode.BINARY) and frame.fin:
            self._message(frame.opcode, bytes(frame.data))
        elif frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
            if frame.opcode is not Opcode.CONT:
                self._opcode, self._parts = frame.opcode, []
            self._parts.append(bytes(frame.data))
            self._fragmented = not frame.fin
            if frame.fin:
                self._message(self._opcode, b"".join(self._parts))

    def _message(self, opcode: Opcode, data: bytes) -> None:
        if opcode is Opcode.TEXT:
            self._text(data)
        elif self._peer is not None:
            self._peer.received(data)

    def _text(self, data: bytes) -> None:
        if self._peer is None:
            return
        try:
            text = data.decode()
        except UnicodeDecodeError:
            self._protocol.fail(1007, "text frame is no UTF-8")
            self._flush()
            return
        self._peer.received(text)

    def _flush(self) -> None:
        transport = self._transport
        if transport is None or transport.is_closing():
            return
        for data in self._protocol.data_to_send():
            if not data:
                transport.close()
                return
            late_us = self._peer.pong_late_us() if data[0] == _PONG and self._peer is not None else 0
            if late_us:
                asyncio.get_running_loop().call_later(late_us / 1_000_000, self._late_pong, data)
            else:
                transport.write(data)
        if self._protocol.close_expected() and self._protocol.state is State.CLOSED:
            transport.close()

    def _late_pong(self, data: bytes) -> None:
        if self._transport is not None and self._protocol.state is State.OPEN:
            self._transport.write(data)

    def _over(self) -> None:
        if self._closed:
            return
        self._closed = True
        if self._peer is not None:
            received, sent = self._protocol.close_rcvd, self._protocol.close_sent
            by_client = received is not None and (sent is None or bool(self._protocol.close_rcvd_then_sent))
            close = received if by_client else sent or received
            code, reason = (close.code, close.reason) if close is not None else (1006, "")
            self._peer.closed(code, reason, by_client or (close is None))


def _frame_head(opcode: int, size: int) -> bytes:
    """The header of a whole, unmasked message (RFC 6455 §5.2)."""
    if size < 126:
        return bytes((opcode, size))
    return bytes((opcode, 126)) + size.to_bytes(2) if size <= 0xFFFF else bytes((opcode, 127)) + size.to_bytes(8)


class ReplayPeer:
    """Drives a session with the loop's time, and records the call.

    `finished` is called with the trace when the connection has ended. Times in the trace are µs since the handshake,
    which came at `opened_us` of the call.
    """

    def __init__(
        self, session: Session, request: Request, finished: Callable[["ReplayPeer"], None] | None = None
    ) -> None:
        self.session = session
        opening = Opening(request.path, [], [], session.subprotocol)
        self.trace = Trace(opening=opening)
        self.subprotocol: str | None = session.subprotocol
        self._finished = finished
        self._link: Link | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._due_us = 0  # what the timer is set to
        self._loop = asyncio.get_running_loop()
        self._start = self._loop.time()
        self.opened_us = 0
        self.on_frame: Callable[[Frame], object] | None = None  # told of each one that has crossed

    def now_us(self) -> int:
        """µs since the connection opened."""
        return round((self._loop.time() - self._start) * 1_000_000)

    def opened(self, link: Link) -> None:
        """The handshake is done."""
        self._link = link
        self.session.opened(0)
        self._pump()

    def received(self, payload: str | bytes) -> None:
        """A client message."""
        now_us = self.now_us()
        frame = Frame(now_us, "client", payload)
        self.trace.frames.append(frame)
        if self.on_frame is not None:
            self.on_frame(frame)
        session = self.session
        before = session.scheduled
        session.receive(payload, now_us)
        if session.scheduled != before:
            due = session.next_due()
            if self._timer is None or (due is not None and due < self._due_us):  # else the timer is soon enough
                self._pump()

    def pong_late_us(self) -> int:
        """A ping has come: how long its pong is held back."""
        now_us = self.now_us()
        return self.session.pong_due(now_us) - now_us

    def closed(self, code: int, reason: str, by_client: bool) -> None:
        """The connection is over."""
        now_us = self.now_us()
        self.session.closed(now_us)
        if self._timer is not None:
            self._timer.cancel()
        by: Ender = "client" if by_client else "server"
        if code == 1006:
            by = "network" if self.session.ended_it else "client"
        self.trace.closing = Closing(now_us, code, reason, by)
        self.trace.marks = self.session.marks
        if self._finished is not None:
            self._finished(self)

    def _pump(self) -> None:
        """Send what is due, then sleep until the next."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        link = self._link
        if link is None:
            return
        now_us = self.now_us()
        for action in self.session.due(now_us):
            if isinstance(action, End):
                if action.reset:
                    link.reset()
                else:
                    link.close(action.code, action.reason)
                return
            frame = Frame(now_us, "server", action.payload, action.synthetic)
            self.trace.frames.append(frame)
            link.send(action.payload)
            if self.on_frame is not None:
                self.on_frame(frame)
        due = self.session.next_due()
        if due is not None:
            self._due_us = max(due, now_us)
            self._timer = self._loop.call_at(self._start + self._due_us / 1_000_000, self._pump)


async def serve(
    acceptor: Acceptor, host: str = "127.0.0.1", port: int = 0, tls: ssl.SSLContext | None = None
) -> asyncio.Server:
    """Listen on a real socket in real time. SimrtError names a port that is in use."""
    loop = asyncio.get_running_loop()
    try:
        return await loop.create_server(lambda: WebSocketServer(acceptor), host, port, ssl=tls)
    except OSError as error:
        raise SimrtError(
            f"cannot listen on {host}:{port}: {error.strerror or error}; give another --port, or 0 for any free one"
        ) from error
