import pytest

from .runs import fired, plain, times, with_fault


def test_to_the_client_every_frame_is_that_much_later() -> None:
    call = with_fault("latency:add=80ms,to=client")
    assert times(call, "session.created") == [140]
    # the client reacts to what it sees, so the rest moves with its answers; the turns do not
    assert (
        times(call, "input_audio_buffer.speech_started")[0]
        == times(plain(), "input_audio_buffer.speech_started")[0] + 80
    )


def test_to_the_server_what_the_client_says_arrives_later() -> None:
    call = with_fault("latency:add=80ms,to=server")
    assert times(call, "session.created") == times(plain(), "session.created")
    for kind in ("session.updated", "input_audio_buffer.speech_started"):
        assert times(call, kind)[0] == times(plain(), kind)[0] + 80
    assert call.session.final_verdict().clean


def test_both_ways_add_up() -> None:
    call = with_fault("latency:add=80ms")
    assert times(call, "session.updated")[0] == times(plain(), "session.updated")[0] + 160
    assert fired(call)[0][1] == "latency:add=80ms"


def test_jitter_keeps_the_order_and_stays_within_its_bounds() -> None:
    call = with_fault("latency:add=20ms,jitter=150ms,to=client")
    assert times(call) == sorted(times(call))
    late = [
        b - a
        for a, b in zip(
            times(plain(), "response.output_audio.delta"), times(call, "response.output_audio.delta"), strict=True
        )
    ]
    assert min(late) >= 20
    assert len({round(x, 3) for x in late}) > 10
    first = times(call, "session.created")[0] - times(plain(), "session.created")[0]
    assert 20 <= first <= 170


@pytest.mark.parametrize("to", ["both", "client", "server"])
def test_the_same_seed_the_same_call_and_another_another(to: str) -> None:
    fault = f"latency:add=0ms,jitter=60ms,to={to}"
    first = with_fault(fault, seed=7).rows()
    assert with_fault(fault, seed=7).rows() == first
    assert with_fault(fault, seed=8).rows() != first


def test_without_jitter_the_seed_does_not_matter() -> None:
    assert with_fault("latency", seed=7).rows() == with_fault("latency", seed=8).rows()


def test_two_faults_draw_from_generators_of_their_own() -> None:
    both = with_fault("latency:add=0ms,jitter=60ms,to=client", "stall:at=1s", seed=7)
    alone = with_fault("latency:add=0ms,jitter=60ms,to=client", seed=7)
    kind = "input_audio_buffer.speech_started"
    assert times(both, kind) == times(alone, kind)
