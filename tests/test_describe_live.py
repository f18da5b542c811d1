"""A Live call as text."""

import re

from simrt.describe import call_text
from simrt.result import CallResult

from .live_traces import LOUD, Sent, acked, append, created, failed, heard, said, spoken, trace
from .test_describe import make


def result(*sent: Sent) -> CallResult:
    return make(traces=[trace(*sent)])


def rows(*sent: Sent) -> list[str]:
    """What happened."""
    text = call_text(result(*sent)).partition("timeline\n")[2].partition("verdict\n")[0]
    return [row.split(maxsplit=2)[2] for row in text.splitlines()[1:] if row.strip()]


def section(name: str, *sent: Sent) -> list[str]:
    found = re.search(rf"^{name}\n((?:  .*\n)+)", call_text(result(*sent)), re.MULTILINE)
    return [] if found is None else [line.removeprefix("  ") for line in found[1].splitlines()]


def test_the_agents_speech_is_a_line_a_stretch_and_all_silence_is_one() -> None:
    track = [heard(100 * n, LOUD if letter == "x" else bytes(4800)) for n, letter in enumerate("..xxx....xx.")]
    found = [re.sub(r"#\w+", "#", row) for row in rows(*track)]
    assert found == [
        "session.output_audio.delta silence 700 ms # ×7 over 1100 ms",
        "session.output_audio.delta 300 ms # ×3 over 200 ms",
        "session.output_audio.delta 200 ms # ×2 over 100 ms",
    ]


def test_positions_in_audio_deltas_do_not_part_them() -> None:
    track = [heard(100 * n, LOUD) for n in range(3)]
    for n, (_, _, event) in enumerate(track):
        event |= {"start_ms": 100 * n, "end_ms": 100 * n + 100}
    (row,) = rows(*track)
    assert row.startswith("session.output_audio.delta 300 ms")


def test_the_callers_audio_is_one_line() -> None:
    (row,) = rows(*(spoken(100 * n, LOUD if n % 9 == 4 else bytes(4800)) for n in range(30)))
    assert row.startswith("session.input_audio.append 3000 ms #")


def test_an_utterance_is_a_line_with_its_place_on_the_timeline() -> None:
    assert rows(
        said(1000, "Okay,", 4800, 5000),
        said(1200, " now.", 5600, 5800),
        said(1300, "Where", 6000, 6200, "input"),
        said(3000, "Staging", 6800, 7000),
    ) == [
        'session.output_transcript.delta at 4800–5800 ms "Okay, now." ×2 over 200 ms',
        "session.input_transcript.delta at 6000–6200 ms Where ×1 over 0 ms",
        "session.output_transcript.delta at 6800–7000 ms Staging ×1 over 0 ms",
    ]


def test_delegations_and_their_outcomes_have_a_section() -> None:
    assert section(
        "delegations",
        append(5, "instructions", "Be brief."),
        created(1000, "item_1", 900),
        append(1100, "thinking", "Checking.", "item_1"),
        created(1200, "item_2", 1100),
        append(1300, "commentary", "It arrives tomorrow.", "item_1"),
        acked(1900, "thinking", 1200),
        acked(2100, "commentary", 1400),
        failed(2500, "context_injection_incomplete"),
    ) == [
        "delegation-1  at 900 ms  answered",
        '  thinking        1110 ms  placed at 1200–1400 ms, 800 ms later  "Checking."',
        '  commentary      1310 ms  placed at 1400–1600 ms, 800 ms later  "It arrives tomorrow."',
        "delegation-2  at 1100 ms  never answered",
        "without a delegation",
        '  instructions      15 ms  not placed: context_injection_incomplete  "Be brief."',
    ]


def test_a_realtime_call_has_no_such_section() -> None:
    assert "delegations" not in call_text(make())
    assert section("delegations", heard(1)) == ["none"]


def test_delegations_are_named_alike_everywhere() -> None:
    found = rows(created(1, "item_77", 0), append(2, "commentary", "x", "item_77"))
    assert "delegation={id: delegation-1," in found[0]
    assert found[1] == "session.commentary.append delegation-1 content=x"


def test_the_seconds_used_are_shown_and_tokens_are_not() -> None:
    usage = {"type": "session.usage.updated", "usage": {"seconds": 15}}
    assert rows((1, "server", usage)) == ["session.usage.updated usage={seconds: 15}"]
    tokens = {"type": "response.done", "usage": {"total_tokens": 15}}
    timed = {"type": "x.completed", "usage": {"type": "duration", "seconds": 3.9}}
    assert rows((1, "server", tokens), (2, "server", timed)) == ["response.done", "x.completed"]


def test_the_timeline_is_without_audio_and_deltas() -> None:
    call = result(heard(1), spoken(2), said(3, "Hi", 0, 200), created(4, "item_1", 0))
    assert [row.what for row in call.timeline] == ["session.delegation.created"]
