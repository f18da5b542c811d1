"""Shrinking: what is left of a plan, and how many calls it takes."""

import random
from collections.abc import Callable, Iterable

from simrt.explore.shrink import Shrinker, faults_of
from simrt.explore.space import Drawn, space_of
from simrt.faults import BargeIn, Fault, Latency, Stall

SPACE = space_of("front-desk")
Faults = tuple[Fault, ...]


def shrunk(plan: Iterable[Drawn], fails: Callable[[Faults], bool], most: int = 200) -> tuple[list[str], int]:
    asked: list[Faults] = []

    def ask(faults: Faults) -> bool:
        asked.append(faults)
        return fails(faults)

    made = Shrinker(SPACE, ask, most).shrink(tuple(plan))
    assert len(asked) == len(set(asked)), "a plan was called twice"
    return [str(fault) for fault in faults_of(made)], len(asked)


def some(fits: Callable[[Faults], bool], seed: int = 0) -> tuple[Drawn, ...]:
    """The first swarm that fails."""
    rng = random.Random(seed)
    while True:
        plan = SPACE.swarm(rng)
        if len(plan) > 3 and fits(faults_of(plan)):
            return plan


def long_stall(faults: Faults) -> bool:
    return any(isinstance(f, Stall) and f.for_ >= 300 and f.at >= 900 for f in faults)


def test_one_fault_of_many_is_left_with_round_values() -> None:
    for seed in range(5):
        plan, calls = shrunk(some(long_stall, seed), long_stall)
        assert plan == ["stall:at=1000ms,for=300ms"]
        assert calls < 40


def test_what_takes_two_faults_keeps_two() -> None:
    def both(faults: Faults) -> bool:
        return long_stall(faults) and any(isinstance(f, Latency) and f.add >= 100 for f in faults)

    plan, _ = shrunk(some(both), both)
    assert sorted(plan) == ["latency", "stall:at=1000ms,for=300ms"]


def test_what_fails_by_itself_needs_no_plan() -> None:
    assert shrunk(some(long_stall), lambda faults: True) == ([], 1)


def test_there_is_a_limit_to_the_calls() -> None:
    plan = some(long_stall)
    before = [str(fault) for fault in faults_of(plan)]
    assert shrunk(plan, long_stall, most=0) == (before, 0)
    assert shrunk(plan, long_stall, most=3)[1] == 3


def test_a_place_that_matters_stays() -> None:
    drawn = next(d for d in SPACE.in_order(BargeIn) if isinstance(d.fault, BargeIn) and d.fault.at == 720)

    def exactly(faults: Faults) -> bool:
        return any(isinstance(f, BargeIn) and f.at == 720 for f in faults)

    plan, _ = shrunk((drawn,), exactly)
    assert plan == ["barge-in:at=720ms,answer=breakfast"]
