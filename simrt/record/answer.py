"""The upstream's answer to a WebSocket request, and answers of the proxy's own."""

import zlib
from collections.abc import Generator

from websockets.http11 import Response as WholeResponse
from websockets.streams import StreamReader

from simrt.record.head import BadHead, Response, parse_response, split_head

_REASONS = {400: "Bad Request", 500: "Internal Server Error", 502: "Bad Gateway", 503: "Service Unavailable"}


class Answer:
    """Collects the answer: after 101 the head alone, after a refusal the whole body too.

    `raw` is the answer as it stood on the wire (interim 1xx heads left out), `rest` what came after it.
    """

    def __init__(self) -> None:
        self.response = Response("", [])
        self.raw = b""
        self.rest = b""
        self.body = b""
        self._buffer = bytearray()
        self._reader = StreamReader()
        self._parser: Generator[None, None, WholeResponse] | None = None

    def feed(self, data: bytes) -> bool:
        """Take bytes; True when the answer is complete. BadHead when it is no HTTP."""
        if self._parser is None:
            self._buffer += data
            return self._read_head()
        self.raw += data
        self._reader.feed_data(data)
        return self._read_body()

    def feed_eof(self) -> bool:
        """The connection ended; True when that completes the answer (a body without a length)."""
        if self._parser is None:
            return False
        self._reader.feed_eof()
        try:
            return self._read_body()
        except BadHead:
            return False

    def text(self) -> str:
        """The body as text: unpacked if it is gzip or deflate, "" if it is packed in another way."""
        body = self.body
        codings = [coding.lower() for coding in self.response.tokens("content-encoding")]
        if codings in (["gzip"], ["deflate"]):
            try:
                body = zlib.decompress(body, wbits=47)
            except zlib.error:
                return ""
        elif codings not in ([], ["identity"]):
            return ""
        return body.decode(errors="replace")

    def _read_head(self) -> bool:
        while (split := split_head(self._buffer)) is not None:
            head, rest = split
            self.response = parse_response(head)
            if self.response.status == 101:
                self.raw, self.rest = head, rest
                return True
            self._buffer = bytearray(rest)
            if self.response.status >= 200:
                self.raw = head + rest
                self._reader.feed_data(b"HTTP/1.1" + self.raw[8:])  # the parser knows no other version
                self._parser = WholeResponse.parse(
                    self._reader.read_line, self._reader.read_exact, self._reader.read_to_eof
                )
                return self._read_body()
        return False

    def _read_body(self) -> bool:
        assert self._parser is not None
        try:
            next(self._parser)
        except StopIteration as stop:
            self.body = bytes(stop.value.body)
            return True
        except Exception as error:  # the parser's errors quote what was sent
            raise BadHead(f"its refusal cannot be read: {type(error).__name__}") from None
        return False


def plain_answer(status: int, text: str) -> bytes:
    """An answer of the proxy's own: a status and a line of text."""
    body = text.encode() + b"\n"
    head = (
        f"HTTP/1.1 {status} {_REASONS[status]}\r\nContent-Type: text/plain; charset=utf-8\r\n"
        f"Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
    )
    return head.encode() + body
