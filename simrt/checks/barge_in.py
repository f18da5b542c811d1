"""When the caller talked over the agent, as the client was told of it."""

import msgspec

from simrt.checks.calls import Turn
from simrt.checks.case import Case, once
from simrt.checks.events import Event
from simrt.checks.responses import Response


class Interruption(msgspec.Struct, frozen=True):
    """The caller began to talk (`event`), in the turn `turn`, after these responses had begun.

    `resumed_us`: from then on they may be heard again, since nothing was understood of the turn and no other reply
    came; None: not any more.
    """

    event: Event
    turn: Turn
    responses: list[Response]
    resumed_us: int | None


@once
def interruptions(case: Case) -> list[Interruption]:
    """The barge-ins of a call: each `speech_started` after which a reply should fall silent."""
    found = []
    for turn in case.turns:
        event = turn.started
        if event is None or not interrupts(case, event):
            continue
        begun = [
            response
            for response in case.responses
            if response.connection == turn.connection and response.first_us < event.t_us and response.audio_us
        ]
        if begun:
            found.append(Interruption(event, turn, begun, _resumed_us(turn)))
    return found


def interrupts(case: Case, event: Event) -> bool:
    """Whether the session's settings at that moment say that the caller's speech ends a response."""
    detection = case.detection(event.connection, event.t_us)
    return detection is not None and detection.get("interrupt_response") is not False


def _resumed_us(turn: Turn) -> int | None:
    return turn.over_us if turn.text is not None and not turn.text.strip() else None
