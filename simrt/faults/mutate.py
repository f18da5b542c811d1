"""A field of an event is not what the client expects: another value, missing, or one that it does not know.

Servers change within an API's version and differ between providers: metadata that is not echoed, arguments without the
call's name, an empty transcript, a field that nobody has heard of. Strict clients die of it, lenient ones go wrong.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from typing import Any, ClassVar

import msgspec

from simrt.errors import PlanError
from simrt.faults.base import Action, Armed, Context, Fault, Send
from simrt.faults.draw import Draw, Harm
from simrt.faults.trigger import ArmedEvent
from simrt.replay.score import Score
from simrt.trace import parse_event

_LIKELY: tuple[tuple[str, str, str | None], ...] = (
    ("response.done", "response.usage", "null"),
    ("response.done", "response.news", "[]"),
    ("response.created", "response.metadata", None),
    ("response.function_call_arguments.done", "name", None),
    ("response.output_audio.delta", "content_index", None),
    ("conversation.item.input_audio_transcription.completed", "transcript", ""),
    ("response.done", "response.output", "[]"),
    ("response.done", "response.status", None),
    ("response.function_call_arguments.done", "response_id", None),
    ("session.started", "session.expires_at", None),
    ("session.usage.updated", "usage.news", "[]"),
    ("session.commentary.appended", "start_ms", None),
    ("session.delegation.created", "offset_ms", None),
    ("kugel.input_transcript.committed", "text", ""),
    ("session.output_transcript.delta", "end_ms", None),
)


class Mutate(Fault, frozen=True):
    """`field` of the `nth` server event of type `event` is `value` on the wire, or is not there without a value.

    `field` is a path (`response.output.0.status`); `value` is JSON, anything else is a text. What the server itself
    believes stays as it was.
    """

    name: ClassVar[str] = "mutate"
    event: str = "response.done"
    nth: int = -1
    field: str = "response.status"
    value: str | None = None

    @classmethod
    def draw(cls, draw: Draw) -> Mutate:
        """What has been seen, or may be."""
        kinds = {frame.kind for frame in draw.score.own_frames}
        event, field, value = draw.pick([one for one in _LIKELY if one[0] in kinds])
        _, nth = draw.event(event)
        return cls(event, nth, field, value)

    def harm(self) -> Harm:
        """A server that says something else than its documentation."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The event must be there, and the field, or its holder at least if it gets a value."""
        event = self.find_event(score, self.event, self.nth).event
        try:
            changed(event or {}, self.field, self.value)
        except (KeyError, IndexError, TypeError, ValueError):
            raise self.never(f"{self.event} has no {self.field!r}") from None
        if self.field == "type":
            raise PlanError(f"fault {self}: an event of another type is another event; use drop and error")

    def arm(self, context: Context, number: int) -> Armed:
        """Changes that frame."""
        return _Armed(self, context, number, self.find_event(context.cassette, self.event, self.nth).index)


class _Armed(ArmedEvent):
    fault: Mutate

    def act(self, send: Send, now_us: int) -> Iterable[Action]:
        try:
            event = changed(parse_event(send.payload) or {}, self.fault.field, self.fault.value)
        except (KeyError, IndexError, TypeError, ValueError):
            return (send,)  # in this call the event has no such field
        self.fire(now_us)
        return (msgspec.structs.replace(send, payload=msgspec.json.encode(event).decode()),)


def changed(event: dict[str, Any], field: str, value: str | None) -> dict[str, Any]:
    """The event with that field set, or taken out. KeyError and its like: there is no such place."""
    made = copy.deepcopy(event)
    *path, last = field.split(".")
    holder: Any = made
    for key in path:
        holder = holder[int(key)] if isinstance(holder, list) else holder[key]
    key_or_index: Any = int(last) if isinstance(holder, list) else last
    if value is None:
        del holder[key_or_index]
        return made
    try:
        holder[key_or_index] = msgspec.json.decode(value)
    except msgspec.DecodeError:
        holder[key_or_index] = value
    return made
