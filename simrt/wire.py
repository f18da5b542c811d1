"""The seam between a protocol session and a WebSocket: what a server-side peer does and what it is given.

The same `Peer` is driven by the in-memory network of a World and by a real socket (simrt.replay.server).
"""

from typing import Protocol

import msgspec


class Request(msgspec.Struct, frozen=True):
    """An opening handshake as the server sees it. `host` has no port; `path` includes the query."""

    host: str
    path: str
    headers: list[tuple[str, str]] = []
    subprotocols: list[str] = []

    def header(self, name: str) -> str | None:
        """The first header of that name, whatever its case."""
        wanted = name.lower()
        return next((value for key, value in self.headers if key.lower() == wanted), None)


class Refusal(msgspec.Struct, frozen=True):
    """An HTTP answer instead of 101, say 401 or 429."""

    status: int
    body: str = ""
    headers: list[tuple[str, str]] = []


class Link(Protocol):
    """The server's end of one WebSocket, as handed to a Peer."""

    def send(self, payload: str | bytes) -> None:
        """Send one message. After the connection has ended this does nothing."""
        ...

    def close(self, code: int, reason: str = "") -> None:
        """Start the closing handshake."""
        ...

    def reset(self) -> None:
        """Drop the connection as a TCP reset does, without a close frame."""
        ...


class Peer(Protocol):
    """One server-side session on one WebSocket. `received` may be called from inside another `received`'s loop step,
    but never re-entrantly."""

    subprotocol: str | None

    def opened(self, link: Link) -> None: ...

    def received(self, payload: str | bytes) -> None: ...

    def pong_late_us(self) -> int:
        """A ping has come: how long its pong is held back, in µs."""
        ...

    def closed(self, code: int, reason: str, by_client: bool) -> None:
        """The connection ended: the code of the close frame, or 1006 when none was seen. Called once."""
        ...
