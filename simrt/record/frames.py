"""One direction of a WebSocket, cut into frames and put together to messages, without changing a byte. Pure.

The proxy passes on the bytes it got, so whatever the two ends say to each other (fragments, pings, masks, close codes,
even mistakes) arrives as it was sent. What it reads out of them here is only for the record.
"""

import struct
from typing import TypeAlias

import msgspec
from websockets.frames import CloseCode, Opcode

try:
    from websockets.speedups import apply_mask
except ImportError:  # websockets without its compiled part
    from websockets.utils import apply_mask

# Looked up once: an enum member costs a lookup in its class each time.
CONT, TEXT, BINARY, CLOSE, PING, PONG = Opcode.CONT, Opcode.TEXT, Opcode.BINARY, Opcode.CLOSE, Opcode.PING, Opcode.PONG

SIZE_LIMIT = 256 * 1024 * 1024
"""The largest frame and the largest message, in bytes."""


class TooBig(Exception):
    """A frame or message beyond SIZE_LIMIT."""


class Message(msgspec.Struct, frozen=True, gc=False):
    """A whole message. Text that is no UTF-8, and frames that RFC 6455 does not know, come as bytes."""

    payload: str | bytes


class Close(msgspec.Struct, frozen=True, gc=False):
    """A close frame; code 1005 when it held none."""

    code: int
    reason: str


Heard: TypeAlias = Message | Close


class Splitter:
    """Takes one direction's bytes as they arrive; gives back whole frames to pass on, and what they said."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._needed = 0  # how long the buffer must be for its first frame to be whole
        self._parts: list[bytes] | None = None  # of a fragmented message in progress
        self._parts_size = 0
        self._parts_text = False

    def feed(self, data: bytes) -> tuple[bytes, list[Heard]]:
        """The whole frames that are now there, as they were on the wire, and the messages and closes in them.

        Frames of an unfinished message are passed on as they come; the message is heard with its last frame.
        TooBig when a frame or message is longer than SIZE_LIMIT.
        """
        source: bytes | bytearray = data
        if self._buffer:
            self._buffer += data
            if len(self._buffer) < self._needed:
                return b"", []
            source = self._buffer
        size = len(source)
        heard: list[Heard] = []
        start = 0
        with memoryview(source) as view:
            while True:
                body, end = _extent(view, start, size)
                if end > size:
                    break
                self._frame(view, start, body, end, heard)
                start = end
            whole = data if start == size and source is data else bytes(view[:start])
        self._needed = end - start
        if source is data:
            self._buffer += data[start:]
        else:
            del self._buffer[:start]
        return whole, heard

    def _frame(self, view: memoryview, start: int, body: int, end: int, heard: list[Heard]) -> None:
        head = view[start]
        payload = bytes(view[body:end])
        if view[start + 1] & 0x80 and payload:
            payload = apply_mask(payload, bytes(view[body - 4 : body]))
        opcode = head & 0x0F
        if opcode in (PING, PONG):
            return
        if opcode == CLOSE:
            heard.append(_close(payload))
        elif head & 0x70 or opcode > BINARY or (opcode == CONT and self._parts is None):
            heard.append(Message(payload))
        elif opcode != CONT and head & 0x80:
            heard.append(_message(payload, opcode == TEXT))
        else:
            self._fragment(payload, opcode, last=bool(head & 0x80), heard=heard)

    def _fragment(self, payload: bytes, opcode: int, *, last: bool, heard: list[Heard]) -> None:
        if opcode != CONT or self._parts is None:
            self._parts, self._parts_size, self._parts_text = [], 0, opcode == TEXT
        self._parts.append(payload)
        self._parts_size += len(payload)
        if self._parts_size > SIZE_LIMIT:
            raise TooBig(f"a message of more than {SIZE_LIMIT} bytes")
        if last:
            heard.append(_message(b"".join(self._parts), self._parts_text))
            self._parts = None


def close_frame(code: int, reason: str, *, masked: bool) -> bytes:
    """A close frame of the proxy's own; `masked` towards a server. The reason is cut to the 123 bytes it may have."""
    text = reason.encode()[:123].decode(errors="ignore").encode()
    payload = struct.pack("!H", code) + text
    head = bytes((0x80 | CLOSE, len(payload) | (0x80 if masked else 0)))
    return head + (bytes(4) if masked else b"") + payload  # a mask of zeros: the text is the proxy's, not an attacker's


def _extent(view: memoryview, start: int, size: int) -> tuple[int, int]:
    """Where the frame at `start` has its payload and its end; an end beyond `size` when that is not known yet."""
    if size - start < 2:
        return start, start + 2
    second = view[start + 1]
    length = second & 0x7F
    body = start + 2
    if length >= 126:
        wide = 2 if length == 126 else 8
        if size - body < wide:
            return start, body + wide
        length = int.from_bytes(view[body : body + wide], "big")
        body += wide
        if length > SIZE_LIMIT:
            raise TooBig(f"a frame of {length} bytes; the limit is {SIZE_LIMIT}")
    if second & 0x80:
        body += 4
    return body, body + length


def _message(payload: bytes, text: bool) -> Message:
    if text:
        try:
            return Message(payload.decode())
        except UnicodeDecodeError:
            pass
    return Message(payload)


def _close(payload: bytes) -> Close:
    if len(payload) < 2:
        return Close(CloseCode.NO_STATUS_RCVD, "")
    return Close(int.from_bytes(payload[:2], "big"), payload[2:].decode(errors="replace"))
