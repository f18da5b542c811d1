"""The voice clips in fixtures/ are what tools/fixtures.toml asks for, and the check would notice if not."""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import soundfile as sf

from tools import make_fixtures as mf

CLIPS = {clip.id: clip for clip in mf.read_script()[0]}
PLAIN = mf.Clip("plain", "agent", "af_heart", "One two.", "wˈʌn tˈu.", max_pause_ms=300)


def speech(*parts_ms: int) -> mf.Audio:
    """Silence and tone in turn, of the given lengths, silence first."""
    rng = np.random.default_rng(1)
    parts = [rng.uniform(-0.4, 0.4, ms * mf.MS) * (i % 2) for i, ms in enumerate(parts_ms)]
    return np.concatenate(parts).astype(np.float32)


def spans(*edges_ms: int) -> list[mf.Span]:
    return [mf.Span(a * mf.MS, b * mf.MS) for a, b in zip(edges_ms[::2], edges_ms[1::2], strict=True)]


def build(clip: mf.Clip, audio: mf.Audio, words: list[mf.Span]) -> tuple[float, list[tuple[float, float]]]:
    """Length in ms and the words' times in ms after settling and cutting."""
    mf.settle(audio, words, clip.pauses or {})
    made, placed = mf.cut(audio, words, clip)
    return len(made) / mf.MS, [(span.start / mf.MS, span.end / mf.MS) for span in placed]


@pytest.mark.parametrize("name", CLIPS)
def test_committed_clip_holds_what_the_script_asks(name: str) -> None:
    assert mf.faults(CLIPS[name]) == []


def test_every_committed_file_is_in_the_script() -> None:
    scripted = {clip.path(suffix) for clip in CLIPS.values() for suffix in (".flac", ".json")}
    assert {path for path in mf.FIXTURES.glob("*/*") if path.is_file()} == scripted


def test_a_listener_from_260_ms_on_misses_exactly_the_first_word_of_the_booking() -> None:
    words = json.loads(CLIPS["booking"].path(".json").read_text(encoding="utf-8"))["words"]
    assert len(words) == 12
    assert [word for word, start, _ in words if start < 260] == ["Hi,"]
    assert words[0][2] <= 240
    assert words[1][1] >= 280


def test_the_background_lies_about_20_db_under_the_caller() -> None:
    levels: dict[str, list[float]] = {}
    for clip in CLIPS.values():
        samples, _ = sf.read(clip.path(".flac"))
        levels.setdefault(clip.role, []).append(20 * np.log10(np.sqrt(np.mean(samples**2))))
    assert np.mean(levels["caller"]) - np.mean(levels["background"]) == pytest.approx(20, abs=2)


def test_check_wants_the_background_as_low_as_the_script() -> None:
    assert any("peak" in fault for fault in mf.faults(replace(CLIPS["news"], below_db=0)))
    assert any("peak" in fault for fault in mf.faults(replace(CLIPS["goodbye"], below_db=CLIPS["news"].below_db)))


def test_check_command_passes_on_the_committed_clips(capsys: pytest.CaptureFixture[str]) -> None:
    assert mf.main(["--check"]) == 0
    assert capsys.readouterr().out.count(": ok\n") == len(CLIPS)


def test_check_command_fails_when_a_clip_is_wrong(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(mf, "faults", lambda clip: ["too loud"] if clip.id == "goodbye" else [])
    assert mf.main(["--check"]) == 1
    assert "agent/goodbye: too loud" in capsys.readouterr().out


def test_unknown_clip_is_named(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        mf.main(["--check", "no-such-clip"])
    assert "no-such-clip" in capsys.readouterr().err


def other_text(facts: dict[str, Any]) -> None:
    facts["text"] = facts["text"].replace("Friday", "Monday")


def other_words(facts: dict[str, Any]) -> None:
    facts["words"].pop()


def overlap(facts: dict[str, Any]) -> None:
    facts["words"][3][1] -= 30


def silent_word(facts: dict[str, Any]) -> None:
    words = facts["words"]
    pause = next(i for i in range(len(words)) if words[i + 1][1] - words[i][2] >= 200)
    words[pause][1:] = [words[pause][2] + 40, words[pause + 1][1] - 40]


def early_start(facts: dict[str, Any]) -> None:
    facts["words"][0][1] = 5


def wrong_duration(facts: dict[str, Any]) -> None:
    facts["duration_ms"] += 1


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (other_text, "text or voice"),
        (other_words, "not those of the text"),
        (overlap, "overlap"),
        (silent_word, "is silent between"),
        (early_start, "speech starts at 5 ms"),
        (wrong_duration, "duration_ms is 4901"),
    ],
)
def test_check_sees_wrong_words(tmp_path: Path, spoil: Callable[[dict[str, Any]], None], said: str) -> None:
    clip = CLIPS["goodbye"]
    shutil.copytree(mf.FIXTURES / clip.role, tmp_path / clip.role)
    facts = json.loads(clip.path(".json", tmp_path).read_text(encoding="utf-8"))
    spoil(facts)
    clip.path(".json", tmp_path).write_text(json.dumps(facts), encoding="utf-8")
    assert any(said in fault for fault in mf.faults(clip, tmp_path))


