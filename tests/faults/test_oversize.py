import pytest

from .runs import fired, plain, refused, with_fault

DELTA = "response.output_audio.delta"


def test_that_event_is_so_long_and_says_the_same() -> None:
    call = with_fault("oversize")
    first = call.of(DELTA)[0]
    assert len(first.send.payload) == 1_200_000
    want = plain().of(DELTA)[0].event
    assert {key: value for key, value in first.event.items() if key != "obfuscation"} == want
    assert len(call.of(DELTA)[1].send.payload) < 100_000
    assert fired(call) == [(first.ms, "oversize")]


def test_its_audio_is_heard() -> None:
    assert with_fault("oversize").ear.audio == plain().ear.audio


@pytest.mark.parametrize("fault", ["oversize:event=nothing", "oversize:size=0", "oversize:size=100000000"])
def test_what_cannot_be_is_refused(fault: str) -> None:
    assert refused(fault)
