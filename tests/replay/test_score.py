from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simrt.replay.score import OPEN, Arrivals, ScoredFrame, control_kind, index_answers


def arrived(*appends: tuple[int, int]) -> Arrivals:
    """Appends as (µs of audio, µs of time)."""
    made = Arrivals()
    for duration_us, now_us in appends:
        made.add(duration_us, now_us)
    return made


@pytest.mark.parametrize(
    ("position_us", "when_us"),
    [
        (0, 1000),
        (1, 1000),
        (20_000, 1000),
        (20_001, 2000),
        (40_000, 2000),
        (40_001, 9000),
        (60_000, 9000),
        (60_001, None),
    ],
)
def test_a_position_arrives_with_the_append_that_reaches_it(position_us: int, when_us: int | None) -> None:
    assert arrived((20_000, 1000), (20_000, 2000), (20_000, 9000)).when(position_us) == when_us


def test_nothing_has_arrived_yet() -> None:
    assert arrived().when(0) is None
    assert arrived().total_us == 0


@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 10**9)), max_size=30), st.integers(0, 10**7))
def test_the_index_is_that_of_the_first_append_that_reaches_it(
    appends: list[tuple[int, int]], position_us: int
) -> None:
    made = arrived(*appends)
    totals = [sum(d for d, _ in appends[: k + 1]) for k in range(len(appends))]
    expected = next((k for k, total in enumerate(totals) if total >= position_us), None)
    assert made.index(position_us) == expected
    assert made.when(position_us) == (None if expected is None else appends[expected][1])


@pytest.mark.parametrize(
    ("event", "kind"),
    [
        ({"type": "response.create"}, "response.create"),
        (
            {"type": "conversation.item.create", "item": {"type": "function_call_output"}},
            "conversation.item.create:function_call_output",
        ),
        ({"type": "conversation.item.create", "item": {"type": "message"}}, "conversation.item.create:message"),
        ({"type": "conversation.item.create", "item": "text"}, "conversation.item.create:None"),
        ({"type": "conversation.item.create"}, "conversation.item.create:None"),
        ({}, "None"),
    ],
)
def test_control_kinds(event: dict[str, Any], kind: str) -> None:
    assert control_kind(event) == kind


def test_frames_are_indexed_by_cause_and_counted_by_kind() -> None:
    def frame(index: int, kind: str, cause: tuple[str, int]) -> ScoredFrame:
        return ScoredFrame(index, "", None, kind, cause, 0)

    frames = [frame(0, "a", OPEN), frame(1, "b", ("x", 0)), frame(2, "a", ("x", 0)), frame(3, "a", ("x", 1))]
    answers = index_answers(frames)
    assert {cause: [f.index for f in some] for cause, some in answers.items()} == {
        OPEN: [0],
        ("x", 0): [1, 2],
        ("x", 1): [3],
    }
    assert [f.nth for f in frames] == [0, 0, 1, 2]


@pytest.mark.parametrize(
    ("position_us", "spoken_us"), [(0, 80_000), (5_000, 85_000), (20_000, 100_000), (25_000, 205_000), (40_001, None)]
)
def test_a_sound_was_made_before_the_rest_of_its_append(position_us: int, spoken_us: int | None) -> None:
    assert arrived((20_000, 100_000), (20_000, 220_000)).spoken(position_us) == spoken_us
