"""The server sends an `error` event that nobody asked for."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from simrt.faults.base import Action, Send
from simrt.faults.draw import Draw, Harm
from simrt.faults.trigger import Triggered
from simrt.replay.score import Score


class ErrorEvent(Triggered, frozen=True):
    """At its moment (`at`, `reply` and `at`, or `event`) an `error` event comes; the session stays open."""

    name: ClassVar[str] = "error"
    code: str = "server_error"
    message: str = "The server had an error while processing your request."
    type: str = "server_error"

    @classmethod
    def draw(cls, draw: Draw) -> ErrorEvent:
        """At any interesting moment."""
        return cls(**draw.trigger())

    def harm(self) -> Harm:
        """The session stays open, so the call goes on."""
        return "survivable"

    def actions(self, score: Score) -> Iterable[Action]:
        """One error event, which is about nothing that the client sent."""
        about = "client_event_id" if score.dialect == "live" else "event_id"
        error = {"type": self.type, "code": self.code, "message": self.message, "param": None, about: None}
        event = {"type": "error", "event_id": "event_fault_error", "error": error}
        return (Send(msgspec.json.encode(event).decode(), "error"),)
