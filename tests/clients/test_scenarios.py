"""The hotel front desk's outcomes as they were measured live, each on a recorded and on an authored cassette."""

import pytest

from clients.call import Call, DrainCall, NaiveCall
from simrt import CallError, CallResult, run_call, shipped
from simrt.cassette.store import Cassette, load_cached
from simrt.scripts import authored

STALL = "stall:reply=-1,at=1500ms,for=500ms"
BOTH_WAYS = pytest.mark.parametrize("way", ["recorded", "authored"])


def cassette(name: str, way: str) -> Cassette:
    return authored(name) if way == "authored" else load_cached(shipped.cassette(name))


def goodbye(result: CallResult) -> tuple[float, float]:
    """Heard and whole length of the last reply, ms."""
    last = result.replies[-1]
    return last.heard_ms, last.audio_ms


@BOTH_WAYS
@pytest.mark.parametrize("client", [Call, DrainCall])
def test_the_held_start_loses_no_word(client: type, way: str) -> None:
    result = run_call(client, cassette("front-desk", way))
    assert result.caller_turns[0].words == 12
    assert [turn.words_lost for turn in result.caller_turns] == [0, 0]
    assert result.caller_turns[0].transcript == (
        "Hi, yes, I'm calling about my booking for Friday. The surname's Okafor."
    )
    assert result.ready_ms == pytest.approx(260, abs=60)


@BOTH_WAYS
def test_the_naive_start_loses_the_first_word(way: str) -> None:
    result = run_call(NaiveCall, cassette("front-desk", way))
    assert result.caller_turns[0].words_lost == 1
    assert result.caller_turns[0].transcript == ("Yes, I'm calling about my booking for Friday. The surname's Okafor.")


@BOTH_WAYS
def test_the_right_client_plays_all_of_the_goodbye(way: str) -> None:
    result = run_call(Call, cassette("front-desk", way))
    assert goodbye(result) == (4900, 4900)
    assert not result.replies[-1].cut_off
    assert result.closed_by == "client"
    assert result.verdict.clean, str(result.verdict)


@BOTH_WAYS
def test_a_fixed_sleep_plays_a_second_of_the_goodbye(way: str) -> None:
    heard, whole = goodbye(run_call(NaiveCall, cassette("front-desk", way)))
    assert heard == pytest.approx(1046, abs=15)  # 1.0 s, and the 46 ms that the audio is ahead of the call
    assert whole == 4900


@BOTH_WAYS
def test_a_drained_queue_is_enough_while_nothing_stalls(way: str) -> None:
    assert goodbye(run_call(DrainCall, cassette("front-desk", way))) == (4900, 4900)


@BOTH_WAYS
def test_a_stall_of_half_a_second_tells_the_clients_apart(way: str) -> None:
    heard = {}
    for client in (Call, NaiveCall, DrainCall):
        result = run_call(client, cassette("front-desk-short", way), [STALL])
        heard[client], whole = goodbye(result)
        assert whole == 3000
    assert heard[Call] == 3000
    assert heard[NaiveCall] == pytest.approx(1046, abs=15)
    assert heard[DrainCall] == 1500


@BOTH_WAYS
def test_the_drained_queue_is_named_in_the_verdict(way: str) -> None:
    result = run_call(DrainCall, cassette("front-desk-short", way), [STALL])
    assert result.replies[-1].cut_off
    assert result.verdict.unfired == []
    assert any(entry.startswith("response.done") for entry in result.verdict.unplayed)


@BOTH_WAYS
def test_a_session_that_is_ready_after_ten_seconds_hears_the_last_five(way: str) -> None:
    result = run_call(Call, cassette("late-ready", way))
    turn = result.caller_turns[0]
    assert result.ready_ms == pytest.approx(10_000, abs=150)
    assert turn.transcript == (
        "And I'd like to know which room I have, how many nights it is for, and what time breakfast starts in the"
        " morning, please."
    )
    if way == "authored":  # the recording holds what the desk sent: the caller's first five seconds are not on it
        assert (turn.words, turn.words_lost) == (39, 15)
    assert goodbye(result) == (4900, 4900)
    assert any("250 frames held" in line for line in result.log)


