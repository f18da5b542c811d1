"""Where there is speech in a Live session, and which transcript deltas belong together."""

import base64

import numpy as np
import pytest

from simrt.stretches import GAP_MS, QUIET_PEAK, Utterances, is_live, place, quiet_frames
from simrt.trace import Frame, Opening, Trace

from .live_traces import LOUD, SILENT, heard, said, spoken, trace


def quiet(pattern: str) -> list[int]:
    """The silent ones of deltas that are loud (x) or silent (.), 100 ms each."""
    sent = [heard(100 * n, LOUD if letter == "x" else SILENT) for n, letter in enumerate(pattern)]
    return sorted(quiet_frames(trace(*sent), "live"))


@pytest.mark.parametrize(
    ("pattern", "silent"),
    [
        ("", []),
        ("...", [0, 1, 2]),
        (".x..", [0, 2, 3]),
        ("x...x", []),
        ("x....x", [1, 2, 3, 4]),
        (".x...x....x.", [0, 6, 7, 8, 9, 11]),
    ],
)
def test_a_breath_is_no_silence(pattern: str, silent: list[int]) -> None:
    assert quiet(pattern) == silent


def test_each_side_has_its_own_silence() -> None:
    sent = [each for n in range(8) for each in (spoken(100 * n), heard(100 * n + 1, LOUD if n == 3 else SILENT))]
    assert quiet_frames(trace(*sent), "live") == set(range(16)) - {7}


def test_the_hiss_of_a_codec_is_silence() -> None:
    hiss = np.full(2400, QUIET_PEAK, "<i2").tobytes()
    murmur = np.full(2400, -QUIET_PEAK - 1, "<i2").tobytes()
    assert quiet_frames(trace(heard(0, hiss), heard(1, murmur)), "live") == {0}


def test_silence_is_known_in_the_format_in_force() -> None:
    start = {"type": "session.start", "session": {"audio": {"format": {"type": "audio/pcmu", "rate": 8000}}}}
    silence, sound = base64.b64encode(b"\xff" * 160).decode(), base64.b64encode(b"\x10" * 160).decode()
    sent = [
        (n, "client", {"type": "session.input_audio.append", "audio": audio}) for n, audio in ((1, silence), (2, sound))
    ]
    assert quiet_frames(trace((0, "client", start), *sent), "live") == {1}  # type: ignore[arg-type]


def test_what_is_no_audio_is_not_silent_either() -> None:
    frames = [Frame(0, "client", b"\0\0"), Frame(1, "client", "no json")]
    appends = [{"type": "session.input_audio.append", "audio": audio} for audio in ("AAA", 5, None)]
    odd = trace(*((n, "client", event) for n, event in enumerate(appends)), (4, "server", {"type": "info"}))
    assert quiet_frames(Trace(frames=[*frames, *odd.frames]), "live") == set()


def opens(*sent: object) -> list[bool]:
    utterances = Utterances()
    return [utterances.opens(event) for _, _, event in sent]  # type: ignore[misc]


def test_an_utterance_ends_where_its_side_is_silent_for_long() -> None:
    assert opens(
        said(1, "Okay,", 4800, 5000),
        said(2, " checking", 5200, 5400),
        said(3, "What?", 9000, 9200, "input"),
        said(4, " now.", 5600, 5800),
        said(5, "It", 5800 + GAP_MS, 7000),
        said(6, " is", 7000 + GAP_MS - 1, 8000),
        said(7, " then", 9200, 9400, "input"),
    ) == [True, False, True, False, True, False, False]


def test_other_events_open_no_utterance() -> None:
    assert opens(heard(1), (2, "server", {"type": "session.output_transcript.delta", "delta": "x"})) == [False, False]


def test_places() -> None:
    assert place({"start_ms": 600, "end_ms": 800}) == (600, 800)
    assert place({"start_ms": 600}) is None
    assert place({"start_ms": None, "end_ms": None}) is None


@pytest.mark.parametrize(
    ("url", "live"),
    [("/v1/live/sessions", True), ("wss://h/v1/live/sessions?a=1", True), ("/v1/realtime", False), ("", False)],
)
def test_live_is_known_by_its_url(url: str, live: bool) -> None:
    assert is_live(Trace(Opening(url=url))) is live
