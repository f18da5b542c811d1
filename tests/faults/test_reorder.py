from simrt.faults.reorder import _FREE
from tests.replay.hand import Call

from .runs import fired, plain, refused, with_fault


def ids(call: Call) -> list[str]:
    return [str(got.event["event_id"]) for got in call.got]


def by_cause(call: Call) -> dict[object, list[str]]:
    """The events that one cause has brought, in order."""
    groups: dict[object, list[str]] = {}
    for got in call.got:
        cause = got.send.frame.cause if got.send.frame is not None else None
        groups.setdefault(cause, []).append(str(got.event["event_id"]))
    return groups


def test_the_same_events_come_in_another_order() -> None:
    call = with_fault("reorder:percent=100")
    assert sorted(ids(call)) == sorted(ids(plain()))
    assert ids(call) != ids(plain())
    assert fired(call)[0][1] == "reorder:percent=100"


def test_only_neighbours_that_have_no_order_change_places() -> None:
    kinds = {str(got.event["event_id"]): got.kind for got in plain().got}
    was, now = by_cause(plain()), by_cause(with_fault("reorder:percent=100"))
    swaps = 0
    for cause, before in was.items():
        after, k = now[cause], 0
        while k < len(before):
            if before[k] == after[k]:
                k += 1
                continue
            assert (before[k], before[k + 1]) == (after[k + 1], after[k])
            assert frozenset((kinds[before[k]], kinds[before[k + 1]])) in _FREE
            k, swaps = k + 2, swaps + 1
    assert swaps > 5


def test_no_event_comes_earlier_than_the_later_of_the_two() -> None:
    was = {got.event["event_id"]: got.ms for got in plain().got}
    assert all(got.ms >= was[got.event["event_id"]] for got in with_fault("reorder:percent=100").got if got.send.audio)


def test_the_seed_says_which() -> None:
    assert ids(with_fault("reorder", seed=1)) == ids(with_fault("reorder", seed=1))
    assert ids(with_fault("reorder", seed=1)) != ids(with_fault("reorder", seed=2))


def test_percent_is_a_share() -> None:
    assert "percent is from 1 to 100" in refused("reorder:percent=0")
