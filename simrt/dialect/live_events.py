"""The events that a Live server sends, as JSON objects in the shape of the OpenAI SDK's models (openai.types.live).

All times are milliseconds on the session timeline. `client_event_id` is the `event_id` of the command that an event
answers; it is left out when the client gave none. After `session.closed` the server closes the WebSocket without a code
(1005, observed); after a refusal with the code that the Problem names.
"""

from typing import Any, Literal

from simrt.dialect.base import Event
from simrt.dialect.live_commands import Problem

AppendKind = Literal["commentary", "thinking", "instructions"]
CloseReason = Literal["close_requested", "expired", "content", "remote_hangup", "connection_lost"]


def made(kind: str, event_id: str, client_event_id: Any = None, **fields: Any) -> Event:
    """Any server event."""
    event: Event = {"type": kind, "event_id": event_id, **fields}
    if isinstance(client_event_id, str):
        event["client_event_id"] = client_event_id
    return event


def error(event_id: str, problem: Problem, client_event_id: Any = None) -> Event:
    """An `error`: which command was refused stands in it and beside it."""
    named = client_event_id if isinstance(client_event_id, str) else None
    body = {"type": problem.type, "code": problem.code, "message": problem.message, "param": problem.param}
    return made("error", event_id, named, error={**body, "client_event_id": named})


def info(event_id: str, code: str, message: str, client_event_id: Any = None) -> Event:
    """An `info`: a notice that is no error."""
    return made("info", event_id, client_event_id, code=code, message=message)


def started(event_id: str, session: Event, client_event_id: Any = None) -> Event:
    """`session.started` with the resolved session."""
    return made("session.started", event_id, client_event_id, session=session)


def updated(event_id: str, session: Event, client_event_id: Any = None) -> Event:
    """`session.updated` with the resolved session."""
    return made("session.updated", event_id, client_event_id, session=session)


def muted(event_id: str, muted: bool, client_event_id: Any = None) -> Event:
    """The answer to `session.input_audio.mute` or `.unmute`."""
    return made(f"session.input_audio.{'muted' if muted else 'unmuted'}", event_id, client_event_id)


def appended(event_id: str, kind: AppendKind, start_ms: int, end_ms: int, client_event_id: Any = None) -> Event:
    """An append was placed on the timeline; it does not say what was appended, nor that anybody heard it."""
    return made(f"session.{kind}.appended", event_id, client_event_id, start_ms=start_ms, end_ms=end_ms)


def transcript(event_id: str, side: Literal["input", "output"], delta: str, start_ms: int, end_ms: int) -> Event:
    """A fragment of what the caller ("input") or the agent said."""
    return made(f"session.{side}_transcript.delta", event_id, delta=delta, start_ms=start_ms, end_ms=end_ms)


def delegation_created(event_id: str, delegation_id: str, offset_ms: int) -> Event:
    """The agent gives the client something to do. There is no text in it."""
    body = {"id": delegation_id, "type": "delegation", "target": "client"}
    return made("session.delegation.created", event_id, delegation=body, offset_ms=offset_ms)


def usage_updated(event_id: str, seconds: float, usage_ratio: float | None = None) -> Event:
    """Seconds of audio so far, about every 15 s of timeline; `usage_ratio` of the context window in use, 0 to 1."""
    window = {} if usage_ratio is None else {"context_window": {"usage_ratio": usage_ratio}}
    return made("session.usage.updated", event_id, usage={"seconds": seconds}, **window)


def closed(event_id: str, reason: CloseReason, session: Event, seconds: float, client_event_id: Any = None) -> Event:
    """`session.closed`: the last event; the session in it still says `active`."""
    fields = {"reason": reason, "session": session, "usage": {"seconds": seconds}}
    return made("session.closed", event_id, client_event_id, **fields)


def kugel_cancelled(event_id: str) -> Event:
    """`kugel.response.cancelled`: what is not played yet of the reply is to be dropped. For sessions with `kugel`."""
    return made("kugel.response.cancelled", event_id)


def kugel_committed(event_id: str, text: str, start_ms: int, end_ms: int) -> Event:
    """`kugel.input_transcript.committed`: the whole text of the caller's turn, before its delegation.

    That it exists and what it is for is documented; where we could read it, the names of its fields were not.
    """
    return made("kugel.input_transcript.committed", event_id, text=text, start_ms=start_ms, end_ms=end_ms)
