"""Responses, their items and audio, and which `response.create` each of them answers. Pure.

A response is told by its id, on one connection. It is read off whatever is there: a lost `response.created` or
`response.done` leaves a gap, no error.
"""

import binascii
from typing import Any

import msgspec

from simrt.audio import AudioFormat
from simrt.checks.events import Connection, Event
from simrt.dialect.base import Formats
from simrt.dialect.realtime import Realtime

ALREADY_ACTIVE = "conversation_already_has_active_response"


class Piece(msgspec.Struct, frozen=True, gc=False):
    """One delta of audio: `audio_us` of it, from `from_us` of its item on, which came with `event` in `format`.

    `again`: an event of the same id came before, so it need not be played.
    """

    event: Event
    from_us: int
    audio_us: int
    format: AudioFormat
    again: bool = False

    @property
    def t_us(self) -> int:
        """When it reached the client."""
        return self.event.t_us

    def audio(self) -> bytes:
        """The bytes on the wire."""
        return _decoded(self.event.text("delta"))


class Item(msgspec.Struct):
    """An item of a response. `type`: "message", "function_call", …; `status` is the last that was said of it.

    `audio_us` was sent of it in all, in `pieces`; `text` is what its audio says.
    """

    id: str
    response_id: str
    connection: int
    type: str = ""
    status: str = ""
    index: int | None = None
    added: Event | None = None
    done: Event | None = None
    audio_done: Event | None = None
    pieces: list[Piece] = []
    audio_us: int = 0
    text: str = ""


class Response(msgspec.Struct):
    """One response.

    `status` and `reason` are those of `response.done`, "" while there is none (a reason is `turn_detected`,
    `client_cancelled`, `max_output_tokens`, an error's code …). `asked`: the client's `response.create` that it
    answers; None: the server began it by itself. `first_us`: when the first that is known of it came.
    """

    id: str
    connection: int
    first_us: int
    created: Event | None = None
    done: Event | None = None
    status: str = ""
    reason: str = ""
    asked: Event | None = None
    items: list[Item] = []

    @property
    def audio_us(self) -> int:
        """How much audio of it was sent."""
        return sum(item.audio_us for item in self.items)

    @property
    def pieces(self) -> list[Piece]:
        """Its audio as it came, whatever item it is of."""
        pieces = [piece for item in self.items for piece in item.pieces]
        return sorted(pieces, key=lambda piece: piece.event.frame)

    @property
    def done_us(self) -> int | None:
        """When it was over; None: that was never said."""
        return None if self.done is None else self.done.t_us

    def active(self, t_us: int) -> bool:
        """Whether, as the client knew it at that moment, it was under way."""
        return self.first_us <= t_us and (self.done is None or t_us < self.done.t_us)


class Ask(msgspec.Struct):
    """A `response.create` of the client: `refused` by an error, or answered by `response`, or neither."""

    event: Event
    refused: Event | None = None
    response: Response | None = None


class Error(msgspec.Struct, frozen=True):
    """An `error` event, and the client's event that it refuses, where that is known."""

    event: Event
    code: str
    message: str
    refuses: Event | None = None


_LOST_US = 3_000_000


