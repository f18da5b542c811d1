"""HTTP/1.1 message heads, kept as they were sent: order, case and repeats of headers included. Pure."""

import msgspec

HEAD_LIMIT = 64 * 1024
"""The longest head that is accepted, in bytes; long bearer tokens fit."""

Headers = list[tuple[str, str]]

# What belongs to one connection and not to the message (RFC 9110 §7.6.1), or to the handshake itself.
_OF_CONNECTION = frozenset(
    ("connection", "keep-alive", "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade", "content-length")
)
_OF_HANDSHAKE = frozenset(
    ("host", *(f"sec-websocket-{name}" for name in ("key", "version", "accept", "extensions", "protocol")))
)


class BadHead(ValueError):
    """Not an HTTP/1.1 head. The message holds nothing of what was sent, since that may be a secret."""


class Head(msgspec.Struct, frozen=True):
    """A request or response head: `start` is its first line."""

    start: str
    headers: Headers

    def values(self, name: str) -> list[str]:
        """The values of every header of that name (lower case), in order."""
        return [value for key, value in self.headers if key.lower() == name]

    def tokens(self, name: str) -> list[str]:
        """The comma-separated items of a list header."""
        return [item for value in self.values(name) for item in (part.strip() for part in value.split(",")) if item]

    def end_to_end(self) -> Headers:
        """The headers worth recording: those that are about the session, not about this connection."""
        return [pair for pair in self.headers if pair[0].lower() not in _OF_CONNECTION | _OF_HANDSHAKE]

    def encode(self) -> bytes:
        """The head as bytes, with the empty line that ends it."""
        lines = [self.start, *(f"{name}: {value}" for name, value in self.headers)]
        return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")


class Request(Head, frozen=True):
    """A request head."""

    @property
    def method(self) -> str:
        return self.start.split(" ")[0]

    @property
    def resource(self) -> str:
        """Path and query; a proxy-style absolute URL is cut down to them."""
        resource = self.start.split(" ")[1]
        if resource.startswith("/"):
            return resource
        return "/" + resource.partition("://")[2].partition("/")[2]

    @property
    def is_websocket(self) -> bool:
        """Whether it asks for a WebSocket."""
        return "websocket" in (token.lower() for token in self.tokens("upgrade"))

    def forwarded(self, resource: str, authority: str) -> "Request":
        """The same request for the upstream: its path, its Host, everything else as the client sent it.

        A WebSocket's offer of extensions is taken out: with permessage-deflate the frames on the wire would not be the
        messages. Any other request is made the last on its connection.
        """
        dropped = {"host", "sec-websocket-extensions"} if self.is_websocket else {"host", "connection", "keep-alive"}
        headers = [("Host", authority), *(pair for pair in self.headers if pair[0].lower() not in dropped)]
        if not self.is_websocket:
            headers.append(("Connection", "close"))
        return Request(f"{self.method} {resource} HTTP/1.1", headers)


class Response(Head, frozen=True):
    """A response head."""

    @property
    def status(self) -> int:
        return int(self.start.split(" ")[1])


def split_head(buffer: bytes | bytearray) -> tuple[bytes, bytes] | None:
    """A head (with its empty line) and what follows it; None while it is not all there. BadHead when too long."""
    end = buffer.find(b"\r\n\r\n")
    if end > HEAD_LIMIT or (end < 0 and len(buffer) > HEAD_LIMIT):
        raise BadHead(f"the HTTP head is longer than {HEAD_LIMIT} bytes")
    return (bytes(buffer[: end + 4]), bytes(buffer[end + 4 :])) if end >= 0 else None


def parse_request(head: bytes) -> Request:
    """A request head; BadHead if it is none."""
    start, headers = _parse(head)
    parts = start.split(" ")
    if len(parts) != 3 or not parts[0].isalpha() or not parts[2].startswith("HTTP/1.") or not parts[1]:
        raise BadHead("not an HTTP/1.1 request")
    return Request(start, headers)


def parse_response(head: bytes) -> Response:
    """A response head; BadHead if it is none."""
    start, headers = _parse(head)
    parts = start.split(" ", 2)
    if len(parts) < 2 or not parts[0].startswith("HTTP/1.") or len(parts[1]) != 3 or not parts[1].isdigit():
        raise BadHead("not an HTTP/1.1 response")
    return Response(start, headers)


def _parse(head: bytes) -> tuple[str, Headers]:
    start, *lines = head.decode("latin-1").removesuffix("\r\n\r\n").split("\r\n")
    headers: Headers = []
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon or not name or name != name.strip():
            raise BadHead("a line of the HTTP head is no header")
        headers.append((name, value.strip(" \t")))
    return start, headers
