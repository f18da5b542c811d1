"""What a Live server refuses, and the session that it resolves: pure rules, without times and without audio.

    rules = Rules(score.profile)                 "kugel", or any other: as OpenAI
    problem = rules.refuse(event)                None, or what an `error` says (live_events.error)
    rules.start(event, session_id, expires_at)   after an accepted session.start: the resolved session
    rules.notices(event)                         (code, message) of the `info` events that follow session.started
    rules.update(event)                          after an accepted session.update: the resolved session
    rules.delegated(delegation_id)               the server has opened a delegation: appends may name it
    rules.close()                                after an accepted session.close

Audio in `session.input_audio.append` is checked for its type only: whoever decodes it tells of broken base64 with
`BAD_AUDIO`. A frame that is no JSON object is `NOT_JSON`.

Sources: OpenAI's SDK 3.57 and Live guides, KugelAudio's speech-to-speech reference, published logs. What an error
says in words is ours; where no code is documented it is the one that OpenAI's Realtime API has for the same mistake.
"""

from typing import Any

from simrt.dialect.base import Event
from simrt.dialect.live import INPUT_AUDIO
from simrt.dialect.live_commands import Append, Command, Problem, Session, Start, Update, read
from simrt.dialect.tokens import exceeds

__all__ = ["BAD_AUDIO", "NOT_JSON", "RATE_LIMITED", "Problem", "Rules", "expects_reply", "not_placed"]

CONTENT_TOKENS = 500
INSTRUCTION_TOKENS = 16_384
INPUT_TOKENS = 8_192

BAD_AUDIO = Problem("invalid_value", "Invalid 'audio': it is not base64-encoded audio of whole samples.", "audio")
NOT_JSON = Problem("invalid_json", "Every message must be a text frame that holds one JSON object.")
RATE_LIMITED = Problem(
    "rate_limit_exceeded", "Too many sessions; wait and open a new one.", None, "rate_limit_error", 1013
)
"""A refused session: this error, then the close code."""

OPENAI_VOICES = {
    *("alloy", "ash", "ballad", "beacon", "bossa", "brise", "cedar", "cinder", "coral", "delta", "echo", "flitz"),
    *("gleam", "harema", "juni", "marin", "meridian", "nira", "noeul", "nuri", "quartz", "ripple", "sage", "shida"),
    *("shimmer", "sillage", "stone", "tempo", "verse", "vesper", "willow"),
}
_MODELS = {"openai": ("gpt-live-",), "kugel": ("fluid-", "gpt-live-")}
_VOICES = {"openai": "marin", "kugel": "1071"}  # the number of KugelAudio's default voice for calls is not documented
_OWN = {
    "response.item.create": "responses",
    "response.create": "responses",
    "decision.create": "decisions",
    "decision.item.create": "decisions",
    "decision.item.delete": "decisions",
}


def not_placed(kind: str) -> Problem:
    """A commentary, thinking or instructions that still waited for the timeline at the close: one such error each."""
    message = f"The session closed before the {kind} had its place on the timeline."
    return Problem("context_injection_incomplete", message)


def expects_reply(event: Event) -> bool:
    """Whether a commentary asks the caller something (`expects_reply`, fluid-1 only)."""
    return event.get("expects_reply") is True