@pytest.mark.parametrize(
    ("spoil", "said"),
    [
        (lambda pcm: pcm // 2, "peak"),
        (lambda pcm: pcm[: -mf.MS], "lasts 4899.0 ms, not 4900"),
        (lambda pcm: np.where(np.arange(len(pcm)) // mf.MS // 500 == 3, 0, pcm), "a pause of"),
        (lambda pcm: np.roll(pcm, -20 * mf.MS), "speech outside the words"),
    ],
)
def test_check_sees_wrong_sound(tmp_path: Path, spoil: Callable[[Any], Any], said: str) -> None:
    clip = CLIPS["goodbye"]
    shutil.copytree(mf.FIXTURES / clip.role, tmp_path / clip.role)
    pcm, rate = sf.read(clip.path(".flac"), dtype="int16")
    sf.write(clip.path(".flac", tmp_path), spoil(pcm).astype(np.int16), rate, subtype="PCM_16")
    assert any(said in fault for fault in mf.faults(clip, tmp_path))


def test_check_names_a_missing_file(tmp_path: Path) -> None:
    assert any("goodbye.flac" in fault for fault in mf.faults(CLIPS["goodbye"], tmp_path))


def test_silence_at_both_ends_is_cut_and_words_move_to_the_sound() -> None:
    length, words = build(PLAIN, speech(400, 200, 200, 300, 600), spans(420, 580, 820, 1000))
    assert words[0][0] == 30
    assert np.ravel(words) == pytest.approx([30, 230, 430, 730], abs=20)
    assert length == pytest.approx(words[-1][1] + 100, abs=1)


def test_words_without_a_pause_touch_between_their_predicted_edges() -> None:
    _, words = build(PLAIN, speech(400, 500, 600), spans(400, 600, 650, 900))
    assert words[0][1] == words[1][0] == pytest.approx(30 + 225, abs=10)


def test_a_stop_consonant_is_no_pause() -> None:
    _, words = build(PLAIN, speech(400, 200, 50, 250, 600), spans(400, 610, 640, 900))
    assert words[0][1] == words[1][0]


def test_a_long_pause_is_shortened() -> None:
    _, words = build(PLAIN, speech(400, 200, 900, 300, 600), spans(400, 600, 1500, 1800))
    assert words[1][0] - words[0][1] == 300


@pytest.mark.parametrize(
    ("audio", "edges"), [((400, 500), (400, 600, 650, 900)), ((400, 200, 900, 300), (400, 600, 1500, 1800))]
)
def test_a_pause_of_the_script_is_made_to_measure(audio: tuple[int, ...], edges: tuple[int, ...]) -> None:
    _, words = build(replace(PLAIN, pauses={0: 80}), speech(*audio, 600), spans(*edges))
    assert words[1][0] - words[0][1] == 80


def test_a_clip_of_fixed_length_is_padded_at_its_end_only() -> None:
    length, words = build(replace(PLAIN, exact_ms=5000), speech(400, 500, 600), spans(400, 600, 650, 900))
    assert length == 5000
    assert words[0][0] == 30


def test_speech_longer_than_the_fixed_length_is_refused() -> None:
    with pytest.raises(mf.FixtureError, match="plain: the speech lasts"):
        build(replace(PLAIN, exact_ms=500), speech(400, 500, 600), spans(400, 600, 650, 900))


def test_written_clip_reads_back(tmp_path: Path) -> None:
    audio, words = speech(400, 200, 200, 300, 600), spans(420, 580, 820, 1000)
    mf.settle(audio, words, {})
    mf.write(PLAIN, *mf.cut(audio, words, PLAIN), tmp_path)
    assert mf.faults(PLAIN, tmp_path) == []
    assert sf.info(PLAIN.path(".flac", tmp_path)).subtype == "PCM_16"


def test_samples_are_as_coarse_and_as_low_as_the_script_says(tmp_path: Path) -> None:
    clip = replace(PLAIN, step=8, below_db=20)
    audio, words = speech(400, 200, 200, 300, 600), spans(420, 580, 820, 1000)
    mf.settle(audio, words, {})
    mf.write(clip, *mf.cut(audio, words, clip), tmp_path)
    samples, _ = sf.read(clip.path(".flac", tmp_path), dtype="int16")
    assert not np.any(samples % 8)
    assert np.abs(samples).max() == pytest.approx(0.05 * 32768, abs=8)


def test_a_line_whose_phonemes_miss_a_word_is_refused(tmp_path: Path) -> None:
    script = mf.SCRIPT.read_text(encoding="utf-8").replace('"mmhˈʌm."', '"mm hˈʌm."')
    (tmp_path / "script.toml").write_text(script, encoding="utf-8")
    with pytest.raises(mf.FixtureError, match="mm-hmm: 1 words in the text, 2 groups"):
        mf.read_script(tmp_path / "script.toml")
