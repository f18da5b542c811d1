"""A Live session as a whole: its start, its end, usage, errors, what the verdict says."""

import base64

import msgspec
import pytest

from simrt.faults.base import Send
from simrt.replay.build import make_session
from simrt.replay.live import LiveSession
from simrt.wire import Request
from tests.replay.hand import Call
from tests.replay.live_hand import (
    AUDIO,
    DELEGATED,
    REQUEST,
    SAID,
    STATUS,
    LiveCall,
    answering,
    parcel,
    script,
    turn,
)

CLOSE = {"type": "session.close", "event_id": "bye"}


def raw(profile: str = "openai") -> Call:
    """A call that has not started its session."""
    return Call(parcel(profile), request=REQUEST)


def test_the_session_starts_when_the_script_says() -> None:
    call = LiveCall(script(turn("booking"), ready_ms=700), instructions="Be brief.").run()
    started = call.one("session.started")
    assert started.ms == 700
    assert started.event["session"]["instructions"] == "Be brief."
    assert started.event["session"]["status"] == "active"


def test_it_must_start_first() -> None:
    call = raw().send(10, CLOSE).send(20, {"type": "session.input_audio.append", "audio": ""}).run(1000)
    assert [got.event["error"]["code"] for got in call.of("error")] == ["session_not_started"] * 2


def test_and_only_once() -> None:
    call = LiveCall(parcel()).send(900, {"type": "session.start", "session": {"model": "gpt-live-1"}}).run(2000)
    assert call.codes() == ["session_already_started"]


@pytest.mark.parametrize(
    ("event", "code"),
    [
        ("no json", "invalid_json"),
        (b"\x00", "invalid_json"),
        ({"type": "session.commentary.append", "content": "x", "colour": "red"}, "unknown_parameter"),
        ({"type": "response.create"}, "invalid_request"),
        ({"type": "input_audio_buffer.append", "audio": ""}, "invalid_value"),
        ({"type": "session.input_audio.append", "audio": "!"}, "invalid_value"),
        ({"type": "session.input_audio.append", "audio": base64.b64encode(b"odd").decode()}, "invalid_value"),
        ({"type": "session.input_audio.append", "audio": 7}, "invalid_type"),
    ],
)
def test_what_is_wrong_is_told_and_the_session_goes_on(event: dict[str, object] | str | bytes, code: str) -> None:
    call = LiveCall(parcel()).send(600, event).stream(700, 5000).run()
    assert call.codes() == [code]
    assert call.said() == "Parcel service, how can I help?"


def test_an_update_is_answered() -> None:
    update = {"type": "session.update", "session": {"delegation": {"type": "client"}}, "event_id": "u"}
    call = LiveCall(parcel()).send(900, update).run(3000)
    assert call.one("session.updated").event["client_event_id"] == "u"


def test_usage_comes_by_the_clock_and_counts_audio() -> None:
    call = LiveCall(parcel()).stream(450, 8000).run(50_000)
    usage = call.of("session.usage.updated")
    assert [got.ms - 450 for got in usage] == [15_000, 30_000, 45_000]
    assert [got.event["usage"]["seconds"] for got in usage] == [7, 7, 7]


def test_the_end() -> None:
    call = LiveCall(parcel()).stream(500, 3000).send(3000, CLOSE).run()
    closed = call.got[-1].event
    assert (closed["type"], closed["reason"], closed["client_event_id"]) == ("session.closed", "close_requested", "bye")
    assert closed["usage"]["seconds"] == 2
    assert closed["session"]["id"] == call.one("session.started").event["session"]["id"]
    assert call.end is not None
    assert call.end[1].code == 1005


def test_after_the_close_nothing_is_said() -> None:
    call = LiveCall(parcel()).stream(500, 9000).send(1000, CLOSE).run()
    assert not call.of(SAID)


