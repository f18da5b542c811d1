from .runs import fired, plain, refused, times, with_fault


def test_that_one_event_comes_twice_in_a_row() -> None:
    call = with_fault("duplicate:event=response.function_call_arguments.done,nth=0")
    kinds = [got.kind for got in call.got]
    k = kinds.index("response.function_call_arguments.done")
    assert call.got[k].send.payload == call.got[k + 1].send.payload
    del kinds[k]
    assert kinds == [got.kind for got in plain().got]
    assert fired(call) == [(call.got[k].ms, "duplicate:event=response.function_call_arguments.done,nth=0")]


def test_or_again_a_little_later() -> None:
    call = with_fault("duplicate:event=response.done,nth=-1,after=250ms")
    assert times(call, "response.done")[-2:] == [times(plain(), "response.done")[-1] + more for more in (0, 250)]
    assert fired(call)[0][0] == times(call, "response.done")[-1]


def test_repeated_audio_is_heard_again_but_ends_the_reply_once() -> None:
    call = with_fault("duplicate:event=response.output_audio.delta,nth=-1")
    assert [length for reply, _, length in call.ear.audio if reply == 1][-2:] == [200, 200]
    assert [reply for reply, _, _ in call.ear.ended] == [0, 1]


def test_no_such_event_can_never_fire() -> None:
    assert "nth=7 is not there" in refused("duplicate:nth=7")
