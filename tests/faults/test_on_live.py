"""The faults that are older than the Live protocol, on its sessions."""

import pytest

from clients.parcel import Parcel
from simrt.call import run_call
from simrt.explore.space import space_of
from simrt.faults.base import End
from simrt.faults.plan import FAULTS
from tests.replay.live_hand import DELEGATED, HEARD, LiveCall, answering, parcel

from .live_runs import by_hand, called, fired, marks, never, sent

COMMITTED = "kugel.input_transcript.committed"
ACK = "session.commentary.appended"
REALTIME_ONLY = [
    "rechunk",
    "fail",
    "hang",
    "collide",
    "arguments",
    "incomplete-call",
    "repeat-call",
    "second-item",
    "late-audio",
    "wrong-format",
]


@pytest.mark.parametrize("fault", REALTIME_ONLY)
def test_what_is_about_responses_says_so(fault: str) -> None:
    assert "it is about the Realtime protocol, and this cassette's is live" in never(fault)


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("oversize", "no 'response.output_audio.delta' event"),
        ("drop", "no 'response.done' event"),
        ("reject", "the client sends 0 'response.create' events (it sends: session.start)"),
        ("ignore", "the client sends 0 'response.create' events"),
        ("reorder", "only recorded replies of fluid-1"),
        ("burst", "clog makes bursts of it"),
        ("late-transcript:nth=1", "turn 1 is not delegated"),
        ("speaks-on:turn=1", "not followed by a delegation and no reply"),
        ("expire:at=3s", "session-closed"),
    ],
)
def test_what_can_never_fire_is_said(fault: str, why: str) -> None:
    assert why in never(fault)


def test_every_fault_either_makes_sense_or_is_one_of_these() -> None:
    left_out = set(FAULTS) - {kind.name for kind in space_of("verified").kinds}
    assert left_out == {*REALTIME_ONLY, "oversize", "expire"}


def test_a_stall_shifts_the_rest_of_a_reply() -> None:
    plain, late = by_hand(), by_hand("stall:reply=1,at=1s,for=700ms")

    def last(call: LiveCall) -> float:
        return [got.ms for got in call.speech() if got.send.reply == 1][-1]

    assert last(late) - last(plain) == pytest.approx(700, abs=1)
    assert late.said() == plain.said()


def test_a_burst_brings_a_reply_of_fluid_1_at_once() -> None:
    call = by_hand("burst:reply=1,within=200ms", profile="kugel", kugel={})
    times = [got.ms for got in call.speech() if got.send.reply == 1]
    assert times[-1] - times[0] <= 200
    assert len(fired(call)) == 1


def test_the_session_starts_late() -> None:
    call = by_hand("late-ready:at=2s")
    assert call.one("session.started").ms == 2000
    assert fired(call)[0][1] == "late-ready:at=2000ms"


def test_the_times_vary_with_the_seed() -> None:
    def times(seed: int) -> list[float]:
        call = LiveCall(parcel(), ["spread"], seed, react=answering()).stream(3000, 12_000, (4000, "parcel-where"))
        call.run()
        return [call.one("session.started").ms, next(got.ms for got in call.speech())]

    assert times(1) == times(1)
    assert times(1) != times(2)


def test_the_words_come_behind_the_delegation() -> None:
    call = by_hand("late-transcript:after=200ms")
    words = [got.ms for got in call.of(HEARD)]
    assert {round(ms - call.one(DELEGATED).ms) for ms in words} == {200}
    assert call.heard() == by_hand().heard()


@pytest.mark.parametrize("kind", [DELEGATED, ACK])
def test_an_event_comes_twice(kind: str) -> None:
    result = called(f"duplicate:event={kind}")
    first, second = (event for _, event in sent(result, kind))
    assert first == second
    assert result.findings == []


@pytest.mark.parametrize("kind", [COMMITTED, ACK, "session.usage.updated"])
def test_an_event_never_comes(kind: str) -> None:
    result = called(f"drop:event={kind}")
    assert len(sent(result, kind)) == len(sent(called(), kind)) - 1
    assert result.findings == []


def test_an_append_is_refused_and_taken_the_next_time() -> None:
    result = called("reject:event=session.commentary.append")
    assert [event["error"]["code"] for _, event in sent(result, "error")] == ["server_error"]
    assert len(sent(result, ACK)) == 1
    assert [reply.heard_text for reply in result.replies] == [reply.heard_text for reply in called().replies]
    assert result.findings == []


def test_there_is_no_room_for_a_session_just_now() -> None:
    result = called("reject:event=session.start,code=rate_limit_exceeded")
    refused, taken = result.traces
    assert [event["error"]["code"] for event in (f.event() or {} for f in refused.sent_by("server"))] == [
        "rate_limit_exceeded"
    ]
    assert refused.closing is not None
    assert refused.closing.code == 1013
    assert any((frame.event() or {}).get("type") == "session.closed" for frame in taken.sent_by("server"))


