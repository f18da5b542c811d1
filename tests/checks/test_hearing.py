from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from clients.call import DrainCall
from simrt import run_call
from simrt.checks import Case
from simrt.checks.hearing import gaps, overlap, united
from tests.checks.rules.calling import result_of
from tests.checks.rules.small import Event, Small

stretches = st.lists(st.tuples(st.integers(0, 100), st.integers(0, 30)).map(lambda pair: (pair[0], sum(pair))))


@given(stretches)
def test_united_covers_the_same_and_lies_apart(some: list[tuple[int, int]]) -> None:
    made = united(some)
    assert {t for low, high in made for t in range(low, high)} == {t for low, high in some for t in range(low, high)}
    assert all(one[1] < two[0] for one, two in pairwise(made))


@given(stretches, st.integers(0, 60), st.integers(0, 80))
def test_gaps_are_what_is_not_covered(some: list[tuple[int, int]], start: int, length: int) -> None:
    end = start + length
    free = {t for low, high in gaps(united(some), start, end) for t in range(low, high)}
    covered = {t for low, high in some for t in range(low, high)}
    assert free == set(range(start, end)) - covered
    assert overlap(united(some), start, end) == length - len(free)


def test_small_gaps_may_be_closed() -> None:
    assert united([(0, 10), (12, 20), (30, 40)], gap_us=2) == [(0, 20), (30, 40)]


class Twice(Small):
    """Plays the first piece of each item twice."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.begun: set[str] = set()

    def play(self, event: Event) -> None:
        super().play(event)
        if event["item_id"] not in self.begun:
            self.begun.add(event["item_id"])
            super().play(event)


def test_what_is_played_again_is_known_for_what_it_is() -> None:
    case = Case.of_result(result_of(Twice, "front-desk"))
    assert case.hearing is not None
    again = [heard for heard in case.hearing.heard if heard.kind == "again"]
    assert [(heard.from_us, heard.to_us) for heard in again] == [(0, 300_000), (0, 300_000)]
    item = next(item for response in case.responses for item in response.items if item.audio_us)
    assert case.hearing.heard_us(item) == item.audio_us
    assert [heard.kind for heard in case.hearing.of(item)].count("again") == 1


def test_each_heard_part_knows_when_it_had_come() -> None:
    case = Case.of_result(run_call(DrainCall, "front-desk"))
    assert case.hearing is not None
    for heard in case.hearing.heard:
        assert heard.piece is not None
        assert heard.sent_us is not None
        assert abs(heard.sent_us - heard.piece.t_us) < 1000
        assert heard.sent_us <= heard.start_us


def test_a_row_of_items_has_one_place_for_each() -> None:
    case = Case.of_result(result_of(Small, "front-desk", "second-item:reply=0,at=4s"))
    assert case.hearing is not None
    response = next(r for r in case.responses if sum(item.audio_us > 0 for item in r.items) == 2)
    assert case.hearing.ranges(response) == [(0, response.audio_us)]
