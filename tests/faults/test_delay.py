from clients.call import Call
from simrt.call import run_call

from .runs import fired, plain, refused, times, with_fault


def test_that_one_event_comes_later_and_nothing_waits_for_it() -> None:
    call = with_fault("delay:event=response.done,nth=-1,for=700ms")
    assert times(call, "response.done")[:-1] == times(plain(), "response.done")[:-1]
    assert times(call, "response.done")[-1] == times(plain(), "response.done")[-1] + 700
    assert times(call, "rate_limits.updated") == times(plain(), "rate_limits.updated")
    assert fired(call) == [(times(plain(), "response.done")[-1], "delay:for=700ms")]


def test_the_nth_of_its_kind() -> None:
    call = with_fault("delay:event=response.output_audio.delta,nth=3,for=90ms")
    late = [b - a for a, b in zip(times(plain(), reply=0), times(call, reply=0), strict=True)]
    assert late == [0, 0, 0, 90] + [0] * (len(late) - 4)


def test_what_the_client_does_upon_it_moves_along() -> None:
    call = with_fault("delay:event=response.done,nth=0,for=700ms")
    assert times(call, reply=0) == [t + 700 for t in times(plain(), reply=0)]


def test_no_such_event_can_never_fire() -> None:
    assert "no 'response.finished' event; it has: conversation.item.added" in refused("delay:event=response.finished")
    assert "3 'response.done' events, so nth=3 is not there" in refused("delay:nth=3")
    assert "nth=-4 is not there" in refused("delay:nth=-4")


def test_a_response_that_the_server_begins_waits_for_the_one_before() -> None:
    faults = ["delay:event=response.done,nth=-1,for=5000ms", "barge-in:at=0ms,answer=breakfast"]
    frames = run_call(Call, "front-desk", faults).trace.sent_by("server")
    kinds = [event["type"] for frame in frames if (event := frame.event()) is not None]
    turns = [kind for kind in kinds if kind in ("response.created", "response.done")]
    assert turns == ["response.created", "response.done"] * (len(turns) // 2)
