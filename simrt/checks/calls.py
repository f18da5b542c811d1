"""Function calls with their outputs, and the caller's turns as the server tells of them. Pure."""

from collections.abc import Sequence
from typing import Any

import msgspec

from simrt.checks.events import Connection, Event
from simrt.checks.responses import Response

_TRANSCRIPT = "conversation.item.input_audio_transcription.completed"


class Call(msgspec.Struct):
    """One function call of the model.

    `told`: the events that gave its arguments whole (`function_call_arguments.done`, `output_item.done`, …), in order;
    an event that came twice is there twice. `arguments` and `status` are the last that were said. `outputs`: what the
    client sent for it (`conversation.item.create`), on whatever connection.
    """

    call_id: str
    item_id: str
    name: str
    connection: int
    response: Response | None = None
    arguments: str = ""
    status: str = ""
    told: list[Event] = []
    outputs: list[Event] = []

    @property
    def ready_us(self) -> int | None:
        """When the client had it whole; None: it never had."""
        return self.told[0].t_us if self.told else None

    @property
    def cancelled(self) -> bool:
        """Whether its response was cancelled before it was whole."""
        return bool(self.response and self.response.status == "cancelled" and self.status != "completed")

    @property
    def broken_off(self) -> bool:
        """Whether it never became one: nobody owes it an output."""
        return self.cancelled or self.status in ("incomplete", "cancelled")


class Turn(msgspec.Struct):
    """A turn of the caller's, as the server tells of it. `text` None: no transcript came."""

    item_id: str
    connection: int
    started: Event | None = None
    stopped: Event | None = None
    committed: Event | None = None
    transcript: Event | None = None
    text: str | None = None

    @property
    def first_us(self) -> int:
        """When the client first heard of it."""
        events = (self.started, self.stopped, self.committed, self.transcript)
        return min((event.t_us for event in events if event is not None), default=0)

    @property
    def over_us(self) -> int | None:
        """When the client knew that it was over: stopped or committed, whichever came first; None: never."""
        ends = [event.t_us for event in (self.stopped, self.committed) if event is not None]
        return min(ends) if ends else None


def read_calls(connections: Sequence[Connection], responses: dict[tuple[int, str], Response]) -> list[Call]:
    """All function calls, in the order of their first event."""
    calls: dict[tuple[int, str], Call] = {}
    for connection in connections:
        for event in connection.events:
            if event.sender == "server" and event.kind.startswith(("response.", "conversation.item.")):
                _read_call(event, calls, responses)
    found = list(calls.values())
    for connection in connections:
        for event in connection.events:
            if event.sender == "client" and event.text("item", "type") == "function_call_output":
                call_id = event.text("item", "call_id")
                named = [call for call in found if call.call_id == call_id]
                here = [call for call in named if call.connection == event.connection]
                for call in (here or named)[:1]:
                    call.outputs.append(event)
    return found


def _read_call(event: Event, calls: dict[tuple[int, str], Call], responses: dict[tuple[int, str], Response]) -> None:
    """Take in what one event says of a call. Items that the client itself put into the history are none."""
    response = responses.get((event.connection, event.text("response_id") or event.text("response", "id")))
    if event.kind == "response.function_call_arguments.done":
        stated = {"id": event.at("item_id"), **{key: event.at(key) for key in ("call_id", "name", "arguments")}}
        _take(stated, event, calls, response)
    elif event.kind == "response.done" and event.at("response", "status") == "completed":
        for item in event.at("response", "output") or ():
            if isinstance(item, dict) and item.get("type") == "function_call":
                _take(item, event, calls, response)
    elif event.kind != "response.done":
        item = event.at("item")
        if isinstance(item, dict) and item.get("type") == "function_call":
            _take(item, event, calls, response)


def _take(item: dict[str, Any], event: Event, calls: dict[tuple[int, str], Call], response: Response | None) -> None:
    item_id, call_id, name, status, arguments = (
        str(item.get(key) or "") for key in ("id", "call_id", "name", "status", "arguments")
    )
    key = (event.connection, item_id or call_id)
    if key not in calls:
        if not event.kind.startswith("response."):
            return
        calls[key] = Call(call_id, item_id, name, event.connection, told=[], outputs=[])
    call = calls[key]
    call.call_id, call.name = call.call_id or call_id, call.name or name
    call.status = status or call.status
    call.response = call.response or response
    if event.kind.endswith(".done"):
        call.arguments = arguments or call.arguments
        if status != "incomplete":
            call.told.append(event)


def read_turns(connections: Sequence[Connection]) -> list[Turn]:
    """The caller's turns, in the order of their first event."""
    turns: dict[tuple[int, str], Turn] = {}
    for connection in connections:
        for event in connection.events:
            if event.sender != "server":
                continue
            kind, item_id = event.kind, event.text("item_id")
            key = (event.connection, item_id)
            if kind in (
                "input_audio_buffer.speech_started",
                "input_audio_buffer.speech_stopped",
                "input_audio_buffer.committed",
            ):
                turn = turns.setdefault(key, Turn(item_id, event.connection))
            elif kind == _TRANSCRIPT and key in turns:
                turn = turns[key]
            else:
                continue
            if kind.endswith("speech_started"):
                turn.started = turn.started or event
            elif kind.endswith("speech_stopped"):
                turn.stopped = turn.stopped or event
            elif kind.endswith("committed"):
                turn.committed = turn.committed or event
            else:
                turn.transcript, turn.text = event, event.text("transcript")
    return list(turns.values())
