"""Whether the demo's calls came out as they should; each wrong outcome must be found."""

from collections.abc import Callable

import msgspec
import pytest

from simrt.cassette.header import Word
from simrt.cli.demo_judge import Played, judge, remark
from simrt.cli.headline import Headline

TEXT = "Hi, yes, I'm calling about my booking"
WORDS = [Word(text, 300 * k + 30, 300 * k + 225) for k, text in enumerate(TEXT.split())]


def played(client: str, stalled: bool, ready_ms: float = 260.0) -> Played:
    """A call as it should be."""
    lost = sum(word.start_ms < ready_ms for word in WORDS) if client == "NaiveCall" else 0
    heard_ms = 1045.0 if client == "NaiveCall" else 1500.0 if client == "DrainCall" and stalled else 3000.0
    rest = " ".join(word.text for word in WORDS[lost:])
    head = Headline(ready_ms, len(WORDS), lost, 3000.0, heard_ms)
    return Played(client, stalled, head, rest[:1].upper() + rest[1:], "", "client closed")


def all_right(ready_ms: float = 260.0) -> list[Played]:
    return [played(name, stalled, ready_ms) for name in ("Call", "NaiveCall", "DrainCall") for stalled in (False, True)]


@pytest.mark.parametrize("ready_ms", [150.0, 260.0, 310.0, 490.0, 640.0, 1300.0])
def test_the_known_outcomes_are_right_however_late_the_session_was_ready(ready_ms: float) -> None:
    assert judge(all_right(ready_ms), WORDS) == []


def altered(call: int, **head: float | None) -> Callable[[list[Played]], None]:
    def alter(calls: list[Played]) -> None:
        calls[call] = msgspec.structs.replace(calls[call], head=msgspec.structs.replace(calls[call].head, **head))

    return alter


@pytest.mark.parametrize(
    ("alter", "found"),
    [
        (altered(0, words_lost=1), "Call without a stall: lost 1 of 7 words at the start, none should be lost"),
        (altered(1, goodbye_heard_ms=2900.0), "Call with the stall: played 2.90 of 3.00 s"),
        (altered(1, goodbye_heard_ms=None), "Call with the stall: there was no goodbye"),
        (altered(2, words_lost=0), "NaiveCall without a stall: lost 0 of 7 words at the start; ready 0.26 s"),
        (altered(3, words_lost=4), "NaiveCall with the stall: lost 4 of 7 words"),
        (altered(2, ready_ms=None), "NaiveCall without a stall: its session was never ready"),
        (altered(2, goodbye_heard_ms=3000.0), "NaiveCall without a stall: played 3.00 of 3.00 s"),
        (altered(3, goodbye_heard_ms=200.0), "NaiveCall with the stall: played 0.20"),
        (altered(4, goodbye_heard_ms=1500.0), "DrainCall without a stall: played 1.50 of 3.00 s"),
        (altered(5, goodbye_heard_ms=3000.0), "DrainCall with the stall: played 3.00 of 3.00 s"),
        (altered(5, words_lost=None), "DrainCall with the stall: lost None"),
    ],
)  # fmt: skip
def test_each_wrong_outcome_is_named(alter: Callable[[list[Played]], None], found: str) -> None:
    calls = all_right()
    alter(calls)
    wrong = judge(calls, WORDS)
    assert len(wrong) == 1
    assert wrong[0].startswith(found)


def test_a_transcript_that_begins_elsewhere_is_wrong() -> None:
    calls = all_right()
    calls[2] = msgspec.structs.replace(calls[2], heard=TEXT)
    assert judge(calls, WORDS) == [
        f"NaiveCall without a stall: the agent heard {TEXT!r}, it should have heard {TEXT.casefold()[4:]!r}"
    ]


def test_a_call_that_failed_is_told_as_it_failed() -> None:
    calls = all_right()
    calls[0] = Played("Call", False, Headline(), "", "", "no call", "the client raised ValueError: x")
    assert judge(calls, WORDS) == ["Call without a stall: the client raised ValueError: x"]


def test_more_than_one_lost_word_is_explained() -> None:
    assert remark(all_right(260.0), WORDS) is None
    told = remark(all_right(640.0), WORDS)
    assert told is not None
    assert "ready 0.64 s after pickup" in told
    assert "Hi, yes, I'm" in told
