import pytest

from simrt import run_call
from tests.zoo.clients_losing import Reconnecting
from tests.zoo.scripts import cassette

from .runs import fired, plain, refused, times, with_fault


@pytest.mark.parametrize(
    ("when", "moment"),
    [
        ("at=3s", lambda: 3000.0),
        ("reply=1,at=1500ms", lambda: times(plain(), reply=1)[7]),
        ("event=session.updated", lambda: times(plain(), "session.updated")[0]),
    ],
)
def test_the_server_closes_at_its_moment(when: str, moment: object) -> None:
    call = with_fault(f"close:{when},code=1008,reason=policy")
    assert call.end is not None
    ms, end = call.end
    assert (end.code, end.reason, end.reset) == (1008, "policy", False)
    assert ms == moment()  # type: ignore[operator]
    assert fired(call)[0][0] == ms
    # behind an event: that one is out; at audio: what lies before it
    assert [got.kind for got in call.got] == [got.kind for got in plain().got[: len(call.got)]]
    assert call.got[-1].ms <= ms
    assert call.session.ended_it
    assert call.session.final_verdict().unplayed != []


def test_after_the_end_nothing_is_due() -> None:
    call = with_fault("close:at=3s")
    assert call.session.next_due() is None
    assert call.session.ended


@pytest.mark.parametrize("code", [999, 1004, 1005, 1006, 1015, 2000, 5000, -1])
def test_a_code_that_may_not_stand_in_a_close_frame_is_told(code: int) -> None:
    assert "is no code for a close frame; use reset" in refused(f"close:at=3s,code={code}")


@pytest.mark.parametrize("code", [1000, 1001, 1011, 1013, 3000, 4999])
def test_the_codes_that_may(code: int) -> None:
    end = with_fault(f"close:event=session.created,code={code}").end
    assert end is not None
    assert end[1].code == code


@pytest.mark.parametrize(("fault", "connections"), [("close:at=2s", 2), ("close:at=2s,times=3", 4), ("reset:at=2s", 2)])
def test_whoever_connects_again_is_let_on(fault: str, connections: int) -> None:
    result = run_call(Reconnecting, cassette("lookup"), [fault])
    assert len(result.traces) == connections
    assert result.verdict.unfired == []
