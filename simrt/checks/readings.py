"""What format audio bytes are in, judged by how they sound. Pure.

In speech each sample is much like the one before. Bytes that are read in a format that they are not in become noise:
each sample like none before, and mostly far louder (-5 dBFS) than speech is on a telephone.
"""

import numpy as np
import numpy.typing as npt

from simrt.audio import ALAW8, PCM24, ULAW8, AudioFormat

_NOISE, _SMOOTH, _MARGIN = 0.65, 0.7, 0.3
_LOUD_DBFS, _MARGIN_DB = -9.0, 3.0
_TELEPHONE, _TELEPHONE_NOISE, _TELEPHONE_DBFS = 8000, 0.72, -15.0
_LEAST = 4800  # bytes: 100 ms of 24 kHz PCM16, 600 ms of G.711
_READINGS = (PCM24, ULAW8, ALAW8)
_BLOCK = 960
_QUIET = 60.0


def other_format(data: bytes, agreed: AudioFormat) -> AudioFormat | None:
    """The format that these bytes seem to be in, when that is not the one agreed; None: nothing speaks against it.

    PCM16 and G.711 are told apart, and no rates: those of PCM16 sound alike, only faster or slower.
    """
    heard = _voiced(data, agreed)
    if len(heard) < _LEAST:
        return None
    loudness, alike = _measure(heard, agreed)
    if alike > _NOISE:
        return None
    readings = [(format, *_measure(heard, format)) for format in _READINGS if format.encoding != agreed.encoding]
    good = [
        (quiet, format)
        for format, quiet, smooth in readings
        if quiet < min(loudness - _MARGIN_DB, _LOUD_DBFS) and (smooth > _SMOOTH or smooth > alike + _MARGIN)
    ]
    return min(good, key=lambda reading: reading[0])[1] if good else None


def _voiced(data: bytes, agreed: AudioFormat) -> bytes:
    """The blocks of it that are not silent, in whatever format."""
    whole = len(data) // _BLOCK * _BLOCK
    rest = data[whole : len(data) // 2 * 2]
    formats = {agreed, *_READINGS}
    loud = np.all([_levels(data[:whole], format, _BLOCK) > _QUIET for format in formats], axis=0)
    blocks = [data[number * _BLOCK : (number + 1) * _BLOCK] for number in np.flatnonzero(loud)]
    if rest and all(_levels(rest, format, len(rest))[0] > _QUIET for format in formats):
        blocks.append(rest)
    return b"".join(blocks)


def _levels(data: bytes, format: AudioFormat, size: int) -> npt.NDArray[np.float64]:
    """How loud each block of `size` bytes is."""
    samples = format.decode(data).astype(np.float64)
    return np.asarray(samples.reshape(-1, size // format.width).std(axis=1))


def _measure(data: bytes, format: AudioFormat, step: int = 1) -> tuple[float, float]:
    """How loud in dBFS, and how much each sample is like the one before: 1 a smooth wave, 0 noise. Of `step` samples
    one is looked at."""
    samples = format.decode(data)[:: max(1, step)].astype(np.float64)
    samples -= samples.mean()
    power = float(np.dot(samples, samples))
    if not power:
        return -120.0, 1.0
    loudness = 10 * np.log10(power / len(samples) / 32768.0**2)
    return float(loudness), float(np.dot(samples[1:], samples[:-1])) / power


def is_noise(data: bytes, format: AudioFormat) -> bool:
    """Whether bytes that are not silent are no speech, read in that format.

    Noise that a client has brought from a telephone's rate to a higher one is smooth from one sample to the next; so
    what is loud is looked at in a telephone's rate as well.
    """
    heard = _voiced(data, format)
    if len(heard) < _LEAST:
        return False
    loudness, alike = _measure(heard, format)
    if alike < _NOISE:
        return True
    return loudness > _TELEPHONE_DBFS and _measure(heard, format, format.rate // _TELEPHONE)[1] < _TELEPHONE_NOISE


def is_speech(data: bytes, format: AudioFormat) -> bool:
    """Whether bytes are speech, read in that format; False too where they are too few to tell."""
    return len(_voiced(data, format)) >= _LEAST and not is_noise(data, format)
