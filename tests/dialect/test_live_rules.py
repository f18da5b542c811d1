"""What a Live server refuses in which state, and the session that it resolves."""

from pathlib import Path
from typing import Any

import msgspec
import pytest

from simrt.dialect import Event
from simrt.dialect.live_rules import BAD_AUDIO, NOT_JSON, RATE_LIMITED, Problem, Rules, expects_reply, not_placed

MUTE: Event = {"type": "session.input_audio.mute"}


def start(**session: Any) -> Event:
    return {"type": "session.start", "session": {"model": "gpt-live-1", **session}}


def started(profile: str = "openai", **session: Any) -> Rules:
    rules = Rules(profile)
    event = start(**session)
    assert rules.refuse(event) is None
    rules.start(event, "live_1", 1_800_000_000)
    return rules


def append(kind: str = "commentary", **fields: Any) -> Event:
    return {"type": f"session.{kind}.append", "content": "It arrives tomorrow.", **fields}


def refused(rules: Rules, event: Event) -> Problem:
    problem = rules.refuse(event)
    assert problem is not None
    assert problem.type == "invalid_request_error"
    return problem


# --- the order of things


@pytest.mark.parametrize("event", [MUTE, append(), {"type": "session.close"}, {"type": "session.update"}, {}])
def test_session_start_must_be_first(event: Event) -> None:
    rules = Rules()
    problem = refused(rules, event)
    assert (problem.code, problem.param) == ("session_not_started", "type")
    assert "session.start" in problem.message
    assert repr(event.get("type")) in problem.message
    assert rules.refuse(start()) is None, "the client may do better"


def test_audio_before_the_start_is_refused_too() -> None:
    problem = refused(Rules(), {"type": "session.input_audio.append", "audio": "AAAA"})
    assert problem.code == "session_not_started"


def test_a_session_starts_once() -> None:
    assert refused(started(), start()).code == "session_already_started"


def test_a_refused_start_may_be_tried_again() -> None:
    rules = Rules()
    assert refused(rules, start(voice="marin")).param == "session.voice"
    assert rules.refuse(start()) is None


def test_after_close_only_audio_is_let_pass() -> None:
    rules = started()
    assert rules.refuse({"type": "session.close"}) is None
    rules.close()
    assert refused(rules, append()).code == "session_closing"
    assert refused(rules, {"type": "session.close"}).code == "session_closing"
    assert rules.refuse({"type": "session.input_audio.append", "audio": "AAAA"}) is None


# --- limits in tokens


@pytest.mark.parametrize("kind", ["commentary", "thinking", "instructions"])
def test_content_of_500_tokens(kind: str) -> None:
    rules = started()
    assert rules.refuse(append(kind, content=" word" * 500)) is None
    problem = refused(rules, append(kind, content=" word" * 501))
    assert (problem.code, problem.param) == ("invalid_value", "content")
    assert "501 tokens" in problem.message
    assert "500" in problem.message


def test_instructions_of_16384_tokens() -> None:
    assert Rules().refuse(start(instructions=" word" * 16_384)) is None
    problem = refused(Rules(), start(instructions=" word" * 16_385))
    assert (problem.code, problem.param) == ("invalid_value", "session.instructions")


