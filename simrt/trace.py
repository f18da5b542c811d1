"""Frames and traces: what crossed one WebSocket connection, and when. Data only, no I/O.

A recorded cassette is a `Trace` on disk, and a simulated call makes one, so whatever reads traces serves both.
Times are integer microseconds since the connection opened.
"""

import hashlib
from typing import Any, Literal

import msgspec

Sender = Literal["client", "server"]
Ender = Literal["client", "server", "network"]

_decode = msgspec.json.Decoder().decode


class Frame(msgspec.Struct, frozen=True, gc=False):
    """One WebSocket message.

    `payload` is the text (str) or the bytes (binary message) as it stood on the wire. `synthetic` marks an answer that
    the replay server made up because the cassette holds none.
    """

    t_us: int
    sender: Sender
    payload: str | bytes
    synthetic: bool = False

    def event(self) -> dict[str, Any] | None:
        """The payload as a JSON object, or None when it is binary, no JSON, or no object."""
        return parse_event(self.payload)


class Mark(msgspec.Struct, frozen=True):
    """Something that happened beside the frames: a fault that fired, the caller who spoke, a buffer that was
    cleared."""

    t_us: int
    kind: str
    detail: dict[str, Any] = {}


class Opening(msgspec.Struct, frozen=True):
    """How the connection was opened; never holds a secret (see simrt.cassette.redact)."""

    url: str = ""
    headers: list[tuple[str, str]] = []
    subprotocols: list[str] = []
    subprotocol: str | None = None
    status: int = 101
    response_headers: list[tuple[str, str]] = []
    response_body: str = ""


class Closing(msgspec.Struct, frozen=True):
    """How it ended. Code 1006 means that no close frame was seen (RFC 6455 §7.1.5)."""

    t_us: int
    code: int = 1006
    reason: str = ""
    by: Ender = "network"


class Trace(msgspec.Struct):
    """All frames of one connection in arrival order, with its opening, its end, and what happened beside it."""

    opening: Opening = Opening()
    frames: list[Frame] = []
    closing: Closing | None = None
    marks: list[Mark] = []

    def sent_by(self, sender: Sender) -> list[Frame]:
        """The frames of one side, in order."""
        return [frame for frame in self.frames if frame.sender == sender]

    def sha256(self) -> str:
        """Digest over every frame (time, sender, payload), mark and the end: equal digests mean identical calls."""
        digest = hashlib.sha256()
        for frame in self.frames:
            data = frame.payload.encode() if isinstance(frame.payload, str) else frame.payload
            kind = "t" if isinstance(frame.payload, str) else "b"
            digest.update(f"{frame.t_us} {frame.sender} {kind} {len(data)}\n".encode())
            digest.update(data)
        for mark in self.marks:
            digest.update(msgspec.json.encode(mark, order="sorted"))
        digest.update(msgspec.json.encode(self.closing, order="sorted"))
        return digest.hexdigest()


def parse_event(payload: str | bytes) -> dict[str, Any] | None:
    """A text payload as a JSON object; None for binary, broken or non-object payloads."""
    if not isinstance(payload, str):
        return None
    try:
        event = _decode(payload)
    except (msgspec.DecodeError, UnicodeEncodeError):
        return None
    return event if isinstance(event, dict) else None
