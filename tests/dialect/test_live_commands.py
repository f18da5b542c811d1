"""Every command of Live, what belongs in it, and how a wrong one is told."""

from types import UnionType
from typing import Any, Union, get_args, get_origin

import msgspec
import pytest

from simrt.dialect import Event
from simrt.dialect.live_commands import COMMANDS, KUGEL_COMMANDS, Command, Problem, read

TEXT = {"type": "input_text", "text": "hi"}
START: Event = {"type": "session.start", "session": {"model": "gpt-live-1"}}


def start(**session: Any) -> Event:
    return {"type": "session.start", "session": {"model": "gpt-live-1", **session}}


@pytest.mark.parametrize(
    "event",
    [
        START,
        start(audio={"format": {"type": "audio/pcm", "rate": 16000}, "output": {"voice": "cedar"}}),
        start(audio={"format": {"type": "audio/pcmu", "rate": 8000}}),
        start(audio={"output": {"voice": {"id": "voice_1"}}}),
        start(audio=None, client=None, delegation=None, input=None, instructions=None, store=None, triggers=None),
        start(delegation={"type": "client", "acknowledgement_delay_ms": 0}),
        start(delegation={"type": "responses", "responses": {"model": "m", "tools": [{"type": "web_search"}]}}),
        start(delegation={"type": "decisions", "decisions": {"questions": []}}, triggers=[{"decisions": {}}]),
        start(input=[{"role": "developer", "content": [TEXT]}, {"role": "user", "content": [TEXT], "id": "m1"}]),
        start(input=[{"role": "assistant", "type": "message", "content": [{"type": "output_text", "text": "hi"}]}]),
        start(client={"data_channel": {"allowed_client_events": []}}, safety_identifier="u", store=True),
        {**START, "event_id": "e" * 512},
        {"type": "session.update", "session": {}},
        {"type": "session.update", "session": {"delegation": {"type": "responses"}, "triggers": []}},
        {"type": "session.input_audio.append", "audio": ""},
        {"type": "session.input_audio.append", "audio": "AAAA", "event_id": None},
        {"type": "session.input_audio.mute"},
        {"type": "session.input_audio.unmute", "event_id": "e"},
        {"type": "session.output_audio.fixture.play", "audio": "AAAA"},
        {"type": "session.instructions.append", "content": "x"},
        {"type": "session.thinking.append", "content": "x", "delegation_id": None},
        {"type": "session.commentary.append", "content": "x", "delegation_id": "d", "event_id": "e"},
        {"type": "decision.create", "event_id": "e"},
        {"type": "decision.item.create", "item": {"type": "message"}},
        {"type": "decision.item.delete", "item_id": "i"},
        {"type": "response.item.create", "item": {"type": "function_call_output"}},
        {"type": "response.create"},
        {"type": "session.close"},
    ],
)
def test_what_belongs_in_a_command_is_taken(event: Event) -> None:
    for kugel in (False, True):
        command = read(event, kugel=kugel)
        assert isinstance(command, Command), command
        assert command.type == event["type"]