def test_history_of_8192_tokens() -> None:
    def history(words: int) -> Event:
        half = [{"type": "input_text", "text": " word" * (words // 2)}]
        rest = [{"type": "output_text", "text": " word" * (words - words // 2)}]
        return start(input=[{"role": "user", "content": half}, {"role": "assistant", "content": rest}])

    assert Rules().refuse(history(8192)) is None
    problem = refused(Rules(), history(8193))
    assert (problem.code, problem.param) == ("invalid_value", "session.input")


# --- models and voices


@pytest.mark.parametrize(
    ("profile", "model", "known"),
    [
        ("openai", "gpt-live-1", True),
        ("openai", "gpt-live-1.1", True),
        ("openai", "fluid-1", False),
        ("openai", "gpt-realtime", False),
        ("kugel", "fluid-1", True),
        ("kugel", "gpt-live-1", True),
        ("kugel", "kugel-3", False),
        ("azure", "gpt-live-1", True),
        ("azure", "fluid-1", False),
    ],
)
def test_each_service_has_its_models(profile: str, model: str, known: bool) -> None:
    problem = Rules(profile).refuse(start(model=model))
    assert (problem is None) is known
    if problem is not None:
        assert (problem.code, problem.param) == ("model_not_found", "session.model")
        assert model in problem.message


@pytest.mark.parametrize("voice", ["973", "marin", None, {"id": "voice_1"}])
def test_voices_of_fluid_1(voice: Any) -> None:
    assert Rules("kugel").refuse(start(audio={"output": {"voice": voice}})) is None


def test_a_voice_that_fluid_1_does_not_have() -> None:
    problem = refused(Rules("kugel"), start(audio={"output": {"voice": "hans"}}))
    assert (problem.code, problem.param) == ("invalid_value", "session.audio.output.voice")
    assert Rules("openai").refuse(start(audio={"output": {"voice": "hans"}})) is None, "the list there is open"


def test_an_openai_voice_becomes_the_default_and_that_is_said() -> None:
    event = start(audio={"output": {"voice": "marin"}})
    rules = Rules("kugel")
    assert rules.refuse(event) is None
    voice = rules.start(event, "live_1", 1)["audio"]["output"]["voice"]
    assert voice.isdecimal()
    ((code, message),) = rules.notices(event)
    assert code == "kugel_voice_alias"
    assert "marin" in message
    assert voice in message


@pytest.mark.parametrize(
    ("profile", "audio"),
    [("openai", {"output": {"voice": "marin"}}), ("kugel", {"output": {"voice": "973"}}), ("kugel", None)],
)
def test_otherwise_there_is_nothing_to_say(profile: str, audio: Any) -> None:
    assert Rules(profile).notices(start(audio=audio)) == []


# --- delegation


def test_appends_name_a_delegation_that_there_is() -> None:
    rules = started()
    assert rules.refuse(append()) is None
    assert rules.refuse(append(delegation_id=None)) is None
    problem = refused(rules, append(delegation_id="item_1"))
    assert (problem.code, problem.param) == ("invalid_value", "delegation_id")
    assert "item_1" in problem.message
    rules.delegated("item_1")
    for kind in ("commentary", "thinking", "instructions"):
        assert rules.refuse(append(kind, delegation_id="item_1")) is None
    assert refused(rules, append(delegation_id="item_2")).param == "delegation_id"


RESPONSES = {"type": "responses", "responses": {"model": "m"}}
DECISIONS = {"type": "decisions", "decisions": {"questions": []}}
ITEM = {"type": "response.item.create", "item": {"type": "function_call_output"}}


@pytest.mark.parametrize("event", [ITEM, {"type": "response.create"}])
def test_responses_commands_need_responses_delegation(event: Event) -> None:
    for session in ({}, {"delegation": None}, {"delegation": {"type": "client"}}, {"delegation": DECISIONS}):
        problem = refused(started(**session), event)
        assert event["type"] in problem.message
        assert "'responses'" in problem.message
    assert started(delegation=RESPONSES).refuse(event) is None


@pytest.mark.parametrize(
    "event",
    [
        {"type": "decision.create", "event_id": "e"},
        {"type": "decision.item.create", "item": {}},
        {"type": "decision.item.delete", "item_id": "i"},
    ],
)
def test_decision_commands_need_decisions_or_triggers(event: Event) -> None:
    assert "'decisions'" in refused(started(), event).message
    assert started(delegation=DECISIONS).refuse(event) is None
    assert started(triggers=[{"decisions": {}}]).refuse(event) is None


def test_an_evaluation_has_an_id_of_its_own() -> None:
    rules = started(delegation=DECISIONS)
    assert rules.refuse({"type": "decision.create", "event_id": "a"}) is None
    assert refused(rules, {"type": "decision.create", "event_id": "a"}).param == "event_id"
    assert rules.refuse({"type": "decision.create", "event_id": "b"}) is None


@pytest.mark.parametrize(
    ("profile", "session", "delegates"),
    [
        ("openai", {}, True),
        ("openai", {"delegation": {"type": "client"}}, True),
        ("openai", {"delegation": RESPONSES}, False),
        ("kugel", {"kugel": {}}, True),
        ("kugel", {"kugel": None}, True),
        ("kugel", {"kugel": {"tools": None}}, True),
        ("kugel", {"kugel": {"tools": [{"name": "x"}]}}, True),
        ("kugel", {"kugel": {"tools": []}}, False),
    ],
)
def test_whether_the_agent_delegates_to_the_client(profile: str, session: Any, delegates: bool) -> None:
    assert started(profile, **session).delegates is delegates


@pytest.mark.parametrize(
    ("profile", "session", "kugel"),
    [("openai", {}, False), ("kugel", {}, False), ("kugel", {"kugel": {}}, True), ("kugel", {"kugel": None}, False)],
)
def test_whether_it_sends_kugel_events(profile: str, session: Any, kugel: bool) -> None:
    assert Rules(profile).kugel is False
    assert started(profile, **session).kugel is kugel


@pytest.mark.parametrize(
    ("event", "expected"),
    [(append(expects_reply=True), True), (append(expects_reply=False), False), (append(expects_reply=None), False)],
)
def test_whether_a_reply_is_expected(event: Event, expected: bool) -> None:
    assert Rules("openai").profile == "openai"
    assert started("kugel").refuse(event) is None
    assert expects_reply(event) is expected


# --- the resolved session


def test_the_published_session_is_resolved_as_it_was(recordings: Path) -> None:
    lines = (recordings / "gpt-live" / "delegation.jsonl").read_text().splitlines()
    asked, answered = (msgspec.json.decode(line)["event"] for line in lines[:2])
    resource = answered["session"]
    rules = Rules("openai")
    assert rules.refuse(asked) is None
    assert rules.start(asked, resource["id"], resource["expires_at"]) == resource


def test_what_is_not_asked_for_is_filled_in() -> None:
    rules = started()
    assert rules.session == {
        "id": "live_1",
        "expires_at": 1_800_000_000,
        "model": "gpt-live-1",
        "audio": {"output": {"voice": "marin"}, "format": {"type": "audio/pcm", "rate": 24000}},
        "delegation": {"type": "client"},
        "input": [],
        "status": "active",
    }


def test_what_is_asked_for_is_kept_and_null_is_not() -> None:
    pcmu = {"type": "audio/pcmu", "rate": 8000}
    rules = started("kugel", audio={"format": pcmu, "output": None}, store=None, safety_identifier="u", kugel={})
    assert rules.session is not None
    assert rules.session["audio"]["format"] == pcmu
    assert rules.session["kugel"] == {}
    assert rules.session["safety_identifier"] == "u"
    assert "store" not in rules.session


def test_an_update_changes_what_it_names() -> None:
    rules = started(delegation={**RESPONSES, "acknowledgement_delay_ms": 300}, triggers=[{"decisions": {}}])
    before = rules.session
    event = {"type": "session.update", "session": {"delegation": {"type": "responses", "responses": {"tools": []}}}}
    assert rules.refuse(event) is None
    after = rules.update(event)
    assert after["delegation"] == {
        "type": "responses",
        "acknowledgement_delay_ms": 300,
        "responses": {"model": "m", "tools": []},
    }
    assert after["triggers"] == [{"decisions": {}}]
    assert rules.session is after
    assert before is not None
    assert before["delegation"]["responses"] == {"model": "m"}, "what was sent before is not changed"


def test_an_update_replaces_triggers() -> None:
    rules = started(triggers=[{"decisions": {}}])
    for triggers, left in (({"triggers": None}, [{"decisions": {}}]), ({"triggers": []}, [])):
        event = {"type": "session.update", "session": triggers}
        assert rules.refuse(event) is None
        assert rules.update(event)["triggers"] == left


def test_who_delegates_stays() -> None:
    problem = refused(started(), {"type": "session.update", "session": {"delegation": {"type": "responses"}}})
    assert problem.param == "session.delegation.type"
    same = {"type": "session.update", "session": {"delegation": {"type": "client", "acknowledgement_delay_ms": 5}}}
    rules = started()
    assert rules.refuse(same) is None
    assert rules.update(same)["delegation"] == {"type": "client", "acknowledgement_delay_ms": 5}


# --- problems that others find


def test_what_else_may_go_wrong() -> None:
    assert BAD_AUDIO.param == "audio"
    assert NOT_JSON.close_code is None
    assert (RATE_LIMITED.code, RATE_LIMITED.close_code) == ("rate_limit_exceeded", 1013)
    assert not_placed("commentary").code == "context_injection_incomplete"
    assert "commentary" in not_placed("commentary").message
