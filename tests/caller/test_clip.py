import json
import sys
import types
from pathlib import Path

import numpy as np
import pytest
import soundfile

from simrt.audio import resample
from simrt.caller import Clip, ClipError, fixture_clip, load_clip
from simrt.cassette.header import Word

from .loops import noise


def tone(ms: float, rate: int, hz: float = 440.0) -> np.ndarray:
    return (8000 * np.sin(2 * np.pi * hz * np.arange(round(ms * rate / 1000)) / rate)).astype(np.int16)


FIXTURES = sorted((Path(__file__).parents[2] / "fixtures").glob("*/*.flac"))


@pytest.mark.parametrize("path", FIXTURES, ids=lambda path: path.stem)
def test_the_clips_of_this_project_are_whole(path: Path) -> None:
    clip = load_clip(path)
    times = [time for word in clip.words for time in (word.start_ms, word.end_ms)]
    assert times == sorted(times)
    assert 0 < times[-1] <= clip.duration_ms + 50
    assert clip.text.split() == [word.text for word in clip.words]


@pytest.mark.parametrize("suffix", ["wav", "flac"])
def test_sixteen_bit_samples_are_kept_exactly(tmp_path: Path, suffix: str) -> None:
    samples = noise(250)
    samples[:2] = [-32768, 32767]
    soundfile.write(tmp_path / f"hum.{suffix}", samples, 24000)
    clip = load_clip(tmp_path / f"hum.{suffix}")
    assert np.array_equal(clip.samples, samples)
    assert (clip.name, clip.text, clip.words, clip.duration_ms) == ("hum", "", [], 250.0)


def test_any_rate_and_channels_become_24_khz_mono(tmp_path: Path) -> None:
    left, right = tone(500, 44100), tone(500, 44100, 660)
    soundfile.write(tmp_path / "two.wav", np.stack([left, right], axis=1), 44100)
    clip = load_clip(tmp_path / "two.wav")
    mono = resample(((left.astype(int) + right) / 2).astype(np.int16), 44100, 24000)
    assert clip.duration_ms == 500.0
    assert np.abs(clip.samples.astype(int) - mono).max() <= 4


def test_float_files_are_scaled(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "f.wav", noise(100).astype(np.float32) / 32768, 24000, subtype="FLOAT")
    assert np.array_equal(load_clip(tmp_path / "f.wav").samples, noise(100))


def test_words_come_from_the_json_beside_it(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "hi.flac", noise(900), 24000)
    beside = {"text": "Hi, yes.", "voice": "any", "words": [["Hi,", 20, 300], ["yes.", 420, 880]]}
    (tmp_path / "hi.json").write_text(json.dumps(beside))
    clip = load_clip(tmp_path / "hi.flac")
    assert clip.text == "Hi, yes."
    assert clip.words == [Word("Hi,", 20, 300), Word("yes.", 420, 880)]


def test_broken_json_is_named(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "hi.wav", noise(100), 24000)
    (tmp_path / "hi.json").write_text('{"words": [["Hi", "soon", 3]]}')
    with pytest.raises(ClipError, match=r"hi\.json.*words.*start_ms"):
        load_clip(tmp_path / "hi.wav")


def test_a_missing_file_lists_what_is_there(tmp_path: Path) -> None:
    soundfile.write(tmp_path / "booking.wav", noise(100), 24000)
    with pytest.raises(ClipError, match=r"no audio file .*boking\.wav; in that folder: booking\.wav"):
        load_clip(tmp_path / "boking.wav")


def test_what_is_no_audio_says_so(tmp_path: Path) -> None:
    (tmp_path / "notes.wav").write_text("not audio at all")
    with pytest.raises(ClipError, match=r"notes\.wav cannot be read as audio.*convert it"):
        load_clip(tmp_path / "notes.wav")


def test_resampling_to_the_line_is_done_once() -> None:
    clip = Clip.from_samples(tone(300, 16000), 16000, name="tone", text="ooo")
    assert clip.duration_ms == 300.0
    assert clip.duration_us == 300_000
    assert len(clip.at_rate(8000)) == 2400
    assert clip.at_rate(8000) is clip.at_rate(8000)
    assert clip.at_rate(24000) is clip.samples


def test_samples_cannot_be_changed_by_whoever_uses_the_clip() -> None:
    mine = noise(10)
    clip = Clip("hum", mine)
    with pytest.raises(ValueError, match="read-only"):
        clip.samples[0] = 1
    mine[0] = 1


@pytest.fixture
def shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fixtures of our own in place of those shipped."""
    module = types.ModuleType("simrt.shipped")
    module.folder = lambda name: tmp_path / name  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "simrt.shipped", module)
    monkeypatch.setattr("simrt.shipped", module, raising=False)
    for role, names in (("caller", ["booking", "mm-hmm"]), ("agent", ["goodbye"]), ("background", ["news"])):
        (tmp_path / "fixtures" / role).mkdir(parents=True)
        for name in names:
            soundfile.write(tmp_path / "fixtures" / role / f"{name}.flac", noise(100), 24000)
    fixture_clip.cache_clear()
    yield tmp_path  # type: ignore[misc]
    fixture_clip.cache_clear()


def test_fixture_clips_are_found_by_name_and_read_once(shipped: Path) -> None:
    assert fixture_clip("booking").duration_ms == 100.0
    assert fixture_clip("goodbye").name == "goodbye"
    assert fixture_clip("news").name == "news"
    assert fixture_clip("booking") is fixture_clip("booking")


def test_an_unknown_fixture_lists_those_there_are(shipped: Path) -> None:
    with pytest.raises(ClipError, match=r"'boking'.*caller: booking, mm-hmm; agent: goodbye; background: news"):
        fixture_clip("boking")
