"""The commands of a Live client, field by field (OpenAI SDK 3.57, `openai.types.live`), and how a wrong one is told.

Live is strict: a field that it does not know is refused by name. What belongs to Responses and Decisions (items,
questions, backend settings) is taken as it comes. The `Kugel…` types have what KugelAudio's fluid-1 knows besides.
"""

import re
from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta

from simrt.dialect.base import Event

EventId = Annotated[str, Meta(max_length=512)]


class Problem(msgspec.Struct, frozen=True):
    """Why a command is refused. `param` is the path of the field, as in `session.audio.format`.

    `close_code`: the server ends the connection after the error, with that code; None: the connection stays.
    """

    code: str
    message: str
    param: str | None = None
    type: str = "invalid_request_error"
    close_code: int | None = None


class _Strict(msgspec.Struct, forbid_unknown_fields=True, kw_only=True):
    pass


# --- parts of a session ------------------------------------------------------------------------------------------


class Pcm(_Strict, tag="audio/pcm"):
    rate: Literal[16000, 24000]


class Pcmu(_Strict, tag="audio/pcmu"):
    rate: Literal[8000]


class Pcma(_Strict, tag="audio/pcma"):
    rate: Literal[8000]


class CustomVoice(_Strict):
    id: str


class AudioOutput(_Strict):
    voice: str | CustomVoice | None = None


class Audio(_Strict):
    format: Pcm | Pcmu | Pcma | None = None
    output: AudioOutput | None = None


Milliseconds = Annotated[int, Meta(ge=0)]


class ByClient(_Strict, tag="client"):
    acknowledgement_delay_ms: Milliseconds | None = None


class ByResponses(_Strict, tag="responses"):
    responses: dict[str, Any]
    acknowledgement_delay_ms: Milliseconds | None = None


class ByDecisions(_Strict, tag="decisions"):
    decisions: dict[str, Any]
    acknowledgement_delay_ms: Milliseconds | None = None


class ByResponsesUpdate(_Strict, tag="responses"):
    responses: dict[str, Any] | None = None
    acknowledgement_delay_ms: Milliseconds | None = None


class ByDecisionsUpdate(_Strict, tag="decisions"):
    decisions: dict[str, Any] | None = None
    acknowledgement_delay_ms: Milliseconds | None = None


class InputText(_Strict):
    text: str
    type: Literal["input_text"] | None = None


class OutputText(_Strict):
    text: str
    type: Literal["text", "output_text"] | None = None


class _Message(_Strict, tag_field="role"):
    id: str | None = None
    status: Literal["incomplete", "completed"] | None = None
    type: Literal["message"] | None = None


class Developer(_Message, kw_only=True, tag="developer"):
    content: Annotated[list[InputText], Meta(min_length=1, max_length=1)]


class User(_Message, kw_only=True, tag="user"):
    content: Annotated[list[InputText], Meta(min_length=1, max_length=1)]


class Assistant(_Message, kw_only=True, tag="assistant"):
    content: Annotated[list[OutputText], Meta(min_length=1, max_length=1)]


class Session(_Strict):
    """What `session.start` sets up. It cannot be changed later, but for delegation and triggers."""

    model: str
    audio: Audio | None = None
    client: dict[str, Any] | None = None
    delegation: ByClient | ByResponses | ByDecisions | None = None
    input: Annotated[list[Developer | User | Assistant], Meta(max_length=128)] | None = None
    instructions: str | None = None
    safety_identifier: str | None = None
    store: bool | None = None
    triggers: list[dict[str, Any]] | None = None


class Kugel(_Strict):
    """`session.kugel`: even empty it brings the `kugel.*` events and speech faster than real time.

    `language` is a locale; `tools` says which work is delegated ([]: none). How the values of `overlap_control` look is
    not documented where we could read it, so any is taken.
    """

    language: str | None = None
    tools: Annotated[list[dict[str, Any] | str], Meta(max_length=64)] | None = None
    overlap_control: Any = None


class KugelSession(Session):
    kugel: Kugel | None = None


class SessionUpdate(_Strict):
    delegation: ByClient | ByResponsesUpdate | ByDecisionsUpdate | None = None
    triggers: list[dict[str, Any]] | None = None


# --- commands ----------------------------------------------------------------------------------------------------


