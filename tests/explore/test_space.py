"""The plans that a search draws."""

import random
from itertools import islice

import pytest

from simrt.explore.space import HARMS, Space, rank, space_of, worst_of
from simrt.faults import Close, ErrorEvent, Stall, parse_plan
from simrt.replay.score import Score
from simrt.trace import Opening

FRONT = "front-desk"


def test_the_classes_take_turns_and_the_harmless_ones_come_first() -> None:
    space = space_of(FRONT)
    first = list(islice(space.singles(), len(space.kinds)))
    assert [type(drawn.fault) for drawn in first] == space.kinds
    harms = [rank(drawn.fault.harm()) for drawn in first]
    assert harms == sorted(harms)
    assert {"legal", "survivable", "fatal"} == {HARMS[harm] for harm in harms}


def test_no_single_fault_comes_twice_and_they_come_to_an_end() -> None:
    every = list(space_of(FRONT).singles())
    assert len({drawn.fault for drawn in every}) == len(every) > 500


def test_another_cassette_begins_with_other_classes() -> None:
    space = space_of(FRONT)
    (first,) = islice(space.singles(start=3), 1)
    assert type(first.fault) is space.kinds[3]


def test_the_stall_in_the_goodbye_is_among_the_first() -> None:
    stalls = (drawn.fault for drawn in space_of(FRONT).in_order(Stall))
    assert any(s.reply == -1 and 1000 < s.at < 4000 for s in islice(stalls, 2) if isinstance(s, Stall))


def test_swarms_are_drawn_by_their_seed() -> None:
    space = space_of(FRONT)
    plans = [space.swarm(random.Random(seed)) for seed in range(60)]
    assert plans == [space.swarm(random.Random(seed)) for seed in range(60)]
    assert len({tuple(str(drawn.fault) for drawn in plan) for plan in plans}) > 55
    assert {len(plan) for plan in plans} >= {1, 2, 3, 4}
    for plan in plans:
        kinds = [type(drawn.fault) for drawn in plan]
        assert len(set(kinds)) == len(kinds)


@pytest.mark.parametrize(
    ("faults", "fit"),
    [
        (["speaks-on:turn=1", "stall"], True),
        (["barge-in:reply=0", "barge-in"], True),
        (["background", "barge-in"], True),
        (["fail", "speaks-on:turn=1"], False),  # nothing of the reply is left to speak on before
        (["late-audio:at=280ms", "barge-in"], False),  # two callers at the same place
        (["bandwidth", "oversize"], False),
    ],
)
def test_what_can_come_together(faults: list[str], fit: bool) -> None:
    assert space_of(FRONT).together(*parse_plan(faults)) is fit


def test_swarms_can_come_together() -> None:
    space = space_of(FRONT)
    for seed in range(60):
        assert space.together(*(drawn.fault for drawn in space.swarm(random.Random(seed))))


def test_half_of_the_swarms_are_legal_throughout() -> None:
    space = space_of(FRONT)
    worst = [worst_of([drawn.fault for drawn in space.swarm(random.Random(seed))]) for seed in range(300)]
    assert worst.count("legal") > 150
    assert 0 < worst.count("fatal") < 30


def test_the_worst_fault_says_how_bad_a_plan_is() -> None:
    assert worst_of([]) == "legal"
    assert worst_of([Stall(), ErrorEvent(at=1)]) == "survivable"
    assert worst_of([Close(at=1), Stall()]) == "fatal"


def test_what_makes_no_sense_for_a_cassette_is_left_out() -> None:
    space = Space(Score("realtime", "openai", Opening(), [], {}))
    assert Stall not in space.kinds
    assert Space(space.score).swarm(random.Random(0)) is not None


def test_choices_that_are_too_high_or_too_few_mean_something_all_the_same() -> None:
    space = space_of(FRONT)
    drawn = space.redraw(Stall, (99, 0, 99))
    assert drawn is not None
    assert drawn.choices[0] == 1
    assert space.redraw(Stall, ()) == space.redraw(Stall, (0, 0, 0))
