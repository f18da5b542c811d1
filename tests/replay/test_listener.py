"""What the server's ear makes of what arrives: real speech, whole, cut, converted, loud and soft."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
import soundfile

from simrt.audio import ALAW8, PCM24, ULAW8, AudioFormat, Samples, resample
from simrt.caller.clip import fixture_clip
from simrt.replay.listener import Listener, Match, Utterance, thin

from .hand import frames, samples_of, silence

PCM16 = AudioFormat("pcm16", 16000)
CLIPS = ("booking", "nothing-else", "one-more-thing", "thats-all", "long-hello", "mm-hmm")


def utterance(clip: str, home_us: int | None = None) -> Utterance:
    said = fixture_clip(clip)
    return Utterance(clip, said.samples, said.words, home_us)


class Heard:
    """A listener that has been fed."""

    def __init__(self, *clips: str | Utterance) -> None:
        self.ear = Listener([clip if isinstance(clip, Utterance) else utterance(clip) for clip in clips])
        self.matches: list[Match] = []
        self.now_us = 0

    def feed(self, samples: Samples, fmt: AudioFormat = PCM24, *, read_as: AudioFormat | None = None) -> "Heard":
        """24 kHz samples, sent in 20 ms frames of `fmt`, and taken for `read_as` by the server."""
        data = fmt.encode(resample(samples, 24000, fmt.rate))
        for frame in frames(data, fmt):
            self.now_us += 20_000
            self.matches.extend(self.ear.feed(frame, read_as or fmt, self.now_us))
        return self

    @property
    def match(self) -> Match:
        (found,) = self.matches
        return found

    def lost(self) -> list[str]:
        """The words that did not arrive."""
        there = self.ear.words_of(self.match)
        return [word.text for word, ok in zip(self.match.utterance.words, there, strict=True) if not ok]


def spoken(clip: str, lead_ms: float = 500, tail_ms: float = 900) -> Samples:
    return np.concatenate([silence(lead_ms), samples_of(clip), silence(tail_ms)])


def at(samples: Samples, ms: float) -> int:
    return round(ms * 24)


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("fmt", [PCM24, PCM16, ULAW8, ALAW8], ids=["pcm24", "pcm16", "ulaw8", "alaw8"])
def test_knows_each_clip_among_the_others_in_every_format(clip: str, fmt: AudioFormat) -> None:
    heard = Heard(*CLIPS).feed(spoken(clip), fmt)
    assert heard.match.utterance.key == clip
    assert abs(heard.match.offset_us - 500_000) <= 1_000
    assert heard.lost() == []


@pytest.mark.parametrize(
    ("from_word", "to_word"), [(0, 1), (0, 5), (4, 8), (2, 3), (11, 12), (7, 12)], ids=lambda value: str(value)
)
def test_words_that_were_cut_out_are_lost_and_no_others(from_word: int, to_word: int) -> None:
    words = fixture_clip("booking").words
    samples = spoken("booking").copy()
    first = at(samples, 500 + words[from_word].start_ms) if from_word else 0
    last = at(samples, 500 + words[to_word - 1].end_ms) if to_word < len(words) else len(samples)
    samples[first:last] = 0
    heard = Heard(*CLIPS).feed(samples)
    assert heard.match.utterance.key == "booking"
    assert heard.lost() == [word.text for word in words[from_word:to_word]]


@pytest.mark.parametrize("fmt", [PCM24, ULAW8], ids=["pcm24", "ulaw8"])
def test_audio_that_was_never_sent_loses_its_words_and_moves_the_rest(fmt: AudioFormat) -> None:
    """A client that drops its first frames: the buffer has no gap, it begins later in the clip."""
    words = fixture_clip("booking").words
    gone = (words[1].end_ms + words[2].start_ms) // 2 if words[1].end_ms < words[2].start_ms else words[1].end_ms
    samples = spoken("booking", lead_ms=0)[at(samples_of("booking"), gone) :]
    heard = Heard(*CLIPS).feed(samples, fmt)
    assert heard.lost() == [word.text for word in words[:2]]
    assert abs(heard.match.offset_us + gone * 1000) <= 1_000


def test_audio_dropped_from_the_middle_is_found_to_go_on_earlier() -> None:
    words = fixture_clip("booking").words
    samples = spoken("booking")
    cut = np.concatenate(
        [samples[: at(samples, 500 + words[5].start_ms)], samples[at(samples, 500 + words[6].end_ms) :]]
    )
    assert Heard(*CLIPS).feed(cut).lost() == [words[5].text, words[6].text]


@pytest.mark.parametrize("gain", [0.25, 0.1])
def test_a_soft_voice_is_still_heard_whole(gain: float) -> None:
    soft = (spoken("booking").astype(np.float32) * gain).astype(np.int16)
    assert Heard(*CLIPS).feed(soft).lost() == []


def test_twelve_db_down_and_in_noise_is_still_recognised() -> None:
    rng = np.random.default_rng(1)
    samples = spoken("booking").astype(np.float32) * 0.25
    level = float(
        np.sqrt(np.mean(np.square(samples[at(samples_of("booking"), 500) : -at(samples_of("booking"), 900)])))
    )
    noisy = (samples + rng.normal(0, level / 4, len(samples))).astype(np.int16)
    heard = Heard(*CLIPS).feed(noisy)
    assert heard.match.utterance.key == "booking"
    assert abs(heard.match.offset_us - 500_000) <= 1_000
    assert len(heard.lost()) <= 1


def other_speech(recordings: Path) -> list[Path]:
    return sorted((recordings / "speech").rglob("*.wav"))


def test_other_peoples_speech_matches_nothing(recordings: Path) -> None:
    files = other_speech(recordings)
    assert len(files) == 10
    for file in files:
        samples, rate = soundfile.read(file, dtype="int16")
        heard = Heard(*CLIPS).feed(np.concatenate([resample(samples, rate, 24000), silence(900)]))
        assert heard.matches == [], file


@pytest.mark.parametrize("clip", ["found-booking", "goodbye", "breakfast", "checking"])
def test_the_agents_speech_matches_nothing(clip: str) -> None:
    assert Heard(*CLIPS).feed(spoken(clip)).matches == []


@pytest.mark.parametrize("clip", CLIPS)
def test_mu_law_misread_as_pcm_matches_nothing(clip: str) -> None:
    assert Heard(*CLIPS).feed(spoken(clip), ULAW8, read_as=PCM24).matches == []


def test_silence_matches_nothing() -> None:
    assert Heard(*CLIPS).feed(silence(5000)).matches == []


def test_noise_matches_nothing() -> None:
    noise = np.random.default_rng(2).normal(0, 3000, 24000 * 5).astype(np.int16)
    assert Heard(*CLIPS).feed(noise).matches == []


def test_a_clip_is_heard_once() -> None:
    heard = Heard("booking", "thats-all").feed(spoken("booking")).feed(spoken("booking")).feed(spoken("thats-all"))
    assert [match.utterance.key for match in heard.matches] == ["booking", "thats-all"]


def test_two_clips_one_after_the_other_are_both_placed() -> None:
    first, second = samples_of("thats-all"), samples_of("nothing-else")
    gap = silence(450)
    heard = Heard("thats-all", "nothing-else").feed(np.concatenate([gap, first, gap, second, silence(900)]))
    assert [match.utterance.key for match in heard.matches] == ["thats-all", "nothing-else"]
    wanted = [450_000, (len(first) + 2 * len(gap)) * 1_000_000 // 24000]
    found = [match.offset_us for match in heard.matches]
    assert max(abs(a - b) for a, b in zip(found, wanted, strict=True)) <= 1_000


def test_the_formats_may_change_in_the_middle() -> None:
    samples = spoken("booking")
    half = at(samples, 1500)
    heard = Heard(*CLIPS).feed(samples[:half], PCM24).feed(samples[half:], ULAW8)
    assert heard.lost() == []


@pytest.mark.parametrize("size", [96, 960, 4802, 48_000, 10_000_000])
def test_frame_sizes_do_not_matter(size: int) -> None:
    data = PCM24.encode(np.concatenate([spoken("booking"), spoken("thats-all")]))
    ear = Listener([utterance(clip) for clip in CLIPS])
    matches = [match for k in range(0, len(data), size) for match in ear.feed(data[k : k + size], PCM24, 0)]
    assert [match.utterance.key for match in matches] == ["booking", "thats-all"]
    assert all(all(ear.words_of(match)) for match in matches)


def test_odd_bytes_do_not_shift_what_follows() -> None:
    ear = Listener([utterance(clip) for clip in CLIPS])
    matches = [
        match
        for frame in frames(PCM24.encode(spoken("booking")), PCM24)
        for match in ear.feed(frame + b"\x55", PCM24, 0)
    ]
    assert [match.utterance.key for match in matches] == ["booking"]
    assert ear.words_of(matches[0]) == [True] * 12


def test_a_clip_in_its_recorded_place_is_placed_exactly() -> None:
    heard = Heard(utterance("booking", home_us=500_417)).feed(spoken("booking", lead_ms=500.4))
    assert heard.match.offset_us == 500_417


def test_what_was_cleared_is_not_recognised_later() -> None:
    heard = Heard("booking")
    heard.feed(samples_of("booking")[: at(samples_of("booking"), 50)])
    heard.ear.forget()
    heard.feed(silence(2000))
    assert heard.matches == []


@pytest.mark.parametrize("rate", [8000, 16000, 24000, 44100])
def test_thin_brings_any_rate_to_8_khz(rate: int) -> None:
    tone = np.round(8000 * np.sin(2 * np.pi * 440 * np.arange(rate) / rate)).astype(np.int16)
    thinned = thin(tone, rate)
    assert len(thinned) == 8000
    spectrum = np.abs(np.fft.rfft(thinned))
    assert int(np.argmax(spectrum)) == 440


def test_window_gives_what_arrived_between_two_positions() -> None:
    heard = Heard("booking").feed(spoken("booking"))
    ear = heard.ear
    whole = ear.window(0, ear.arrivals.total_us)
    for first, last in ((0, 20_000), (510_000, 777_000), (1_234_000, 3_000_000)):
        part = ear.window(first, last)
        expected: Sequence[float] = whole[first // 125 : last // 125].tolist()
        assert len(part) == (last - first) // 125
        np.testing.assert_allclose(part[2:-2], expected[2:-2], atol=1.0)
    assert len(ear.window(ear.arrivals.total_us + 1_000_000, ear.arrivals.total_us + 2_000_000)) == 0
    assert np.all(ear.window(-100_000, 100_000)[:800] == 0)
