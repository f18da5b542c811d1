import pytest

from tests.replay.hand import Call, update

from .runs import fired, front_desk, plain, refused, times, with_fault


def test_a_frame_takes_as_long_as_its_bytes_need() -> None:
    call = with_fault("bandwidth:kbps=8,to=client")  # one byte takes one ms
    created = call.one("session.created")
    assert created.ms == plain().one("session.created").ms + len(created.send.payload) + 8
    updated = call.one("session.updated")
    assert updated.ms - created.ms == len(updated.send.payload) + 8


def test_the_order_is_kept_and_nothing_is_lost() -> None:
    call = with_fault("bandwidth:kbps=600")
    assert sorted(call.kinds()) == sorted(plain().kinds())
    for reply in (0, 1):
        late = [b - a for a, b in zip(times(plain(), reply=reply), times(call, reply=reply), strict=True)]
        assert min(late) > 0
    assert fired(call)[0][1] == "bandwidth:kbps=600"


def test_the_other_way_the_client_is_late() -> None:
    call = update(Call(front_desk(), ["bandwidth:kbps=8,to=server"]), 70).run()
    assert call.one("session.created").ms == plain().one("session.created").ms
    size = len('{"type":"session.update","session":{"type":"realtime"}}')
    assert call.one("session.updated").ms == plain().one("session.updated").ms + size + 8


@pytest.mark.parametrize("kbps", [0, -5])
def test_a_line_carries_something(kbps: int) -> None:
    assert "a line carries something" in refused(f"bandwidth:kbps={kbps}")
