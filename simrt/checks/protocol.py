"""What several rules of the protocol look up in a case. Pure."""

from simrt.checks.calls import Call
from simrt.checks.case import Case
from simrt.checks.events import Event
from simrt.checks.responses import Item, Response
from simrt.trace import parse_event


def is_whole(arguments: str) -> bool:
    """Whether a call's arguments are a JSON object, as they must be."""
    return parse_event(arguments) is not None


_TELLING = ("response.function_call_arguments.done", "response.output_item.done")


def is_open(call: Call) -> bool:
    """Whether a call had come whole, in the events that tell of calls, was not called off, and got no output."""
    return not call.outputs and not call.broken_off and any(event.kind in _TELLING for event in call.told)


def owed(case: Case, call: Call) -> bool:
    """Whether an output is owed to a call, on a connection that could take it."""
    if not is_open(call):
        return False
    closed_us = case.connections[call.connection].closed_us
    limit_us = round(case.limits.tool_ms * 1000)
    return closed_us is None or closed_us >= min(case.end_us, call.told[0].t_us + limit_us)


def out_of_band(create: Event | None) -> bool:
    """Whether a `response.create` asks for a response beside the conversation."""
    return create is not None and create.text("response", "conversation") == "none"


def last_us(case: Case, response: Response) -> int:
    """When the last event of a response came."""
    own = [
        event.t_us
        for event in case.connections[response.connection].events
        if event.sender == "server" and response.id in (event.text("response_id"), event.text("response", "id"))
    ]
    return max(own, default=response.first_us)


def item_of(case: Case, event: Event) -> Item | None:
    """The item of a response that an event of the client names."""
    wanted = event.text("item_id")
    items = (i for r in case.responses if r.connection == event.connection for i in r.items)
    return next((item for item in items if item.id == wanted), None)


def sent_by(item: Item, event: Event) -> int:
    """How much audio of an item had reached the client before that event of its own, in µs."""
    return sum(piece.audio_us for piece in item.pieces if piece.event.frame < event.frame)
