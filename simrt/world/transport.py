"""In-memory connections: two transports, joined back to back, that move bytes through the loop.

What one end writes, the other end's protocol receives on the next round of the loop, in order; writes of one
round arrive as one piece, as they do from a kernel. There is no TLS; an end that asked for it only says that
it cannot be closed by halves.
"""

import asyncio
import socket
from collections.abc import Iterable
from contextvars import copy_context
from errno import ECONNRESET
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simrt.world.loop import VirtualLoop

Address = tuple[str, int]

# Bytes that a peer which does not read takes all the same, as the buffers of a kernel would.
SOCKET_BUFFER = 256 * 1024
HIGH_WATER = 64 * 1024


class MemorySocket:
    """What `get_extra_info("socket")` gives: it has addresses and takes options, and cannot do I/O."""

    family = socket.AF_INET
    type = socket.SOCK_STREAM
    proto = socket.IPPROTO_TCP

    def __init__(self, sockname: Address, peername: Address | None = None) -> None:
        self._sockname = sockname
        self._peername = peername

    def getsockname(self) -> Address:
        return self._sockname

    def getpeername(self) -> Address:
        if self._peername is None:
            raise OSError("a listening socket has no peer")
        return self._peername

    def setsockopt(self, *args: Any) -> None:
        """Takes any option and ignores it."""

    def getsockopt(self, level: int, option: int, buflen: int = 0) -> int | bytes:
        return bytes(buflen) if buflen else 0

    def fileno(self) -> int:
        return -1

    def gettimeout(self) -> float:
        return 0.0

    def setblocking(self, flag: bool) -> None:
        """Ignored: there is nothing to block on."""

    def __repr__(self) -> str:
        return f"<MemorySocket {self._sockname} -> {self._peername}>"


