import pytest

from clients.call import Call
from simrt.call import run_call

from .runs import fired, plain, refused, times, with_fault


@pytest.mark.parametrize("within", [0, 100, 300])
def test_the_whole_reply_is_there_in_no_time(within: int) -> None:
    call = with_fault(f"burst:reply=-1,within={within}ms")
    first = times(plain(), reply=1)[0]
    assert times(call, reply=1)[0] == first
    assert times(call, reply=1)[-1] <= first + within
    assert first <= times(call, "response.done")[-1] <= first + within
    assert sum(length for reply, _, length in call.ear.audio if reply == 1) == 4900
    assert times(call, reply=0) == times(plain(), reply=0)


def test_the_order_of_the_reply_is_kept() -> None:
    call = with_fault("burst:reply=0")
    mine = [got.event["event_id"] for got in call.got if got.send.reply == 0]
    assert mine == [got.event["event_id"] for got in plain().got if got.send.reply == 0]


def test_the_mark_is_set_when_the_first_frame_comes_early() -> None:
    call = with_fault("burst:reply=-1")
    ((ms, name),) = fired(call)
    assert name == "burst"
    assert times(plain(), reply=1)[0] <= ms <= times(plain(), reply=1)[0] + 300


def test_no_such_reply_can_never_fire() -> None:
    assert "2 replies with audio, so reply=2 is not there" in refused("burst:reply=2")


def test_a_reply_that_another_fault_has_moved_does_not_come_before_what_brings_it() -> None:
    result = run_call(Call, "front-desk", ["burst:within=0ms", "speaks-on:turn=1"])
    kinds = [event["type"] for frame in result.trace.sent_by("server") if (event := frame.event()) is not None]
    last_stop = len(kinds) - kinds[::-1].index("input_audio_buffer.speech_stopped")
    assert kinds.index("response.created", last_stop)
    assert not result.replies[-1].cut_off


def test_two_bursts_of_one_reply_are_one() -> None:
    twice = run_call(Call, "front-desk", ["burst:within=0ms", "burst:within=300ms"])
    once = run_call(Call, "front-desk", "burst:within=0ms")
    assert twice.replies[-1].from_ms == once.replies[-1].from_ms
    assert twice.findings == []
