"""What a Live server refuses, and the session that it resolves: pure rules, without times and without audio.

    rules = Rules(score.profile)                 "openai" or "kugel"
    problem = rules.refuse(event)                None, or what an `error` event says (live_events.error)
    rules.start(event, session_id, expires_at)   after an accepted session.start: the resolved session
    rules.update(event)                          after an accepted session.update
    rules.delegated(delegation_id)               the server has opened a delegation: appends may name it
    rules.close()                                after an accepted session.close

`refuse` changes nothing. Audio in `session.input_audio.append` is checked for its type only: whoever decodes it tells
of broken base64 with `BAD_AUDIO`. A frame that is no JSON object is `NOT_JSON`.
"""

from typing import Any

import msgspec

from simrt.dialect.base import Event


class Problem(msgspec.Struct, frozen=True):
    """Why a command is refused. `param` is the path of the field, as in `session.audio.format`.

    `close_code`: the server ends the connection after the error, with that code; None: the session goes on.
    """

    code: str
    message: str
    param: str | None = None
    type: str = "invalid_request_error"
    close_code: int | None = None


BAD_AUDIO = Problem("invalid_value", "Invalid 'audio': it is not valid base64-encoded audio.", "audio")
NOT_JSON = Problem("invalid_json", "The message is not a JSON object in a text frame.")
RATE_LIMITED = Problem(
    "rate_limit_exceeded", "Too many sessions are open; wait and try again.", None, "rate_limit_error", 1013
)


def not_placed(kind: str) -> Problem:
    """An append that was still waiting for the timeline when the session closed: one such error each."""
    message = f"The session closed before this {kind} was placed on its timeline."
    return Problem("context_injection_incomplete", message, None, "server_error")


class Rules:
    """The rules for one connection, and what they have to remember."""

    def __init__(self, profile: str = "openai") -> None:
        self.profile = profile
        self.session: Event | None = None
        self.closing = False
        self.delegations: set[str] = set()

    @property
    def kugel(self) -> bool:
        """Whether the session has `"kugel": {…}`: its events, and speech faster than real time."""
        return self.session is not None and isinstance(self.session.get("kugel"), dict)

    @property
    def delegates(self) -> bool:
        """Whether the agent ever delegates to the client."""
        raise NotImplementedError

    def refuse(self, event: Event) -> Problem | None:
        """Why the server refuses this client event, or None."""
        raise NotImplementedError

    def start(self, event: Event, session_id: str, expires_at: int) -> Event:
        """The resolved session for `session.started`. `expires_at` is in seconds since 1970."""
        raise NotImplementedError

    def update(self, event: Event) -> Event:
        """The resolved session for `session.updated`."""
        raise NotImplementedError

    def delegated(self, delegation_id: str) -> None:
        """The server has opened a delegation."""
        self.delegations.add(delegation_id)

    def close(self) -> None:
        """`session.close` was accepted: nothing but what is under way comes after it."""
        self.closing = True


def expects_reply(event: dict[str, Any]) -> bool:
    """Whether a commentary is a question to the caller (`expects_reply`, Kugel only)."""
    return event.get("expects_reply") is True
