import pytest

from simrt.faults import Stall, parse_fault

from .runs import fired, plain, refused, times, with_fault


def test_audio_behind_the_place_comes_later_and_the_rest_as_before() -> None:
    call = with_fault("stall:reply=-1,at=1500ms,for=500ms")
    before, after = times(plain(), reply=1), times(call, reply=1)
    late = [b - a for a, b in zip(before, after, strict=True)]
    # 300 ms, then 200 ms a piece: the 8th begins at 1500 ms
    assert late == [0] * 7 + [500] * (len(late) - 7)
    assert times(call, reply=0) == times(plain(), reply=0)


def test_what_closes_the_reply_waits_too() -> None:
    call = with_fault("stall:reply=-1,at=1500ms,for=500ms")
    for kind in ("response.output_audio.done", "response.done"):
        assert times(call, kind)[-1] == times(plain(), kind)[-1] + 500
    assert (
        call.of("response.function_call_arguments.done")[-1].ms
        == times(plain(), "response.function_call_arguments.done")[-1]
    )


def test_a_piece_that_holds_the_place_still_comes() -> None:
    call = with_fault("stall:reply=-1,at=1600ms,for=500ms")
    late = [b - a for a, b in zip(times(plain(), reply=1), times(call, reply=1), strict=True)]
    assert late == [0] * 8 + [500] * (len(late) - 8)


def test_at_0_the_reply_begins_later() -> None:
    call = with_fault("stall:reply=0,for=1s")
    assert times(call, reply=0) == [t + 1000 for t in times(plain(), reply=0)]


def test_the_mark_stands_where_the_silence_begins() -> None:
    ((ms, name),) = fired(with_fault("stall:reply=-1,at=1500ms,for=500ms"))
    assert name == "stall:at=1500ms"
    assert ms == times(plain(), reply=1)[7]


def test_two_stalls_add_up() -> None:
    call = with_fault("stall:at=1500ms,for=500ms", "stall:at=2500ms,for=300ms")
    late = [b - a for a, b in zip(times(plain(), reply=1), times(call, reply=1), strict=True)]
    assert late == [0] * 7 + [500] * 5 + [800] * (len(late) - 12)
    assert len(fired(call)) == 2


@pytest.mark.parametrize("fault", ["stall:reply=2", "stall:reply=-3", "stall:at=4900ms", "stall:reply=0,at=9s"])
def test_a_place_that_is_not_there_can_never_fire(fault: str) -> None:
    assert "can never fire" in refused(fault)


def test_the_reply_that_never_comes_leaves_it_unfired() -> None:
    from .runs import front_desk, whole_call

    call = whole_call(front_desk(), ["stall:reply=0,at=1s"])
    assert call.session.final_verdict().unfired == []
    from tests.replay.hand import Call, update

    silent = update(Call(front_desk(), ["stall:reply=0,at=1s"]), 70).run()
    assert silent.session.final_verdict().unfired == ["stall:reply=0,at=1000ms"]


def test_the_compact_form() -> None:
    assert parse_fault("stall:reply=-1,at=1500ms,for=500ms") == Stall(reply=-1, at=1500, for_=500)
    assert parse_fault("stall: at = 1.5s , for=2s") == Stall(at=1500, for_=2000)