@pytest.mark.parametrize(
    ("event", "code", "param", "says"),
    [
        ({}, "missing_required_parameter", "type", "Missing required parameter: 'type'."),
        ({"type": None}, "invalid_type", "type", "expected a string"),
        ({"type": "response.cancel"}, "invalid_value", "type", "'response.cancel' is no client event"),
        ({"type": "transport.dtmf.send", "event": "1"}, "invalid_value", "type", "no client event"),
        ({"type": "session.start"}, "missing_required_parameter", "session", "'session'"),
        ({"type": "session.start", "session": {}}, "missing_required_parameter", "session.model", "'session.model'"),
        ({"type": "session.start", "session": "s"}, "invalid_type", "session", "expected object, got string"),
        (start(voice="marin"), "unknown_parameter", "session.voice", "Unknown parameter: 'session.voice'."),
        (start(kugel={}), "unknown_parameter", "session.kugel", "Unknown parameter: 'session.kugel'."),
        (start(model=None), "invalid_type", "session.model", "expected string, got null"),
        (start(store="yes"), "invalid_type", "session.store", "expected boolean or null, got string"),
        (start(audio={"input": {}}), "unknown_parameter", "session.audio.input", "'session.audio.input'"),
        (start(audio={"format": "pcm16"}), "invalid_type", "session.audio.format", "expected object or null"),
        (
            start(audio={"format": {"type": "audio/pcm", "rate": 44100}}),
            *("invalid_value", "session.audio.format.rate", "44100 is not one of those it can have"),
        ),
        (
            start(audio={"format": {"type": "audio/pcm"}}),
            *("missing_required_parameter", "session.audio.format.rate", "'session.audio.format.rate'"),
        ),
        (
            start(audio={"format": {"type": "audio/opus", "rate": 48000}}),
            *("invalid_value", "session.audio.format.type", "'audio/opus' is not one of those it can have"),
        ),
        (
            start(audio={"output": {"voice": {}}}),
            *("missing_required_parameter", "session.audio.output.voice.id", "voice.id"),
        ),
        (start(delegation={"type": "nobody"}), "invalid_value", "session.delegation.type", "'nobody'"),
        (start(delegation={}), "missing_required_parameter", "session.delegation.type", "delegation.type"),
        (
            start(delegation={"type": "responses"}),
            *("missing_required_parameter", "session.delegation.responses", "'session.delegation.responses'"),
        ),
        (
            start(delegation={"type": "client", "acknowledgement_delay_ms": -1}),
            *("invalid_value", "session.delegation.acknowledgement_delay_ms", ">= 0"),
        ),
        (start(input=[{"role": "system", "content": [TEXT]}]), "invalid_value", "session.input[0].role", "'system'"),
        (
            start(input=[{"role": "user", "content": [TEXT]}] * 2 + [{"role": "user", "content": [TEXT, TEXT]}]),
            *("invalid_value", "session.input[2].content", "at most 1"),
        ),
        (
            start(input=[{"role": "user", "content": [{"type": "text", "text": "x"}]}]),
            *("invalid_value", "session.input[0].content[0].type", "'text'"),
        ),
        (start(input=[{"role": "user", "content": [TEXT]}] * 129), "invalid_value", "session.input", "at most 128"),
        (
            {"type": "session.update", "session": {"instructions": "x"}},
            *("unknown_parameter", "session.instructions", "Unknown parameter: 'session.instructions'."),
        ),
        ({"type": "session.input_audio.append"}, "missing_required_parameter", "audio", "'audio'"),
        ({"type": "session.input_audio.append", "audio": [1]}, "invalid_type", "audio", "expected string, got array"),
        ({"type": "session.thinking.append"}, "missing_required_parameter", "content", "'content'"),
        ({"type": "session.thinking.append", "content": {}}, "invalid_type", "content", "got object"),
        (
            {"type": "session.commentary.append", "content": "x", "delegation_id": 5},
            *("invalid_type", "delegation_id", "expected string or null, got integer"),
        ),
        (
            {"type": "session.commentary.append", "content": "x", "expects_reply": True},
            *("unknown_parameter", "expects_reply", "Unknown parameter: 'expects_reply'."),
        ),
        ({"type": "session.close", "reason": "x"}, "unknown_parameter", "reason", "'reason'"),
        ({"type": "session.close", "event_id": "e" * 513}, "invalid_value", "event_id", "at most 512"),
        ({"type": "decision.create"}, "missing_required_parameter", "event_id", "'event_id'"),
        ({"type": "session.close", "a - b": 1}, "unknown_parameter", "a - b", "'a - b'"),
    ],
)
def test_what_does_not_is_told_by_its_place(event: Event, code: str, param: str, says: str) -> None:
    problem = read(event, kugel=False)
    assert isinstance(problem, Problem), problem
    assert (problem.type, problem.code, problem.param) == ("invalid_request_error", code, param)
    assert says in problem.message


