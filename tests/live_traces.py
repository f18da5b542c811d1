"""Small Live traces for tests of what reads them."""

import base64
import json
from typing import Any

from simrt.trace import Frame, Opening, Sender, Trace

OPENING = Opening(url="wss://host/v1/live/sessions")
LOUD = b"\x00\x10" * 2400
SILENT = bytes(4800)
"""100 ms of 24 kHz PCM16 each."""

Sent = tuple[int, Sender, dict[str, Any]]


def heard(ms: int, data: bytes = SILENT) -> Sent:
    """A delta of the agent's track at `ms`."""
    return ms, "server", {"type": "session.output_audio.delta", "delta": base64.b64encode(data).decode()}


def spoken(ms: int, data: bytes = SILENT) -> Sent:
    """An append of the caller's audio."""
    return ms, "client", {"type": "session.input_audio.append", "audio": base64.b64encode(data).decode()}


def said(ms: int, text: str, start_ms: int, end_ms: int, side: str = "output") -> Sent:
    """A transcript delta."""
    event = {"type": f"session.{side}_transcript.delta", "delta": text, "start_ms": start_ms, "end_ms": end_ms}
    return ms, "server", {**event, "event_id": f"event_{ms}"}


def created(ms: int, name: str, offset_ms: int) -> Sent:
    """A delegation."""
    body = {"id": name, "type": "delegation", "target": "client"}
    return ms, "server", {"type": "session.delegation.created", "delegation": body, "offset_ms": offset_ms}


def append(ms: int, kind: str, content: str, name: str | None = None, **more: Any) -> Sent:
    """What the client tells the agent."""
    event = {"type": f"session.{kind}.append", "content": content, "delegation_id": name, **more}
    return ms, "client", event


def acked(ms: int, kind: str, start_ms: int, **more: Any) -> Sent:
    """The acknowledgement of an append."""
    return ms, "server", {"type": f"session.{kind}.appended", "start_ms": start_ms, "end_ms": start_ms + 200, **more}


def failed(ms: int, code: str, **more: Any) -> Sent:
    """An error."""
    return ms, "server", {"type": "error", "error": {"type": "invalid_request_error", "code": code, **more}}


def trace(*sent: Sent) -> Trace:
    """A trace of these, at their times in ms."""
    return Trace(OPENING, [Frame(ms * 1000, sender, json.dumps(event)) for ms, sender, event in sent])
