import numpy as np
import pytest

from simrt.audio import ALAW8, PCM24, ULAW8, AudioFormat, resample
from simrt.caller import fixture_clip
from simrt.checks.readings import is_noise, is_speech, other_format

CLIPS = ("booking", "nothing-else", "goodbye", "found-booking", "refund-request", "long-hello")


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("format", [PCM24, AudioFormat("pcm16", 16000), ULAW8, ALAW8])
def test_speech_in_its_own_format_is_left_alone(clip: str, format: AudioFormat) -> None:
    data = format.encode(fixture_clip(clip).at_rate(format.rate))
    assert other_format(data, format) is None
    assert not is_noise(data, format)
    assert is_speech(data, format)


def test_a_moment_of_it_is_too_little_to_tell() -> None:
    assert not is_speech(PCM24.encode(fixture_clip("goodbye").samples)[:4000], PCM24)


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize(("real", "agreed"), [(ULAW8, PCM24), (ALAW8, PCM24), (PCM24, ULAW8), (PCM24, ALAW8)])
def test_speech_in_another_format_is_told(clip: str, real: AudioFormat, agreed: AudioFormat) -> None:
    data = real.encode(fixture_clip(clip).at_rate(real.rate))
    told = other_format(data, agreed)
    assert told is not None
    assert (told.encoding == "pcm16") == (real.encoding == "pcm16")


@pytest.mark.parametrize("clip", CLIPS)
@pytest.mark.parametrize("line", [PCM24, AudioFormat("pcm16", 16000)])
@pytest.mark.parametrize(("real", "taken_for"), [(ULAW8, ULAW8), (PCM24, ULAW8), (PCM24, ALAW8)])
def test_what_was_brought_to_a_higher_rate(
    clip: str, line: AudioFormat, real: AudioFormat, taken_for: AudioFormat
) -> None:
    wire = real.encode(fixture_clip(clip).at_rate(real.rate))
    played = line.encode(resample(taken_for.decode(wire), taken_for.rate, line.rate))
    assert is_noise(played, line) == (real != taken_for)


@pytest.mark.parametrize("data", [b"", b"\0", b"\0" * 50_000, b"\xff" * 50_000, b"\xd5" * 50_000])
@pytest.mark.parametrize("agreed", [PCM24, ULAW8, ALAW8])
def test_silence_is_in_no_format(data: bytes, agreed: AudioFormat) -> None:
    assert other_format(data, agreed) is None
    assert not is_noise(data, agreed)


def test_noise_is_noise_in_every_reading() -> None:
    data = np.random.default_rng(1).integers(-20000, 20000, 20_000).astype(np.int16).tobytes()
    assert is_noise(data, PCM24)
    assert other_format(data, PCM24) is None
