"""Frames as events on the call's own clock, under their GA names. Pure."""

import re
from typing import Any

import msgspec

from simrt.dialect.realtime import ga_type
from simrt.trace import Frame, Sender, Trace

APPEND = "input_audio_buffer.append"
LIVE_APPEND = "session.input_audio.append"

_OLD_NAMES = {"conversation.item.created": "conversation.item.added"}
_IS_APPEND = re.compile(r'"type"\s*:\s*"(?:input_audio_buffer\.append|session\.input_audio\.append)"')
_HEAD = 160


class Event(msgspec.Struct, frozen=True, gc=False):
    """One JSON message. `t_us`: µs from pickup (in a recording, since the connection opened). `kind` is its type by its
    GA name (`conversation.item.created` is `conversation.item.added`), "" when it has none. `connection` and `frame`
    are its place: `case.traces[connection].frames[frame]`."""

    t_us: int
    sender: Sender
    kind: str
    data: dict[str, Any]
    connection: int
    frame: int
    synthetic: bool = False

    def at(self, *path: str) -> Any:
        """What stands at a path of keys; None where there is nothing."""
        value: Any = self.data
        for key in path:
            value = value.get(key) if isinstance(value, dict) else None
        return value

    def text(self, *path: str) -> str:
        """The string at a path of keys; "" where there is none."""
        value = self.data.get(path[0]) if len(path) == 1 else self.at(*path)
        return value if isinstance(value, str) else ""

    def number(self, *path: str) -> float | None:
        """The number at a path of keys; None where there is none."""
        value = self.at(*path)
        return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None

    @property
    def event_id(self) -> str:
        """Its own id, "" without one."""
        return self.text("event_id")


class AppendFrame(msgspec.Struct, frozen=True, gc=False):
    """A frame of the caller's audio, not yet parsed; `chars` is how long its text is."""

    t_us: int
    connection: int
    frame: int
    chars: int


class Connection(msgspec.Struct):
    """One connection: its events but for the caller's audio, which is in `appends`. Times as in Event.

    `closed_us` None: its end is not known. `odd`: frames that are no JSON object, by number.
    """

    number: int
    trace: Trace
    opened_us: int
    events: list[Event] = []
    appends: list[AppendFrame] = []
    odd: list[int] = []

    @property
    def closed_us(self) -> int | None:
        """When it closed."""
        closing = self.trace.closing
        return None if closing is None else self.opened_us + closing.t_us

    @property
    def closed_by(self) -> str | None:
        """Who closed it: "client", "server" or "network"; None: not known."""
        closing = self.trace.closing
        return None if closing is None else closing.by


def read_connection(trace: Trace, number: int, opened_us: int) -> Connection:
    """The events of one trace."""
    made = Connection(number, trace, opened_us, [], [], [])
    for index, frame in enumerate(trace.frames):
        t_us = opened_us + frame.t_us
        if frame.sender == "client" and is_append(frame):
            made.appends.append(AppendFrame(t_us, number, index, len(frame.payload)))
            continue
        data = frame.event()
        if data is None:
            made.odd.append(index)
            continue
        kind = data.get("type")
        kind = ga_type(kind) if isinstance(kind, str) else ""
        if kind in (APPEND, LIVE_APPEND) and frame.sender == "client":
            made.appends.append(AppendFrame(t_us, number, index, len(frame.payload)))
            continue
        kind = _OLD_NAMES.get(kind, kind)
        made.events.append(Event(t_us, frame.sender, kind, data, number, index, frame.synthetic))
    return made


def is_append(frame: Frame) -> bool:
    """Whether a frame's beginning says that it is caller audio (it may be so all the same if that is said later)."""
    payload = frame.payload
    return isinstance(payload, str) and _IS_APPEND.search(payload, 0, _HEAD) is not None


def session_settings(session: Any) -> dict[str, Any]:
    """What a session object says of the turns: `turn_detection`, GA or beta shape, {} when it says nothing.

    {"turn_detection": None} means that the client ends the turns itself.
    """
    if not isinstance(session, dict):
        return {}
    audio = session.get("audio")
    half = audio.get("input") if isinstance(audio, dict) else None
    for holder in (half, session):
        if isinstance(holder, dict) and "turn_detection" in holder:
            return {"turn_detection": holder["turn_detection"]}
    return {}
