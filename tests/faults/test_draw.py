"""What faults let a search draw of them."""

import random

import pytest

from simrt.errors import PlanError
from simrt.explore.space import Space, space_of
from simrt.faults import FAULTS, check_plan, parse_fault
from simrt.faults.base import Fault
from simrt.faults.draw import HARMS, Draw, Moment, ladder

CASSETTES = ("front-desk", "refund", "talk-over")


class Made:
    """Choices at random, as many as are asked for, or those that are given."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng

    def index(self, count: int, first: list[int]) -> int:
        assert count > 1
        assert all(0 <= one < count for one in first)
        return self.rng.randrange(count)


@pytest.mark.parametrize("cassette", CASSETTES)
@pytest.mark.parametrize("kind", FAULTS.values(), ids=FAULTS)
def test_what_is_drawn_can_fire_can_be_written_and_is_graded(kind: type[Fault], cassette: str) -> None:
    space = space_of(cassette)
    rng = random.Random(f"{kind.name} {cassette}")
    for _ in range(40):
        fault = space.fault(kind, Made(rng).index)
        if fault is not None:
            check_plan([fault], space.score)
            assert parse_fault(str(fault)) == fault
            assert fault.harm() in HARMS


@pytest.mark.parametrize("kind", FAULTS.values(), ids=FAULTS)
def test_the_same_choices_mean_the_same_fault(kind: type[Fault]) -> None:
    space = space_of("front-desk")
    for _, drawn in zip(range(30), space.in_order(kind), strict=False):
        assert space.redraw(kind, drawn.choices) == drawn


def test_a_fault_that_says_nothing_is_drawn_with_its_defaults() -> None:
    class Plain(Fault, frozen=True):
        size: int = 3

    drawn = list(space_of("front-desk").in_order(Plain))
    assert [one.fault for one in drawn] == [Plain(3)]
    assert drawn[0].fault.harm() == "legal"


def draws(space: Space, *choices: int) -> Draw:
    given = iter(choices)
    return Draw(space.score, space.moments, lambda count, first: next(given))


def test_rounds_are_round_and_keep_to_their_ends() -> None:
    assert ladder(100, 700) == [100, 150, 200, 300, 500, 700]
    assert ladder(0, 2) == [0, 1, 2]


def test_options_go_from_simple_to_unkind() -> None:
    space = space_of("front-desk")
    assert draws(space, 0).ms(100, 700) == 100
    assert draws(space, 0).reply() == -1
    assert [draws(space, n).place(-1) for n in (0, 1)] == [0, 1000]
    assert draws(space, 1, 0).event("session.created", "response.done") == ("response.done", -1)


def test_places_lie_in_the_reply_and_near_the_edges_of_its_audio() -> None:
    space = space_of("front-desk")
    places: list[int] = []
    draw = Draw(space.score, space.moments, lambda count, first: places.append(count) or 0)
    draw.place(-1)
    every = {draws(space, n).place(-1) for n in range(places[0])}
    assert {0, 280, 300, 320, 500} <= every
    assert max(every) < 4900


def test_a_trigger_is_an_event_or_a_place() -> None:
    moments = [Moment("a", event="response.done", nth=2), Moment("b", reply=1, at_ms=300)]
    score = space_of("front-desk").score
    assert Draw(score, moments, lambda count, first: 0).trigger() == {"event": "response.done", "nth": 2}
    assert Draw(score, moments, lambda count, first: 1).trigger() == {"reply": 1, "at": 300}


def test_there_must_be_something_to_choose() -> None:
    space = space_of("front-desk")
    for ask in (lambda d: d.pick(()), lambda d: d.event("no.such"), lambda d: Draw(space.score, (), d.pick).moment()):
        with pytest.raises(PlanError):
            ask(draws(space))