def test_an_append_is_lost_on_its_way() -> None:
    call = by_hand("ignore:event=session.commentary.append")
    assert call.of(ACK) == []
    assert "4711" not in call.said()
    assert len(fired(call)) == 1


def test_an_error_names_no_command_of_the_client() -> None:
    call = by_hand("error:at=4s")
    assert call.one("error").event["error"]["client_event_id"] is None
    assert "event_id" not in call.one("error").event["error"]


@pytest.mark.parametrize(("fault", "end"), [("close:at=4s", End(1011)), ("reset:at=4s", End(1006, reset=True))])
def test_the_connection_ends(fault: str, end: End) -> None:
    call = by_hand(fault)
    assert call.end == (4000, end)


@pytest.mark.parametrize(
    "fault", ["clog:at=4s,for=2s", "latency:add=300ms", "bandwidth:kbps=600", "latency:jitter=80ms"]
)
def test_the_network_loses_nothing(fault: str) -> None:
    call = by_hand(fault)
    assert call.said() == by_hand().said()
    assert len(fired(call)) == 1


def test_mm_hmm_is_no_turn() -> None:
    result = called("backchannel:reply=1,at=800ms")
    assert marks(result) == ["backchannel:reply=1"]
    assert "hmm" not in "".join(str(event["delta"]) for _, event in sent(result, HEARD)).lower()
    assert [reply.cut_off for reply in result.replies] == [False] * 3


def test_a_voice_behind_is_heard_and_cuts_nothing() -> None:
    result = called("background:reply=1,at=500ms")
    assert any("news" in str(event["delta"]) for _, event in sent(result, HEARD))
    assert not result.replies[1].cut_off
    assert result.findings == []


def test_a_cough_cuts_a_reply_off_and_is_no_turn() -> None:
    result = called("cough:reply=1,at=800ms")
    assert result.replies[1].cut_off
    assert len(sent(result, COMMITTED)) == len(sent(called(), COMMITTED))
    assert marks(result) == ["cough:reply=1"]
    assert result.findings == []


@pytest.mark.parametrize("fault", ["extra-turn", "barge-in:reply=1,answer=breakfast"])
def test_what_the_caller_says_besides_is_answered(fault: str) -> None:
    result = called(fault)
    assert [reply.reply for reply in result.replies if str(reply.reply).startswith("answer-")] == ["answer-0"]
    assert result.verdict.unfired == []
    assert result.findings == []


def test_the_caller_speaks_on_and_the_result_waits() -> None:
    result = called("speaks-on")
    assert "hang on" in "".join(str(event["delta"]) for _, event in sent(result, HEARD))
    assert result.replies[1].heard_text == called().replies[1].heard_text
    assert result.findings == []


@pytest.mark.parametrize("fault", ["hang-up:at=5s", "late-pickup", "mute:at=3s", "no-pong:at=5s,for=10s"])
def test_the_caller_and_the_pings(fault: str) -> None:
    result = called(fault)
    assert result.findings == []
    assert fault.startswith("no-pong") or result.verdict.unfired == []


@pytest.mark.parametrize("cassette", ["verified", "cancel-yes"])
@pytest.mark.parametrize(
    "name", [kind.name for kind in space_of("verified").kinds if kind.name not in ("refuse", "no-pong")]
)
def test_each_fires_and_the_right_client_is_not_blamed(name: str, cassette: str) -> None:
    space = space_of(cassette)
    drawn = next(space.in_order(FAULTS[name]))
    result = called(str(drawn.fault), cassette=cassette)
    assert result.verdict.unfired == []
    if drawn.fault.harm() != "fatal":
        assert result.findings == []


@pytest.mark.parametrize("fault", ["barge-in:reply=-2,at=0ms,answer=breakfast", "cough:reply=-2,at=0ms"])
def test_a_caller_who_cut_the_result_off_waits_to_be_told_again(fault: str) -> None:
    result = run_call(Parcel, "slow-lookup", fault)
    bye = next(said for said in result.utterances if said.clip.text.endswith("Bye."))
    told = [reply for reply in result.replies if "4712" in reply.transcript and not reply.cut_off]
    assert told
    assert all(reply.from_ms is not None and reply.from_ms * 1000 < bye.started_us for reply in told)


@pytest.mark.parametrize("within", [0, 100])
def test_a_burst_keeps_the_order_of_the_words(within: int) -> None:
    frames = run_call(Parcel, "verified", f"burst:reply=-2,within={within}ms").trace.sent_by("server")
    events = [event for frame in frames if (event := frame.event()) is not None]
    starts = [event["start_ms"] for event in events if event["type"] == "session.output_transcript.delta"]
    assert starts == sorted(starts)
