"""The session has reached its longest duration.

OpenAI ends a session after 60 minutes (formerly 15 and 30), wherever the conversation stands: an `error`
`session_expired`, then close 1001. Reported: the call dies at 60 minutes (pipecat-ai/pipecat#3170).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from simrt.faults.base import Action, End, Send
from simrt.faults.draw import Draw, Harm
from simrt.faults.trigger import Ending
from simrt.replay.score import Score

_MESSAGE = "Your session hit the maximum duration of 60 minutes."


class Expire(Ending, frozen=True):
    """At its moment (`at`, `reply` and `at`, or `event`) the session expires."""

    name: ClassVar[str] = "expire"

    @classmethod
    def draw(cls, draw: Draw) -> Expire:
        """At any interesting moment."""
        return cls(**draw.trigger())

    def harm(self) -> Harm:
        """The connection is gone."""
        return "fatal"

    def check(self, score: Score) -> None:
        """As any trigger; a Live session ends otherwise."""
        if score.dialect == "live":
            raise self.never("a Live session says session.closed when it expires; use session-closed:reason=expired")
        super().check(score)

    def actions(self, score: Score) -> Iterable[Action]:
        """The error, and the close frame."""
        error = {"type": "invalid_request_error", "code": "session_expired", "message": _MESSAGE, "param": None}
        event = {"type": "error", "event_id": "event_fault_expire", "error": {**error, "event_id": None}}
        return (Send(msgspec.json.encode(event).decode(), "error"), End(1001, _MESSAGE))