def test_fluid_1_knows_more() -> None:
    tools = [{"type": "function", "name": f"t{n}"} for n in range(64)]
    for session in ({"kugel": {}}, {"kugel": {"language": "de-DE", "tools": tools, "overlap_control": "auto"}}):
        assert isinstance(read(start(**session), kugel=True), Command)
    for expected in (True, False, None):
        event = {"type": "session.commentary.append", "content": "x", "expects_reply": expected}
        assert isinstance(read(event, kugel=True), Command)


@pytest.mark.parametrize(
    ("event", "param"),
    [
        (start(kugel={"voice": "x"}), "session.kugel.voice"),
        (start(kugel=[]), "session.kugel"),
        (start(kugel={"tools": [{}] * 65}), "session.kugel.tools"),
        (start(kugel={"language": 49}), "session.kugel.language"),
        ({"type": "session.thinking.append", "content": "x", "expects_reply": True}, "expects_reply"),
        ({"type": "session.commentary.append", "content": "x", "expects_reply": "yes"}, "expects_reply"),
        ({"type": "session.update", "session": {"kugel": {}}}, "session.kugel"),
    ],
)
def test_and_is_as_strict(event: Event, param: str) -> None:
    problem = read(event, kugel=True)
    assert isinstance(problem, Problem)
    assert problem.param == param


def struct_fields(kind: type[msgspec.Struct]) -> dict[str, tuple[bool, Any]]:
    """Name: (required, type) of each field, but for tags."""
    return {field.name: (field.required, field.type) for field in msgspec.structs.fields(kind)}


def model_fields(model: Any) -> dict[str, bool]:
    return {name: field.is_required() for name, field in model.model_fields.items() if name not in ("type", "role")}


def test_the_commands_are_those_of_the_sdk() -> None:
    """A new version of the SDK that knows more shows here. DTMF is for sideband connections."""
    from openai.types.live import ClientEvent, ConnectClientEvent

    models = {}
    for union in (ClientEvent, ConnectClientEvent):
        for model in get_args(get_args(union)[0]):
            models[model.model_fields["type"].annotation.__args__[0]] = model
    models.pop("transport.dtmf.send")
    assert set(COMMANDS) == set(KUGEL_COMMANDS) == set(models)
    for kind, shape in COMMANDS.items():
        ours = {name: required for name, (required, _) in struct_fields(shape).items() if name != "type"}
        assert ours == model_fields(models[kind]), kind


def test_the_sessions_are_those_of_the_sdk() -> None:
    from openai.types.live import AudioFormat, SessionConfig, SessionUpdateConfig

    from simrt.dialect.live_commands import Pcm, Pcma, Pcmu, Session, SessionUpdate

    for ours, theirs in ((Session, SessionConfig), (SessionUpdate, SessionUpdateConfig)):
        names = {name: required for name, (required, _) in struct_fields(ours).items()}
        assert names == model_fields(theirs)
        delegation = {kind.__struct_config__.tag: kind for kind in parts(struct_fields(ours)["delegation"][1])}
        for model in parts(theirs.model_fields["delegation"].annotation):
            kind = delegation.pop(model.model_fields["type"].annotation.__args__[0])
            assert {name: needed for name, (needed, _) in struct_fields(kind).items()} == model_fields(model)
        assert delegation == {}
    formats = {kind.__struct_config__.tag for kind in (Pcm, Pcmu, Pcma)}
    assert formats == {model.model_fields["type"].annotation.__args__[0] for model in parts(AudioFormat)}


def parts(annotation: Any) -> list[Any]:
    """The classes in a union, however deep."""
    if get_origin(annotation) in (Union, UnionType) or hasattr(annotation, "__metadata__"):
        return [part for arg in get_args(annotation) if arg is not type(None) for part in parts(arg)]
    return [annotation] if isinstance(annotation, type) else []