class Reader:
    """One pass over the events of one connection."""

    def __init__(self, connection: Connection) -> None:
        self.responses: dict[str, Response] = {}
        self.asks: list[Ask] = []
        self.errors: list[Error] = []
        self.sessions: list[Event] = []
        self._items: dict[tuple[str, str], Item] = {}
        self._seen: set[str] = set()
        self._formats = Formats()
        self._dialect = Realtime()
        sent = {e.event_id: e for e in connection.events if e.sender == "client" and e.event_id}
        for event in connection.events:
            if event.sender == "server" and event.kind == "error":
                self.errors.append(_error(event, sent, connection))
        refused = {id(error.refuses): error for error in self.errors if error.refuses is not None}
        for event in connection.events:
            if event.sender == "client":
                if event.kind == "response.create":
                    error = refused.get(id(event))
                    self.asks.append(Ask(event, None if error is None else error.event))
            elif event.kind in ("session.created", "session.updated"):
                self.sessions.append(event)
                self._dialect.update_formats(self._formats, "server", event.data)
            elif event.kind.startswith("response."):
                self._response(event)

    def _response(self, event: Event) -> None:
        response_id = event.text("response_id") or event.text("response", "id")
        if not response_id:
            return
        made = self.responses.get(response_id)
        if made is None:
            made = Response(response_id, event.connection, event.t_us, items=[])
            made.asked = self._asked(made, event)
            self.responses[response_id] = made
        if event.kind == "response.created":
            made.created = made.created or event
        elif event.kind == "response.done":
            self._done(made, event)
        else:
            self._inside(made, event)

    def _asked(self, response: Response, event: Event) -> Event | None:
        """The oldest `response.create` that is neither refused nor answered; the one with the same metadata first.

        One that was asked again after some seconds got lost: a server does not take so long to begin.
        """
        open_asks = [ask for ask in self.asks if ask.refused is None and ask.response is None]
        last_us = max((ask.event.t_us for ask in open_asks), default=0)
        open_asks = [ask for ask in open_asks if last_us - ask.event.t_us < _LOST_US]
        metadata = event.at("response", "metadata")
        named = [ask for ask in open_asks if metadata and ask.event.at("response", "metadata") == metadata]
        for ask in named or open_asks:
            ask.response = response
            return ask.event
        return None

    def _done(self, made: Response, event: Event) -> None:
        if made.done is not None:
            return
        made.done = event
        made.status = event.text("response", "status") or "completed"
        details = event.at("response", "status_details")
        if isinstance(details, dict):
            error = details.get("error")
            code = error.get("code") or error.get("type") if isinstance(error, dict) else None
            made.reason = str(details.get("reason") or code or "")
        for number, output in enumerate(event.at("response", "output") or ()):
            if isinstance(output, dict) and output.get("id"):
                item = self._item(made, str(output["id"]), number)
                item.type = str(output.get("type") or item.type)
                item.status = str(output.get("status") or item.status)

    def _inside(self, made: Response, event: Event) -> None:
        stated = event.at("item")
        item_id = event.text("item_id") or (str(stated.get("id") or "") if isinstance(stated, dict) else "")
        if not item_id:
            return
        item = self._item(made, item_id, event.at("output_index"))
        if isinstance(stated, dict):
            item.type = str(stated.get("type") or item.type)
            item.status = str(stated.get("status") or item.status)
        if event.kind == "response.output_item.added":
            item.added = item.added or event
        elif event.kind == "response.output_item.done":
            item.done = item.done or event
        elif event.kind == "response.output_audio.delta":
            self._audio(item, event)
        elif event.kind == "response.output_audio.done":
            item.audio_done = item.audio_done or event
        elif event.kind == "response.output_audio_transcript.delta":
            item.text += event.text("delta")
        elif event.kind == "response.output_audio_transcript.done":
            item.text = event.text("transcript") or item.text
        elif event.kind.startswith("response.function_call_arguments"):
            item.type = item.type or "function_call"

    def _audio(self, item: Item, event: Event) -> None:
        item.type = item.type or "message"
        again = bool(event.event_id) and event.event_id in self._seen
        self._seen.add(event.event_id)
        audio_us = self._formats.output.duration_us(_size(event.text("delta")))
        item.pieces.append(Piece(event, item.audio_us, audio_us, self._formats.output, again))
        item.audio_us += audio_us

    def _item(self, response: Response, item_id: str, index: Any) -> Item:
        item = self._items.get((response.id, item_id))
        if item is None:
            item = Item(item_id, response.id, response.connection, pieces=[])
            self._items[response.id, item_id] = item
            response.items.append(item)
        if item.index is None and isinstance(index, int):
            item.index = index
        return item


_REFUSALS = {
    ALREADY_ACTIVE: "response.create",
    "response_cancel_not_active": "response.cancel",
    "input_audio_buffer_commit_empty": "input_audio_buffer.commit",
    "item_truncate_invalid_item_id": "conversation.item.truncate",
    "item_delete_invalid_item_id": "conversation.item.delete",
    "item_retrieve_invalid_item_id": "conversation.item.retrieve",
    "item_create_duplicate_item_id": "conversation.item.create",
    "unsupported_content_type": "conversation.item.truncate",
    "unsupported_parameter": "session.update",
}


def _error(event: Event, sent: dict[str, Event], connection: Connection) -> Error:
    """What an error refuses: the event that it names; without a name, the last of the type that its code speaks of."""
    code, named = event.text("error", "code"), event.text("error", "event_id")
    message, param = event.text("error", "message"), event.text("error", "param")
    refuses = sent.get(named) if named else None
    kind = _REFUSALS.get(code)
    if kind is None and param.partition(".")[0] == "session":
        kind = "session.update"
    elif kind is None and message.startswith("Audio content of"):
        kind = "conversation.item.truncate"
    if refuses is None and kind is not None:
        before = [e for e in connection.events if e.sender == "client" and e.kind == kind and e.frame < event.frame]
        refuses = before[-1] if before else None
    return Error(event, code, message, refuses)


def _size(text: str) -> int:
    """How many bytes a base64 text holds, without decoding it."""
    return len(text) // 4 * 3 - (text[-2:].count("=") if text else 0)


def _decoded(text: str) -> bytes:
    try:
        return binascii.a2b_base64(text)
    except ValueError:
        return b""