@BOTH_WAYS
def test_a_late_session_costs_the_naive_client_more(way: str) -> None:
    result = run_call(NaiveCall, cassette("front-desk", way), ["late-ready:at=2s"])
    assert 3 < result.caller_turns[0].words_lost < 12
    assert run_call(Call, cassette("front-desk", way), ["late-ready:at=2s"]).caller_turns[0].words_lost == 0


@BOTH_WAYS
def test_without_the_end_of_the_goodbye_the_cap_hangs_up_and_says_so(way: str) -> None:
    result = run_call(Call, cassette("no-done", way))
    assert goodbye(result) == (4900, 4900)
    assert any("8.0 s" in line and "cap" in line for line in result.log)
    ended = next(
        row.t_ms for row in result.timeline if row.what == "response.function_call_arguments.done" and row.t_ms > 10_000
    )
    assert result.virtual_ms - ended == pytest.approx(8000, abs=25)


@BOTH_WAYS
def test_the_dropped_event_does_the_same_as_the_recorded_lack(way: str) -> None:
    result = run_call(Call, cassette("front-desk", way), ["drop:event=response.done,nth=-1"])
    assert any("cap" in line for line in result.log)
    assert result.verdict.unfired == []


@BOTH_WAYS
def test_talking_over_the_goodbye_keeps_the_right_client_on_the_line(way: str) -> None:
    result = run_call(Call, cassette("talk-over", way))
    assert [turn.words_lost for turn in result.caller_turns] == [0, 0, 0, 0]
    cut = result.replies[1]
    assert cut.cut_off
    assert 1200 <= cut.heard_ms <= 1400
    assert result.transcript.splitlines()[3] == "agent: You're all set for Friday at the —"
    assert result.replies[2].heard_text.startswith("Yes, breakfast is included")
    assert not result.replies[2].cut_off
    assert goodbye(result) == (3600, 3600)
    assert result.closed_by == "client"
    assert result.verdict.clean, str(result.verdict)
    sent = [frame.event() or {} for frame in result.trace.sent_by("client")]
    outputs = [e for e in sent if e["type"] == "conversation.item.create"]
    creates = [e for e in sent if e["type"] == "response.create"]
    assert (len(outputs), len(creates)) == (2, 1)  # the line is still open: told, and no reply asked for


@BOTH_WAYS
def test_talking_over_the_goodbye_is_lost_on_the_naive_client(way: str) -> None:
    result = run_call(NaiveCall, cassette("talk-over", way))
    assert result.virtual_ms < 20_000
    assert result.caller_turns[2].transcript == ""


@BOTH_WAYS
def test_the_same_barge_in_as_a_fault(way: str) -> None:
    fault = "barge-in:reply=-1,at=500ms,clip=one-more-thing,answer=breakfast"
    result = run_call(Call, cassette("front-desk", way), [fault])
    assert [(reply.reply, reply.cut_off) for reply in result.replies] == [
        (0, False),
        (1, True),
        ("answer-0", False),
        ("again-0", False),
    ]
    assert result.caller_turns[2].transcript == "Oh wait, one more thing. Is breakfast included?"
    assert result.caller_turns[3].transcript == "Great, that's all. Bye."
    assert result.closed_by == "client"
    assert result.verdict.unfired == []
    assert result.verdict.synthetic == []


@BOTH_WAYS
def test_a_refused_session_update_is_a_clear_error(way: str) -> None:
    refused = ["drop:event=session.updated,nth=0", "error:event=session.created,nth=0,code=unsupported_parameter"]
    with pytest.raises(CallError, match="session") as caught:
        run_call(Call, cassette("front-desk", way), refused)
    assert caught.value.result is not None
    appended = [f for f in caught.value.result.trace.sent_by("client") if "input_audio_buffer.append" in str(f.payload)]
    assert appended == []


@pytest.mark.parametrize(("status", "advice"), [(401, True), (429, False), (503, False)])
def test_refusals_have_messages_of_their_own(status: int, advice: bool) -> None:
    with pytest.raises(CallError, match=str(status)) as caught:
        run_call(Call, authored("front-desk"), [f"refuse:status={status}"])
    assert ("key" in str(caught.value)) is advice


def test_no_key_is_a_message_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DIALOG_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    with pytest.raises(CallError, match="DIALOG_API_KEY"):
        run_call(Call, authored("front-desk"), headers={})
