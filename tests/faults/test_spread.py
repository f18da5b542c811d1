from functools import cache

import pytest

from clients.call import Call
from simrt import run_call, shipped
from simrt.measure import cut_latencies
from simrt.replay.build import score_of
from simrt.replay.score import Score
from tests.replay.hand import Call as Server
from tests.replay.hand import reply, samples_of, small, turn, update

from .runs import fired, front_desk, plain, times, with_fault

UPDATED = "session.updated"
SEEDS = range(40)


@cache
def talked_over() -> Score:
    """The caller talks into the one reply that there is."""
    return small([turn("booking"), reply("goodbye"), turn("one-more-thing", "reply[0].heard+500ms")], "polyai")


def cut_after_ms(*faults: str, seed: int = 0) -> float:
    """How long after the caller's first sound the reply is cut off."""
    call = update(Server(talked_over(), faults, seed), 60)
    first, second = samples_of("booking"), samples_of("one-more-thing")
    said_ms = 300 + len(first) / 24 + 2000
    call.say(300, first, tail_ms=said_ms - 300 - len(first) / 24)
    call.say(said_ms, second, tail_ms=2000)
    call.run()
    done = next(got for got in call.of("response.done") if got.event["response"]["status"] == "cancelled")
    return done.ms - said_ms - talked_over().turns[1].onset_us / 1000


def test_the_session_is_ready_later_within_the_bounds() -> None:
    base = times(plain(), UPDATED)[0]
    late = [times(with_fault("spread:ready=2s,think=0ms", seed=seed), UPDATED)[0] - base for seed in range(6)]
    assert all(0 <= ms <= 2000 for ms in late)
    assert max(late) - min(late) > 500


def test_all_of_a_reply_is_as_much_later_and_each_reply_differently() -> None:
    call = with_fault("spread:ready=0ms,think=400ms", seed=1)
    shifts = []
    for number in (0, 1):
        before, after = times(plain(), reply=number), times(call, reply=number)
        late = {round(b - a, 3) for a, b in zip(before, after, strict=True)}
        assert len(late) == 1
        shifts.append(late.pop())
    assert shifts[0] != shifts[1]
    assert 0 <= shifts[1] <= 400
    assert 0 <= shifts[0] <= 800  # the look-up before it is a reply too


def test_nothing_to_spread_leaves_the_call_alone_and_never_fires() -> None:
    call = with_fault("spread:ready=0ms,think=0ms,cut=0ms", seed=5)
    assert call.rows() == plain().rows()
    assert call.session.final_verdict().unfired == ["spread:ready=0ms,think=0ms,cut=0ms"]
    assert cut_after_ms("spread:ready=0ms,think=0ms,cut=0ms") == cut_after_ms()


def test_it_is_noted_in_the_trace() -> None:
    assert [fault for _, fault in fired(with_fault("spread", seed=2))] == ["spread"]


def test_a_cut_lies_around_the_median_as_live() -> None:
    assert cut_after_ms() == pytest.approx(760, abs=1)
    cuts = [cut_after_ms("spread:ready=0ms,think=0ms", seed=seed) for seed in SEEDS]
    assert all(739 <= ms <= 791 for ms in cuts)
    assert max(cuts) - min(cuts) > 30


def test_a_cut_that_was_recorded_moves_as_little() -> None:
    path = shipped.cassette("talk-over")
    score = score_of(path)
    (base,) = cut_latencies(run_call(Call, path), score)
    cuts = [cut_latencies(run_call(Call, path, ["spread"], seed=seed), score)[0] - base for seed in range(6)]
    assert all(-41 <= ms <= 51 for ms in cuts)  # the caller's frames are 20 ms long
    assert max(cuts) - min(cuts) > 10


def test_the_score_that_many_calls_share_stays_as_it_is() -> None:
    before = [turn.cut_us for turn in talked_over().turns]
    cut_after_ms("spread", seed=3)
    assert [turn.cut_us for turn in talked_over().turns] == before
    assert [turn.cut_us for turn in front_desk().turns] == [760_000, 760_000]


def test_the_same_seed_the_same_call_and_another_another() -> None:
    first = with_fault("spread", seed=7).rows()
    assert with_fault("spread", seed=7).rows() == first
    assert with_fault("spread", seed=8).rows() != first
