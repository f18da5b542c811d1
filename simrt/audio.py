"""Audio formats, G.711, resampling, levels. Pure functions over NumPy arrays; samples are int16, mono."""

from functools import cache
from typing import Any, Literal

import msgspec
import numpy as np
import numpy.typing as npt
import soxr

Samples = npt.NDArray[np.int16]
Encoding = Literal["pcm16", "ulaw", "alaw"]

FRAME_MS = 20
_PCM16 = np.dtype("<i2")


class AudioFormat(msgspec.Struct, frozen=True):
    """How audio bytes are to be read: little-endian PCM16, or G.711 μ-law / A-law with one byte a sample."""

    encoding: Encoding = "pcm16"
    rate: int = 24000

    @property
    def width(self) -> int:
        """Bytes a sample."""
        return 2 if self.encoding == "pcm16" else 1

    @property
    def bytes_per_ms(self) -> float:
        return self.rate * self.width / 1000

    def duration_us(self, size: int) -> int:
        """How long `size` bytes last, in µs; an odd last byte of PCM16 counts for nothing."""
        return size // self.width * 1_000_000 // self.rate

    def size_of(self, ms: float) -> int:
        """Bytes of `ms` milliseconds, whole samples."""
        return int(ms * self.rate / 1000) * self.width

    def silence(self, ms: float) -> bytes:
        """Digital silence of that length."""
        zero = {"pcm16": b"\0", "ulaw": b"\xff", "alaw": b"\xd5"}[self.encoding]
        return zero * self.size_of(ms)

    def decode(self, data: bytes) -> Samples:
        """Bytes to samples at this format's rate; an odd last byte of PCM16 is dropped."""
        if self.encoding == "pcm16":
            return np.frombuffer(data, _PCM16, len(data) // 2)
        return _g711_table(self.encoding)[np.frombuffer(data, dtype=np.uint8)]

    def encode(self, samples: Samples) -> bytes:
        """Samples (at this format's rate) to bytes."""
        if self.encoding == "pcm16":
            return samples.astype(_PCM16, copy=False).tobytes()
        return _g711_inverse(self.encoding)[samples.astype(np.int32) + 32768].tobytes()


PCM24 = AudioFormat()
ULAW8 = AudioFormat("ulaw", 8000)
ALAW8 = AudioFormat("alaw", 8000)


@cache
def _g711_table(encoding: Encoding) -> Samples:
    """The 256 sample values of ITU-T G.711."""
    code = np.arange(256, dtype=np.int32)
    if encoding == "ulaw":
        code = ~code & 0xFF
        magnitude = (((code & 0x0F) << 3) + 0x84 << ((code & 0x70) >> 4)) - 0x84
        return np.where(code & 0x80, -magnitude, magnitude).astype(np.int16)
    code ^= 0x55
    segment = (code & 0x70) >> 4
    base = ((code & 0x0F) << 4) + 8
    magnitude = np.where(segment > 0, (base + 0x100) << np.maximum(segment - 1, 0), base)
    return np.where(code & 0x80, magnitude, -magnitude).astype(np.int16)


@cache
def _g711_inverse(encoding: Encoding) -> npt.NDArray[np.uint8]:
    """For each of the 65,536 samples the code whose value is nearest."""
    table = _g711_table(encoding).astype(np.int32)
    order = np.argsort(table, kind="stable")
    if encoding == "ulaw":
        order = order[order != 0x7F]  # the second zero: 0xFF is the one that silence is made of
    values = table[order]
    samples = np.arange(-32768, 32768, dtype=np.int32)
    right = np.clip(np.searchsorted(values, samples), 1, len(values) - 1)
    left_by, right_by = samples - values[right - 1], values[right] - samples
    # half-way goes away from zero, and 0 itself to the positive code, which silence is made of
    nearer_left = (left_by < right_by) | ((left_by == right_by) & (samples < 0))
    return order[np.where(nearer_left, right - 1, right)].astype(np.uint8)


def resample(samples: Samples, rate_in: int, rate_out: int) -> Samples:
    """Samples at another rate (soxr, high quality); unchanged when the rates are equal.

    In floating point: to 16 bit soxr dithers, with noise that is another one each time.
    """
    if rate_in == rate_out or not len(samples):
        return samples
    out = soxr.resample(samples.astype(np.float32), rate_in, rate_out)
    whole: Samples = np.clip(np.rint(out), -32768, 32767).astype(np.int16)
    return whole


def rms_dbfs(samples: npt.NDArray[Any]) -> float:
    """Level in dB below full scale (a full-scale square wave is 0); -120 for silence."""
    if not len(samples):
        return -120.0
    power = float(np.mean(np.square(samples.astype(np.float32) / 32768.0)))
    return max(-120.0, 10 * np.log10(power)) if power > 0 else -120.0
