"""Positions in the caller's audio against time."""

import pytest

from simrt.cassette.header import Word
from simrt.replay.live_timeline import PLACE, SLOT, TURN, Timeline, by_window, window_ms

MS = 1000


def filled(*appends: tuple[int, int], **run: int) -> Timeline:
    """(length, moment) of each append, in ms."""
    timeline = Timeline(**{name: ms * MS for name, ms in run.items()})
    for length, moment in appends:
        timeline.add(length * MS, moment * MS)
    return timeline


def test_a_position_is_reached_with_the_append_that_holds_it() -> None:
    timeline = filled((20, 100), (20, 120))
    assert [timeline.when(ms * MS) for ms in (0, 20, 21, 40)] == [100 * MS, 100 * MS, 120 * MS, 120 * MS]
    assert timeline.when(41 * MS) is None


def test_a_burst_is_listened_to_in_real_time() -> None:
    timeline = filled((20, 100), (1000, 120))
    assert timeline.when(520 * MS) == pytest.approx(620 * MS, abs=20 * MS)
    assert timeline.when(1020 * MS) == 1100 * MS


def test_late_audio_moves_what_it_holds() -> None:
    assert filled((20, 100), (20, 900)).when(40 * MS) == 900 * MS


def test_nothing_moves_without_audio() -> None:
    timeline = filled((20, 100))
    assert timeline.position(100_000 * MS) == 20 * MS
    assert timeline.next_due() is None


def test_waits_come_in_order_of_position_and_rank() -> None:
    timeline = filled()
    order: list[str] = []
    for position, rank, name in ((40, SLOT, "slot"), (40, TURN, "turn"), (20, SLOT, "first"), (40, PLACE, "place")):
        timeline.wait(position * MS, rank, lambda at, name=name: order.append(f"{name}@{at // MS}"))  # type: ignore[misc]
    timeline.add(40 * MS, 100 * MS)
    timeline.advance(100 * MS)
    assert order == ["first@20", "turn@40", "place@40", "slot@40"]


def test_a_wait_for_the_future_stays() -> None:
    timeline = filled((20, 100))
    seen: list[int] = []
    timeline.wait(21 * MS, SLOT, seen.append)
    timeline.advance(100 * MS)
    assert seen == []
    timeline.add(20 * MS, 150 * MS)
    timeline.advance(150 * MS)
    assert seen == [21 * MS]


def test_a_timeline_may_go_on_by_itself_for_a_while() -> None:
    timeline = filled((20, 100), (20, 120), run_from_us=40, run_us=500)
    assert timeline.position(320 * MS) == 240 * MS
    assert timeline.when(240 * MS) == 320 * MS
    assert timeline.position(9999 * MS) == 540 * MS
    assert timeline.when(541 * MS) is None


def test_it_goes_on_only_when_all_the_audio_is_there() -> None:
    assert filled((20, 100), run_from_us=40, run_us=500).position(9999 * MS) == 20 * MS


def test_more_audio_overtakes_it() -> None:
    timeline = filled((40, 100), (1000, 120), run_from_us=40, run_us=500)
    assert timeline.position(120 * MS) == 1040 * MS


def test_it_wakes_for_what_waits_on_its_way() -> None:
    timeline = filled((40, 100), run_from_us=40, run_us=500)
    timeline.wait(140 * MS, SLOT, lambda at: None)
    assert timeline.next_due() == 200 * MS
    timeline.advance(200 * MS)
    timeline.wait(900 * MS, SLOT, lambda at: None)
    assert timeline.next_due() is None


def test_windows_lie_on_a_grid() -> None:
    assert [window_ms(ms * MS) for ms in (0, 199, 200, 5430)] == [(0, 200), (0, 200), (200, 400), (5400, 5600)]


def test_words_that_end_in_one_window_are_told_together() -> None:
    words = [Word("of", 10, 60), Word("the", 70, 200), Word("staging", 210, 390), Word("area", 500, 610)]
    assert by_window(words) == [("of the", 10, 200), ("staging", 210, 390), ("area", 500, 610)]