def test_an_hour_is_the_longest_session() -> None:
    call = LiveCall(parcel()).run(4_000_000)
    assert call.got[-1].event["reason"] == "expired"
    assert call.end is not None
    assert 3_590_000 < call.end[0] < 3_620_000


def test_an_openai_voice_is_an_alias_on_kugelaudio() -> None:
    call = LiveCall(parcel("kugel"), audio={"output": {"voice": "marin"}}).run(2000)
    assert call.one("info").event["code"] == "kugel_voice_alias"
    assert call.kinds()[:2] == ["session.started", "info"]


@pytest.mark.parametrize(
    ("offered", "chosen"),
    [
        (["openai-live", "openai-insecure-api-key.KEY"], "openai-live"),
        ([], None),
        (["openai-insecure-api-key.K"], None),
    ],
)
def test_the_key_may_come_as_a_subprotocol(offered: list[str], chosen: str | None) -> None:
    session = make_session(parcel())
    assert session.accept(Request("api.kugelaudio.com", "/v1/live/sessions", [], offered)) is None
    assert session.subprotocol == chosen


# --- the verdict


def test_a_call_as_scripted_is_clean() -> None:
    call = LiveCall(parcel(), react=answering())
    call.stream(500, 25_000, (3500, "parcel-where"), (15_000, "thats-all")).send(25_000, CLOSE).run()
    assert call.session.final_verdict().clean, str(call.session.final_verdict())


def test_what_was_never_said_is_unplayed() -> None:
    call = LiveCall(parcel()).stream(500, 14_000, (3500, "parcel-where")).run()
    verdict = call.session.final_verdict()
    assert any(AUDIO in kind for kind in verdict.unplayed)
    assert verdict.unasked == [f"session.commentary.append ({STATUS})"]


def test_a_session_that_never_started_was_never_asked() -> None:
    assert raw().run(1000).session.final_verdict().unasked[0] == "session.start"


def test_two_sessions_of_one_score_are_alike() -> None:
    def rows() -> list[tuple[float, str | bytes]]:
        call = LiveCall(parcel(), react=answering("Something else happened."))
        return call.stream(500, 25_000, (3500, "parcel-where"), (15_000, "thats-all")).run().rows()

    assert rows() == rows()


def test_an_idle_shell_need_not_ask() -> None:
    """What is put into a queue shows in `scheduled`, so that a shell may sleep."""
    session = make_session(parcel())
    assert isinstance(session, LiveSession)
    session.opened(0)
    before = session.scheduled
    session.receive(msgspec.json.encode({"type": "session.start", "session": {"model": "gpt-live-1"}}).decode(), 0)
    assert session.scheduled > before
    assert session.next_due() == 450_000
    assert isinstance(session.due(450_000)[0], Send)


# --- faults


def test_the_caller_talks_over_a_reply() -> None:
    call = (
        LiveCall(parcel(), ["barge-in:reply=0,at=500ms,clip=hang-on,answer=take-your-time"], react=answering())
        .stream(500, 25_000, (1300, "hang-on"))
        .run()
    )
    assert call.heard() == "Wait, hang on a second."
    assert call.ear.ended[0][0] == 0
    assert call.ear.ended[0][2]
    assert call.said().endswith("take your time.")
    assert not call.session.final_verdict().unfired
    assert not call.of(DELEGATED)


def test_late_ready_and_delayed_events() -> None:
    call = LiveCall(parcel(), [f"delay:event={DELEGATED},for=2s"], react=answering())
    plain = LiveCall(parcel(), react=answering())
    for each in (call, plain):
        each.stream(500, 16_000, (3500, "parcel-where")).run()
    assert call.one(DELEGATED).ms - plain.one(DELEGATED).ms == 2000


def test_a_dropped_delegation_is_never_answered() -> None:
    call = LiveCall(parcel(), [f"drop:event={DELEGATED}"], react=answering())
    call.stream(500, 16_000, (3500, "parcel-where")).run()
    assert not call.of(DELEGATED)
    assert not call.live.appends.all