class Command(_Strict):
    """What all commands have; the ones without fields of their own are just this."""

    type: str
    event_id: EventId | None = None


class Start(Command, kw_only=True):
    session: Session


class KugelStart(Start, kw_only=True):
    session: KugelSession


class Update(Command, kw_only=True):
    session: SessionUpdate


class WithAudio(Command, kw_only=True):
    audio: str


class Append(Command, kw_only=True):
    content: str
    delegation_id: str | None = None


class KugelCommentary(Append):
    expects_reply: bool | None = None


class DecisionCreate(Command, kw_only=True):
    event_id: EventId


class WithItem(Command, kw_only=True):
    item: dict[str, Any]


class DecisionItemDelete(Command, kw_only=True):
    item_id: str


COMMANDS: dict[str, type[Command]] = {
    "session.start": Start,
    "session.update": Update,
    "session.input_audio.append": WithAudio,
    "session.input_audio.mute": Command,
    "session.input_audio.unmute": Command,
    "session.output_audio.fixture.play": WithAudio,
    "session.instructions.append": Append,
    "session.thinking.append": Append,
    "session.commentary.append": Append,
    "decision.create": DecisionCreate,
    "decision.item.create": WithItem,
    "decision.item.delete": DecisionItemDelete,
    "response.item.create": WithItem,
    "response.create": Command,
    "session.close": Command,
}
KUGEL_COMMANDS = {**COMMANDS, "session.start": KugelStart, "session.commentary.append": KugelCommentary}


def read(event: Event, *, kugel: bool) -> Command | Problem:
    """The command that an event is, or what is wrong with it."""
    kind = event.get("type")
    if not isinstance(kind, str):
        if "type" not in event:
            return Problem("missing_required_parameter", "Missing required parameter: 'type'.", "type")
        return Problem("invalid_type", "Invalid type for 'type': expected a string.", "type")
    shape = (KUGEL_COMMANDS if kugel else COMMANDS).get(kind)
    if shape is None:
        return Problem("invalid_value", f"Invalid value: '{kind}' is no client event of the Live API.", "type")
    try:
        command: Command = msgspec.convert(event, shape)
        return command
    except msgspec.ValidationError as error:
        return _told(str(error))


_PLACE = re.compile(r"(?s)(.*?)(?: - at `\$(.*?)`)?$")
_UNKNOWN = re.compile(r"Object contains unknown field `(.*)`$", re.DOTALL)
_MISSING = re.compile(r"Object missing required field `(.*)`$")
_EXPECTED = re.compile(r"Expected `([^`]+)`, got `([^`]+)`$")
_LENGTH = re.compile(r"Expected `(\w+)` of length ([<>]=) (\d+)$")
_GIVEN = re.compile(r"Invalid (?:enum )?value (.*)$", re.DOTALL)
_WORDS = {"str": "string", "int": "integer", "bool": "boolean", "null": "null", "array": "array", "object": "object"}


def _told(text: str) -> Problem:
    """A validation error of msgspec in the API's words."""
    found = _PLACE.match(text)
    what, place = (found[1], (found[2] or "").lstrip(".")) if found else (text, "")

    def path(name: str) -> str:
        return f"{place}.{name}" if place else name

    if match := _UNKNOWN.match(what):
        param = path(match[1])
        return Problem("unknown_parameter", f"Unknown parameter: '{param}'.", param)
    if match := _MISSING.match(what):
        param = path(match[1])
        return Problem("missing_required_parameter", f"Missing required parameter: '{param}'.", param)
    if match := _EXPECTED.match(what):
        wanted = " or ".join(_WORDS.get(word.strip(), word.strip()) for word in match[1].split("|"))
        got = _WORDS.get(match[2], match[2])
        return Problem("invalid_type", f"Invalid type for '{place}': expected {wanted}, got {got}.", place or None)
    if match := _LENGTH.match(what):
        bound = "at most" if match[2] == "<=" else "at least"
        message = f"Invalid '{place}': its length must be {bound} {match[3]}."
        return Problem("invalid_value", message, place or None)
    given = _GIVEN.match(what)
    reason = f"{given[1]} is not one of those it can have" if given else what
    return Problem("invalid_value", f"Invalid value for '{place}': {reason}.", place or None)