class Rules:
    """The rules for one connection, and what they have to remember.

    `session` is the resolved session, None before `session.started`.
    """

    def __init__(self, profile: str = "openai") -> None:
        self.profile = "kugel" if profile == "kugel" else "openai"
        self.session: Event | None = None
        self.closing = False
        self.delegations: set[str] = set()
        self._evaluations: set[str] = set()

    @property
    def kugel(self) -> bool:
        """Whether the session has `"kugel": {…}`: `kugel.*` events, and speech faster than real time."""
        return self.session is not None and isinstance(self.session.get("kugel"), dict)

    @property
    def delegates(self) -> bool:
        """Whether the agent can delegate to the client: who delegates is the client, and `kugel.tools` is not []."""
        tools = (self.session or {}).get("kugel", {}).get("tools")
        return self._delegation() == "client" and tools != []

    # --- refusing ------------------------------------------------------------------------------------------------

    def refuse(self, event: Event) -> Problem | None:
        """Why the server refuses this client event, or None.

        It changes nothing, but for the ids of `decision.create`, each of which is good once.
        """
        if self.session is None and event.get("type") != "session.start":
            message = f"The first event must be session.start, and it was {event.get('type')!r}; nothing is started."
            return Problem("session_not_started", message, "type")
        command = read(event, kugel=self.profile == "kugel")
        if isinstance(command, Problem):
            return command
        if isinstance(command, Start):
            return self._refuse_start(command.session)
        if self.closing and command.type != INPUT_AUDIO:
            return Problem("session_closing", f"The session is closing; {command.type} comes too late.", "type")
        if isinstance(command, Update):
            return self._refuse_update(event)
        if isinstance(command, Append):
            return self._refuse_append(command)
        return self._refuse_backend(command) if command.type in _OWN else None

    def _refuse_start(self, session: Session) -> Problem | None:
        if self.session is not None:
            return Problem("session_already_started", "The session has been started; its model and voice stay.", "type")
        if not session.model.startswith(_MODELS[self.profile]):
            message = f"The model '{session.model}' does not exist or cannot be used for Live sessions."
            return Problem("model_not_found", message, "session.model")
        if self.profile == "kugel" and session.audio and session.audio.output:
            voice = session.audio.output.voice
            if isinstance(voice, str) and not voice.isdecimal() and voice not in OPENAI_VOICES:
                message = f"Invalid value for 'session.audio.output.voice': there is no voice '{voice}'."
                return Problem("invalid_value", message, "session.audio.output.voice")
        problem = _too_long([session.instructions or ""], INSTRUCTION_TOKENS, "session.instructions")
        texts = [part.text for message in session.input or () for part in message.content]
        return problem or _too_long(texts, INPUT_TOKENS, "session.input")

    def _refuse_update(self, event: Event) -> Problem | None:
        wanted, current = event["session"].get("delegation"), self._delegation()
        if wanted is not None and wanted["type"] != current:
            message = f"The session delegates to '{current}', which cannot be changed while it runs."
            return Problem("invalid_value", message, "session.delegation.type")
        return None

    def _refuse_append(self, command: Append) -> Problem | None:
        if command.delegation_id is not None and command.delegation_id not in self.delegations:
            message = f"Invalid 'delegation_id': this session has no delegation '{command.delegation_id}'."
            return Problem("invalid_value", message, "delegation_id")
        return _too_long([command.content], CONTENT_TOKENS, "content")

    def _refuse_backend(self, command: Command) -> Problem | None:
        """Commands for Responses and for Decisions need a session that has them."""
        owner = _OWN[command.type]
        triggers = owner == "decisions" and (self.session or {}).get("triggers")
        if self._delegation() != owner and not triggers:
            message = f"{command.type} needs delegation of type '{owner}'; this session's is '{self._delegation()}'."
            return Problem("invalid_request", message, "type")
        if command.type == "decision.create":
            used = str(command.event_id)
            if used in self._evaluations:
                return Problem("invalid_value", f"Invalid 'event_id': '{used}' has been used before.", "event_id")
            self._evaluations.add(used)
        return None

    # --- the resolved session ------------------------------------------------------------------------------------

    def start(self, event: Event, session_id: str, expires_at: int) -> Event:
        """The resolved session for `session.started`. `expires_at` is in seconds since 1970."""
        asked = {key: value for key, value in event["session"].items() if value is not None}
        audio = asked.pop("audio", {})
        voice = _voice(event)
        if voice is None or self._is_alias(voice):
            voice = _VOICES[self.profile]
        format = audio.get("format") or {"type": "audio/pcm", "rate": 24000}
        self.session = {
            "id": session_id,
            "expires_at": expires_at,
            "model": asked.pop("model"),
            "audio": {"output": {"voice": voice}, "format": format},
            "delegation": {"type": "client"},
            "input": [],
            **asked,
            "status": "active",
        }
        return self.session

    def notices(self, event: Event) -> list[tuple[str, str]]:
        """(code, message) of the `info` events that an accepted `session.start` brings."""
        voice = _voice(event)
        if not self._is_alias(voice):
            return []
        return [("kugel_voice_alias", f"'{voice}' is an OpenAI voice; the default voice {_VOICES['kugel']} is used.")]

    def update(self, event: Event) -> Event:
        """The resolved session for `session.updated`: what the update leaves out stays, triggers are replaced."""
        assert self.session is not None, "session.update before session.start"
        session = dict(self.session)
        asked = event["session"]
        if asked.get("delegation") is not None:
            current = dict(session["delegation"])
            for key, value in asked["delegation"].items():
                if value is not None:
                    current[key] = {**current.get(key, {}), **value} if isinstance(value, dict) else value
            session["delegation"] = current
        if asked.get("triggers") is not None:
            session["triggers"] = asked["triggers"]
        self.session = session
        return session

    def delegated(self, delegation_id: str) -> None:
        """The server has opened a delegation."""
        self.delegations.add(delegation_id)

    def close(self) -> None:
        """`session.close` was accepted: from now on only audio is let pass (and heard by nobody)."""
        self.closing = True

    def _delegation(self) -> str:
        return str(((self.session or {}).get("delegation") or {}).get("type", "client"))

    def _is_alias(self, voice: Any) -> bool:
        return self.profile == "kugel" and voice in OPENAI_VOICES


def _voice(event: Event) -> Any:
    return ((event["session"].get("audio") or {}).get("output") or {}).get("voice")


def _too_long(texts: list[str], limit: int, param: str) -> Problem | None:
    count = exceeds(texts, limit)
    if count is None:
        return None
    return Problem("invalid_value", f"Invalid '{param}': it has {count} tokens, and may have {limit}.", param)
