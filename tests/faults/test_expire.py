import pytest

from .runs import fired, refused, times, with_fault


def test_an_error_and_close_1001() -> None:
    call = with_fault("expire:reply=0,at=1s")
    assert call.errors() == [("session_expired", None)]
    assert call.end is not None
    ms, end = call.end
    assert (end.code, end.reset) == (1001, False)
    assert "maximum duration" in end.reason
    assert ms == call.one("error").ms
    assert fired(call) == [(ms, "expire:at=1000ms,reply=0")]
    assert times(call)[-1] == ms


@pytest.mark.parametrize("fault", ["expire", "expire:reply=9", "expire:event=nothing"])
def test_without_a_moment_it_can_never_fire(fault: str) -> None:
    assert "can never fire" in refused(fault)
