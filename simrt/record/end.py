"""One TCP connection of a tunnel."""

import asyncio
import socket
import struct
from collections.abc import Callable
from typing import Protocol, cast

from simrt.record.frames import Splitter
from simrt.trace import Sender


class Owner(Protocol):
    """What an End tells its news to."""

    def other(self, end: "End") -> "End":
        """The end opposite."""
        ...

    def ended(self, end: "End") -> None:
        """It will send no more (FIN)."""
        ...

    def gone(self, end: "End", *, reset: bool) -> None:
        """Its connection is closed; `reset` when that came without a FIN."""
        ...


class End(asyncio.Protocol):
    """The client's connection, or the upstream's. Whatever it cannot take in time holds up the end opposite."""

    def __init__(self, owner: Owner, sender: Sender, receive: Callable[[bytes], None]) -> None:
        self.sender: Sender = sender
        self.receive = receive
        self.splitter = Splitter()
        self.transport: asyncio.Transport | None = None
        self.silent = False  # it will send no more
        self.lost = False
        self._deaf = False  # it was told that no more is coming
        self._owner = owner

    @property
    def is_open(self) -> bool:
        """Whether it can still be written to."""
        return self.transport is not None and not self.transport.is_closing() and not self._deaf

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self.receive(data)

    def eof_received(self) -> bool:
        """Keeps the connection half open where that is possible (TLS closes it)."""
        self.silent = True
        self._owner.ended(self)
        return self.transport is not None and self.transport.can_write_eof()

    def connection_lost(self, exc: Exception | None) -> None:
        reset = exc is not None and not self.silent
        self.silent = self.lost = True
        self._owner.gone(self, reset=reset)

    def pause_writing(self) -> None:
        self._owner.other(self).pause()

    def resume_writing(self) -> None:
        self._owner.other(self).resume()

    def pause(self) -> None:
        """Read no more for now."""
        if self.transport is not None and not self.transport.is_closing():
            self.transport.pause_reading()

    def resume(self) -> None:
        """Read again."""
        if self.transport is not None and not self.transport.is_closing():
            self.transport.resume_reading()

    def write(self, data: bytes) -> None:
        """Send bytes, unless the connection is over."""
        if self.is_open:
            cast(asyncio.Transport, self.transport).write(data)

    def hang_up(self) -> None:
        """After what is still to be sent: say that no more is coming; close if nothing more comes from it either."""
        if self.transport is None or self.transport.is_closing():
            return
        if self.silent or not self.transport.can_write_eof():
            self.transport.close()
        elif not self._deaf:
            self._deaf = True
            self.transport.write_eof()

    def reset(self) -> None:
        """After what is still to be sent: end as a TCP reset does."""
        if self.transport is None or self.transport.is_closing():
            return
        sock = self.transport.get_extra_info("socket")
        if sock is not None:
            sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.close()

    def abort(self) -> None:
        """Drop the connection now."""
        if self.transport is not None:
            self.transport.abort()

    def unsent(self) -> int:
        """Bytes that the operating system has not taken yet."""
        return 0 if self.transport is None or self.lost else self.transport.get_write_buffer_size()
