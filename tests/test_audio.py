import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simrt.audio import ALAW8, PCM24, ULAW8, AudioFormat, Samples, resample, rms_dbfs

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    audioop = pytest.importorskip("audioop", reason="audioop-lts is not installed")

FORMATS = [PCM24, AudioFormat("pcm16", 16000), ULAW8, ALAW8]
ids = [f"{fmt.encoding}-{fmt.rate}" for fmt in FORMATS]
ALL = np.arange(-32768, 32768, dtype=np.int32).astype(np.int16)
CODES = bytes(range(256))


def test_mu_law_decodes_as_g711_says() -> None:
    assert ULAW8.decode(CODES).tolist() == np.frombuffer(audioop.ulaw2lin(CODES, 2), "<i2").tolist()


def test_a_law_decodes_as_g711_says() -> None:
    assert ALAW8.decode(CODES).tolist() == np.frombuffer(audioop.alaw2lin(CODES, 2), "<i2").tolist()


@pytest.mark.parametrize("fmt", [ULAW8, ALAW8], ids=["ulaw", "alaw"])
def test_g711_encodes_to_the_nearest_value(fmt: AudioFormat) -> None:
    values = np.sort(fmt.decode(CODES).astype(np.int32))
    error = np.abs(fmt.decode(fmt.encode(ALL)).astype(np.int32) - ALL)
    nearest = np.min(np.abs(values[None, :] - ALL.astype(np.int32)[:, None]), axis=1)
    assert error.tolist() == nearest.tolist()


def test_rounding_is_the_same_on_both_sides_of_zero() -> None:
    for fmt in (ULAW8, ALAW8):
        above = fmt.decode(fmt.encode(ALL[ALL > 0]))
        below = fmt.decode(fmt.encode((-ALL[ALL > 0].astype(np.int32)).astype(np.int16)))
        assert (above == -below).all()


@pytest.mark.parametrize("fmt", [ULAW8, ALAW8], ids=["ulaw", "alaw"])
def test_every_code_comes_back(fmt: AudioFormat) -> None:
    back = fmt.encode(fmt.decode(CODES))
    differ = [code for code in range(256) if back[code] != code]
    # μ-law has two zeros; silence is made of 0xFF
    assert differ == ([0x7F] if fmt == ULAW8 else [])


@pytest.mark.parametrize("fmt", FORMATS, ids=ids)
def test_silence_is_silent_and_as_long_as_asked(fmt: AudioFormat) -> None:
    quiet = fmt.silence(20)
    assert len(quiet) == fmt.rate // 50 * fmt.width
    assert int(np.abs(fmt.decode(quiet).astype(int)).max()) <= (8 if fmt == ALAW8 else 0)
    assert fmt.decode(fmt.encode(np.zeros(5, np.int16))).tolist() == fmt.decode(fmt.silence(1))[:5].tolist()


@given(st.binary(max_size=200))
def test_pcm_comes_back_byte_for_byte_but_for_an_odd_end(data: bytes) -> None:
    assert PCM24.encode(PCM24.decode(data)) == data[: len(data) // 2 * 2]


@pytest.mark.parametrize("fmt", FORMATS, ids=ids)
@given(size=st.integers(0, 10**7))
def test_lengths_and_sizes_agree(fmt: AudioFormat, size: int) -> None:
    us = fmt.duration_us(size)
    assert us == size // fmt.width * 1_000_000 // fmt.rate
    assert fmt.size_of(us / 1000) <= size
    assert size - fmt.size_of(us / 1000) <= 2 * fmt.width


@pytest.mark.parametrize(("fmt", "size"), list(zip(FORMATS, (960, 640, 160, 160), strict=True)), ids=ids)
def test_a_frame_of_20_ms(fmt: AudioFormat, size: int) -> None:
    assert fmt.size_of(20) == size
    assert fmt.duration_us(size) == 20_000
    assert fmt.bytes_per_ms * 20 == size


def test_an_odd_byte_counts_for_nothing() -> None:
    assert PCM24.duration_us(961) == 20_000
    assert len(PCM24.decode(bytes(961))) == 480


def tone(rate: int, hz: int = 440, ms: int = 1000) -> Samples:
    t = np.arange(rate * ms // 1000) / rate
    return np.round(10_000 * np.sin(2 * np.pi * hz * t)).astype(np.int16)


@pytest.mark.parametrize(("was", "now"), [(24000, 8000), (8000, 24000), (24000, 16000), (44100, 24000)])
def test_resampling_keeps_length_pitch_and_level(was: int, now: int) -> None:
    out = resample(tone(was), was, now)
    assert out.dtype == np.int16
    assert abs(len(out) - now) <= 1
    assert int(np.argmax(np.abs(np.fft.rfft(out[:now], now)))) == 440
    assert abs(rms_dbfs(out) - rms_dbfs(tone(was))) < 0.1


def test_resampling_gives_the_same_samples_each_time() -> None:
    samples = np.random.default_rng(1).normal(0, 30, 1320).astype(np.int16)
    kept = []  # what the memory looks like must not matter
    found = set()
    for number in range(60):
        kept.append(np.empty(number * 97 + 1))
        found.add(resample(samples, 24000, 8000).tobytes())
    assert len(found) == 1


def test_resampling_to_the_same_rate_and_of_nothing_changes_nothing() -> None:
    samples = tone(24000, ms=10)
    assert resample(samples, 24000, 24000) is samples
    assert len(resample(samples[:0], 24000, 8000)) == 0


def test_what_8_khz_cannot_hold_is_taken_out() -> None:
    assert rms_dbfs(resample(tone(24000, hz=6000), 24000, 8000)) < -60


@pytest.mark.parametrize(
    ("samples", "dbfs"),
    [
        (np.full(100, -32768, np.int16), 0.0),
        (np.full(100, 16384, np.int16), -6.02),
        (np.zeros(100, np.int16), -120.0),
        (np.zeros(0, np.int16), -120.0),
        (np.array([1, 0] * 50, np.int16), -93.3),
    ],
    ids=["full", "half", "silence", "nothing", "one bit"],
)
def test_levels(samples: Samples, dbfs: float) -> None:
    assert rms_dbfs(samples) == pytest.approx(dbfs, abs=0.05)
