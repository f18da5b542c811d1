"""The events that a Live server sends are what the OpenAI SDK's models say, field by field."""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from openai.types import live
from pydantic import TypeAdapter, ValidationError

from simrt.dialect import Event
from simrt.dialect import live_events as made
from simrt.dialect.live_rules import RATE_LIMITED, Rules

SERVER: TypeAdapter[Any] = TypeAdapter(live.ServerEvent)


def session(profile: str = "openai", **fields: Any) -> Event:
    rules = Rules(profile)
    event = {"type": "session.start", "session": {"model": "gpt-live-1", **fields}}
    assert rules.refuse(event) is None
    return rules.start(event, "live_1", 1_800_000_000)


EVENTS: dict[str, Event] = {
    "session.started": made.started("e1", session(), "c1"),
    "session.updated": made.updated("e1", session(delegation={"type": "responses", "responses": {"model": "m"}})),
    "session.input_audio.muted": made.muted("e1", True, "c1"),
    "session.input_audio.unmuted": made.muted("e1", False),
    "session.commentary.appended": made.appended("e1", "commentary", 5400, 5600, "c1"),
    "session.thinking.appended": made.appended("e1", "thinking", 5400, 5600),
    "session.instructions.appended": made.appended("e1", "instructions", 0, 200),
    "session.input_transcript.delta": made.transcript("e1", "input", "Please", 600, 800),
    "session.output_transcript.delta": made.transcript("e1", "output", " now.", 600, 800),
    "session.delegation.created": made.delegation_created("e1", "item_1", 4600),
    "session.usage.updated": made.usage_updated("e1", 7, 0.0089),
    "session.closed": made.closed("e1", "close_requested", session(), 31, "c1"),
    "error": made.error("e1", RATE_LIMITED, "c1"),
    "info": made.info("e1", "kugel_voice_alias", "Another voice is used."),
}


@pytest.mark.parametrize("kind", EVENTS)
def test_the_sdk_knows_every_field(kind: str) -> None:
    """Parsed strictly: nothing is missing, of another type, or unknown to the model."""
    event = EVENTS[kind]
    assert event["type"] == kind
    parsed = SERVER.validate_python(event)
    assert parsed.type == kind
    assert unknown(parsed) == []
    assert parsed.to_dict() == event


def unknown(value: Any) -> list[str]:
    """Fields that a model has no name for, at any depth."""
    if isinstance(value, list):
        return [name for item in value for name in unknown(item)]
    if not hasattr(value, "model_fields_set"):
        return []
    found = list(value.model_extra or {})
    return found + [name for field in type(value).model_fields for name in unknown(getattr(value, field))]


@pytest.mark.parametrize("reason", ["close_requested", "expired", "content", "remote_hangup", "connection_lost"])
def test_the_reasons_for_a_close(reason: Any) -> None:
    event = made.closed("e1", reason, session(), 12.5)
    parsed = SERVER.validate_python(event)
    assert (parsed.reason, parsed.usage.seconds, parsed.session.status) == (reason, 12.5, "active")
    with pytest.raises(ValidationError):
        live.SessionClosedEvent.model_validate({**event, "reason": "bored"}, strict=True)


def test_the_command_is_named_in_the_error_and_beside_it() -> None:
    event = made.error("e1", RATE_LIMITED, "c1")
    assert event["client_event_id"] == event["error"]["client_event_id"] == "c1"
    for nothing in (None, 5, {}):
        event = made.error("e1", RATE_LIMITED, nothing)
        assert "client_event_id" not in event
        assert event["error"]["client_event_id"] is None


def test_an_event_that_answers_no_command_names_none() -> None:
    assert "client_event_id" not in made.transcript("e1", "input", "x", 0, 1)
    assert "client_event_id" not in made.started("e1", session(), None)


def test_usage_without_a_context_window() -> None:
    assert made.usage_updated("e1", 15) == {"type": "session.usage.updated", "event_id": "e1", "usage": {"seconds": 15}}


def test_the_published_log_has_the_same_fields(recordings: Path) -> None:
    """Each kind of server event in it has just the fields that ours has."""
    lines = (recordings / "gpt-live" / "delegation.jsonl").read_text().splitlines()
    events = [row["event"] for row in map(msgspec.json.decode, lines) if row["dir"] == "in"]
    kinds = {}
    for event in events:
        if "audioBytes" not in event:
            kinds[event["type"]] = event
            ours = {key for key in EVENTS[event["type"]] if key != "client_event_id"}
            assert set(event) == ours, event["type"]
    assert len(kinds) == 8
    created = kinds["session.delegation.created"]
    assert made.delegation_created(created["event_id"], "item_0001", 4600) == created


def test_events_of_fluid_1_pass_the_sdk() -> None:
    """It does not know them, and hands them on."""
    from openai.resources.live.live import AsyncLiveConnection

    parse = AsyncLiveConnection.parse_event
    cancelled = parse(None, msgspec.json.encode(made.kugel_cancelled("e1")))  # type: ignore[arg-type]
    assert cancelled.type == "kugel.response.cancelled"
    event = made.kugel_committed("e1", "Where is my parcel?", 600, 2000)
    committed: Any = parse(None, msgspec.json.encode(event))  # type: ignore[arg-type]
    assert (committed.type, committed.text) == ("kugel.input_transcript.committed", "Where is my parcel?")