class MemoryTransport(asyncio.Transport):
    """One end of an in-memory connection; `join` makes both.

    `get_extra_info` knows `peername`, `sockname` and `socket`. `reset()` makes the peer see
    `ConnectionResetError`.
    """

    _peer: "MemoryTransport"

    def __init__(self, loop: "VirtualLoop", sock: MemorySocket, secure: bool) -> None:
        super().__init__(
            {
                "socket": sock,
                "sockname": sock.getsockname(),
                "peername": sock.getpeername(),
            }
        )
        self._loop = loop
        self._ready = loop._ready
        self._secure = secure
        # One handle for all deliveries, as a selector loop has one a reader: scheduling costs nothing.
        self._handle = asyncio.Handle(self._deliver, (), loop, copy_context())
        self._scheduled = False
        self._inbox: list[bytes] = []
        self._size = 0  # bytes in the inbox: what the peer has written and we have not read
        self._eof_in = False  # the peer will write no more
        self._eof_out = False  # we will write no more
        self._error: ConnectionError | None = None  # how the connection broke, to be told after the inbox
        self._paused = False
        self._closing = False
        self._closed = False  # connection_lost is scheduled or done
        self._low, self._high = HIGH_WATER // 4, HIGH_WATER
        self._full_at = SOCKET_BUFFER + HIGH_WATER  # the peer's inbox size that pauses our writing
        self._writing_paused = False

    # Protocol

    def set_protocol(self, protocol: asyncio.BaseProtocol) -> None:
        self._protocol: Any = protocol
        self._buffered = isinstance(protocol, asyncio.BufferedProtocol)

    def get_protocol(self) -> asyncio.BaseProtocol:
        protocol: asyncio.BaseProtocol = self._protocol
        return protocol

    # Reading

    def is_reading(self) -> bool:
        return not self._paused and not self._closing

    def pause_reading(self) -> None:
        self._paused = True

    def resume_reading(self) -> None:
        if self._paused:
            self._paused = False
            self._schedule()

    def _schedule(self) -> None:
        if not self._scheduled:
            self._scheduled = True
            self._ready.append(self._handle)

    def _deliver(self) -> None:
        self._scheduled = False
        if self._paused or self._closing:
            return
        inbox = self._inbox
        if inbox:
            data = inbox[0] if len(inbox) == 1 else b"".join(inbox)
            inbox.clear()
            self._size = 0
            if self._peer._writing_paused or self._peer._closing:
                self._peer._drained()
            try:
                if self._buffered:
                    self._feed(data)
                else:
                    self._protocol.data_received(data)
            except Exception as exc:
                self._fail(exc, "data_received")
            if self._eof_in or self._error:
                self._schedule()
        elif self._error:
            self._lose(self._error)
        elif self._eof_in:
            try:
                keep_open = self._protocol.eof_received()
            except Exception as exc:
                self._fail(exc, "eof_received")
                return
            # TLS has no half-open connections.
            if not keep_open or self._secure:
                self.close()

    def _feed(self, data: bytes) -> None:
        view = memoryview(data)
        while view and not self._closing:
            buffer = self._protocol.get_buffer(len(view))
            size = min(len(buffer), len(view))
            if not size:
                raise RuntimeError("get_buffer() returned an empty buffer")
            buffer[:size] = view[:size]
            view = view[size:]
            self._protocol.buffer_updated(size)
            if self._paused and view:
                self._inbox.insert(0, bytes(view))
                self._size += len(view)
                return

    # Writing

    def write(self, data: bytes | bytearray | memoryview) -> None:
        if type(data) is not bytes:
            data = bytes(data)
        if self._eof_out:
            raise RuntimeError("Cannot call write() after write_eof()")
        if not data or self._closing:
            return
        peer = self._peer
        if peer._closed:
            # A real peer would answer with RST, unless we are about to learn in another way that it is gone.
            if not self._scheduled:
                self._lose(self._error or _reset_by_peer())
            return
        peer._inbox.append(data)
        peer._size += len(data)
        if not peer._scheduled:
            peer._scheduled = True
            self._ready.append(peer._handle)
        if peer._size > self._full_at and not self._writing_paused:
            self._writing_paused = True
            self._call(self._protocol.pause_writing)

    def writelines(self, list_of_data: Iterable[bytes | bytearray | memoryview]) -> None:
        self.write(b"".join(list_of_data))

    def can_write_eof(self) -> bool:
        return not self._secure

    def write_eof(self) -> None:
        if not self._eof_out and not self._closing:
            self._eof_out = True
            self._peer._eof_in = True
            self._peer._schedule()

    def get_write_buffer_size(self) -> int:
        return max(0, self._peer._size - SOCKET_BUFFER)

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return self._low, self._high

    def set_write_buffer_limits(self, high: int | None = None, low: int | None = None) -> None:
        if high is None:
            high = HIGH_WATER if low is None else 4 * low
        if low is None:
            low = high // 4
        if not high >= low >= 0:
            raise ValueError(f"high ({high!r}) must be >= low ({low!r}) must be >= 0")
        self._low, self._high = low, high
        self._full_at = SOCKET_BUFFER + high

    def _drained(self) -> None:
        """The peer has emptied its inbox."""
        if self._writing_paused:
            self._writing_paused = False
            self._call(self._protocol.resume_writing)
        if self._closing and not self._closed:
            self._lose(None)

    def _call(self, callback: Any) -> None:
        try:
            callback()
        except Exception as exc:
            self._report(exc, f"{callback.__name__}() failed")

    # Closing

    def is_closing(self) -> bool:
        return self._closing

    def close(self) -> None:
        if self._closing:
            return
        self._closing = True
        self._inbox.clear()
        self._size = 0
        peer = self._peer
        if peer._writing_paused:
            peer._drained()
        if not peer._eof_in:
            peer._eof_in = True
            peer._schedule()
        if not self.get_write_buffer_size():  # else when the peer has read it
            self._lose(None)

    def abort(self) -> None:
        """Same as `reset()`."""
        self.reset()

    def reset(self, exc: Exception | None = None) -> None:
        """Drop the connection: the peer reads what was sent, then loses it with `ConnectionResetError`.

        This end loses it with EXC.
        """
        if not self._closed:
            self._lose(exc)
            if not self._peer._closed:
                self._peer._error = _reset_by_peer()
                self._peer._schedule()

    def _lose(self, exc: Exception | None) -> None:
        if not self._closed:
            self._closing = self._closed = True
            self._inbox.clear()
            self._size = 0
            self._loop.call_soon(self._lost, exc)

    def _lost(self, exc: Exception | None) -> None:
        self._loop.network.forget(self)
        self._protocol.connection_lost(exc)

    def _fail(self, exc: Exception, name: str) -> None:
        self._report(exc, f"{name}() failed")
        if not self._closed:
            self.reset(exc)

    def _report(self, exc: Exception, what: str) -> None:
        self._loop.call_exception_handler(
            {
                "message": f"{type(self._protocol).__qualname__}.{what}",
                "exception": exc,
                "transport": self,
                "protocol": self._protocol,
            }
        )

    def __repr__(self) -> str:
        state = "closed" if self._closed else "closing" if self._closing else "open"
        names = (self.get_extra_info(name) for name in ("sockname", "peername"))
        return "<MemoryTransport {} -> {} {}>".format(*names, state)


def _reset_by_peer() -> ConnectionResetError:
    return ConnectionResetError(ECONNRESET, "Connection reset by peer")


def join(
    loop: "VirtualLoop", client: Address, server: Address, secure: bool
) -> tuple[MemoryTransport, MemoryTransport]:
    """Two ends of one connection, at addresses `client` and `server`; protocols are still to be set."""
    near = MemoryTransport(loop, MemorySocket(client, server), secure)
    far = MemoryTransport(loop, MemorySocket(server, client), secure)
    near._peer, far._peer = far, near
    return near, far
