"""The server's ear: which of the clips that may be spoken did arrive, where in the input buffer, and which words of
it.

It judges by what *arrived*, decoded in the format that the session has in force. The arrived waveform and the
clip's are compared at 8 kHz by normalised cross-correlation: the same speech gives 0.9 and more (also through
μ-law, at another level, or with its head missing), other speech and μ-law misread as PCM stay far below. Audio that
matches no clip is no turn. No I/O, no clock: positions are µs of audio in the input buffer.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b

import numpy as np
import numpy.typing as npt

from simrt.audio import AudioFormat, Samples
from simrt.cassette.header import Word
from simrt.replay.score import Arrivals

Wave = npt.NDArray[np.float32]

_RATE = 8000
_US = 1_000_000 // _RATE  # 125 µs a sample
_QUIET = 180.0  # RMS of int16 samples, about -45 dBFS
_LEAST_US = 60_000  # no verdict on less speech than this
_SURE = 0.85  # correlation that convinces: of 60 ms at the clip's beginning, of 240 ms elsewhere in it
_FOUND = 0.70  # ... of 480 ms
_WORD = 0.70  # ... of one word
_TRIES_US = (60_000, 120_000, 240_000, 480_000)  # after these, every _EVERY_US with the last _EVERY_US of sound
_EVERY_US = 480_000
_LEAD = 400  # samples of silence before a clip that an append may begin with
_PIECE_MS = 60  # longer appends are listened to in pieces
_GAP_US = 400_000  # silence that ends a stretch of sound which matched nothing
_KEPT = 2000  # comparisons that a sound remembers


class Sound:
    """A clip as the ear knows it, at 8 kHz, and what it has been compared with."""

    def __init__(self, samples: Samples) -> None:
        self.wave = thin(samples, 24000)
        self.padded = np.concatenate([np.zeros(_LEAD, np.float32), self.wave])
        self.energy = np.concatenate([[0.0], np.cumsum(np.square(self.padded, dtype=np.float64))])
        self._spectra: dict[int, npt.NDArray[np.complex128]] = {}
        self._lags: dict[bytes, tuple[float, int]] = {}
        loud = np.flatnonzero(np.abs(self.wave) > 2 * _QUIET)
        self.onset_us = int(loud[0]) * _US if len(loud) else 0

    def spectrum(self, size: int) -> npt.NDArray[np.complex128]:
        """The FFT of the padded wave over `size` points, kept."""
        if size not in self._spectra:
            self._spectra[size] = np.fft.rfft(self.padded, size)
        return self._spectra[size]

    def best_lag(self, wave: Wave) -> tuple[float, int]:
        """The best normalised correlation of an arrived wave with the clip, and at which clip sample it begins.

        Remembered: in a search, call after call brings the same sound.
        """
        key = blake2b(wave.data, digest_size=16).digest()
        found = self._lags.get(key)
        if found is None:
            if len(self._lags) >= _KEPT:
                self._lags.clear()
            found = self._lags[key] = self._correlate(wave)
        return found

    def _correlate(self, wave: Wave) -> tuple[float, int]:
        clip = self.padded
        length = min(len(wave), len(clip))
        wave = wave[:length]
        size = 1 << (len(clip) + length - 1).bit_length()
        product = np.fft.irfft(self.spectrum(size) * np.conj(np.fft.rfft(wave, size)), size)
        lags = np.arange(max(1, len(clip) - length // 2))
        ends = np.minimum(lags + length, len(clip))
        energy = self.energy[ends] - self.energy[lags]
        norm = np.sqrt(np.maximum(energy, 1.0)) * max(float(np.sqrt(np.dot(wave, wave))), 1.0)
        scores = product[: len(lags)] / norm
        lag = int(np.argmax(scores))
        return float(scores[lag]), lag - _LEAD


@lru_cache(64)
def _sound_of(data: bytes) -> Sound:
    return Sound(np.frombuffer(data, np.int16))


@dataclass(eq=False)
class Utterance:
    """A clip that may be spoken: `samples` at 24 kHz, `words` in ms since its first sample. The same for all calls."""

    key: int | str
    samples: Samples
    words: Sequence[Word]
    home_us: int | None = None

    def __post_init__(self) -> None:
        self.sound = _sound_of(self.samples.tobytes())


@dataclass(frozen=True)
class Match:
    """An utterance that is being heard: buffer position = clip position + `offset_us`."""

    utterance: Utterance
    offset_us: int
    from_us: int  # buffer position of the first sound of it that arrived


def thin(samples: Samples, rate: int) -> Wave:
    """Samples at 8 kHz as float32 with the hiss taken off: averaged (24, 16 kHz) or interpolated, then smoothed.

    Hiss is where a shift of a fraction of a sample would spoil the comparison, and it tells words apart least.
    """
    step, rest = divmod(rate, _RATE)
    if rest:
        data = samples.astype(np.float32)
        at = np.arange(0, len(data), rate / _RATE)
        data = np.interp(at, np.arange(len(data)), data).astype(np.float32)
    else:  # by hand: numpy's mean over so short an axis takes four times as long
        whole = samples[: len(samples) // step * step]
        data = whole[::step].astype(np.float32)
        for first in range(1, step):
            data += whole[first::step]
        data /= step
    if len(data) < 3:
        return data
    smooth = data.copy()
    smooth[1:-1] = 0.25 * (data[:-2] + 2 * data[1:-1] + data[2:])
    return smooth


class Listener:
    """Feed it what arrives; `feed` says which utterance was recognised, `words_of` which words of it came through."""

    def __init__(self, utterances: Sequence[Utterance]) -> None:
        self.waiting = list(utterances)
        self.arrivals = Arrivals()
        self._chunks: list[tuple[bytes, AudioFormat]] = []
        self._sound_us: int | None = None
        self._quiet_us = 0
        self._tries = 0
        self._shift_us = 0
        self._busy_until_us = 0
        self._usual_size, self._usual_us, self._usual_silence = -1, 0, b""
        self._usual_format: AudioFormat | None = None

    def feed(self, data: bytes, fmt: AudioFormat, now_us: int) -> list[Match]:
        """Take one append; returns the utterances that are recognised with it, mostly none.

        A recognised utterance is no longer waited for. A long append is gone through as if it had come in short ones;
        an odd last byte of PCM16 counts for nothing.
        """
        if len(data) != self._usual_size or fmt is not self._usual_format:
            data = data[: len(data) // fmt.width * fmt.width]
            size = fmt.size_of(_PIECE_MS)
            if len(data) > size:
                pieces = (data[k : k + size] for k in range(0, len(data), size))
                return [match for piece in pieces for match in self.feed(piece, fmt, now_us)]
            self._usual_size, self._usual_format = len(data), fmt
            self._usual_us = fmt.duration_us(len(data))
            self._usual_silence = fmt.silence(1)[: fmt.width] * (len(data) // fmt.width)
        self._chunks.append((data, fmt))
        self.arrivals.add(self._usual_us, now_us)
        if data == self._usual_silence and self._sound_us is None:
            return []
        match = self._heard(data, fmt)
        return [match] if match is not None else []

    def _heard(self, data: bytes, fmt: AudioFormat) -> Match | None:
        """Follow where sound begins and ends, and try to recognise it."""
        arrivals = self.arrivals
        start = arrivals.total_us - self._usual_us
        quiet = data == self._usual_silence
        if not quiet:
            samples = fmt.decode(data).astype(np.float32)
            quiet = len(samples) == 0 or float(np.dot(samples, samples)) < _QUIET * _QUIET * len(samples)
        if quiet:
            if self._sound_us is None:
                return None
            self._quiet_us += arrivals.total_us - start
            if self._quiet_us < _GAP_US:
                return self._try(self._sound_us)
            match = self._try(self._sound_us, last=True)
            self._sound_us = None
            return match
        self._quiet_us = 0
        if self._sound_us is None or (self._tries < 0 and start >= self._busy_until_us):
            self._sound_us, self._tries = start, -1 if start < self._busy_until_us else 0
        return self._try(self._sound_us)

    def forget(self) -> None:
        """The input buffer was cleared: what has been heard so far belongs to no turn."""
        self._sound_us = None

    def _try(self, sound_us: int, last: bool = False) -> Match | None:
        if not self.waiting or self._tries < 0:
            return None
        now_us = self.arrivals.total_us
        age = now_us - sound_us
        k = self._tries
        if not last and age < (_TRIES_US[k] if k < len(_TRIES_US) else _EVERY_US * (k - len(_TRIES_US) + 2)):
            return None
        self._tries += 1
        start_us = sound_us if age <= _EVERY_US else now_us - _EVERY_US
        wave = self.window(start_us, now_us)
        found = self._identify(wave, start_us, sound_us)
        if found is None:
            return None
        self._tries = -1  # this stretch of sound is accounted for
        self._busy_until_us = found.offset_us + len(found.utterance.sound.wave) * _US
        self.waiting.remove(found.utterance)
        self._shift_us = found.offset_us - (found.utterance.home_us or 0)
        return found

    def _identify(self, wave: Wave, start_us: int, sound_us: int) -> Match | None:
        if len(wave) * _US < _LEAST_US:
            return None
        best: tuple[float, Utterance, int] | None = None
        for utterance in self.waiting:
            score, lag = utterance.sound.best_lag(wave)
            if best is None or score > best[0] + 0.02:
                best = (score, utterance, lag)
        if best is None:
            return None
        score, utterance, lag = best
        heard_us = len(wave) * _US
        at_head = abs(lag * _US - utterance.sound.onset_us) < 40_000
        if (score < _SURE and heard_us < 480_000) or score < _FOUND or not (at_head or heard_us >= 240_000):
            return None
        offset = start_us - lag * _US
        if utterance.home_us is not None:
            home = utterance.home_us + self._shift_us
            if abs(offset - home) <= 2 * _US:
                offset = home  # the very position of the recording: no rounding to the 8 kHz grid
        return Match(utterance, offset, max(sound_us, offset))

    def window(self, start_us: int, end_us: int) -> Wave:
        """What arrived between two buffer positions, at 8 kHz; shorter if less has arrived."""
        ends = self.arrivals.ends
        first = bisect_right(ends, max(0, start_us))
        last = min(len(ends), bisect_left(ends, end_us) + 1)
        parts: list[Wave] = []
        k = first
        while k < last:
            fmt = self._chunks[k][1]
            stop = k
            while stop < last and self._chunks[stop][1] == fmt:
                stop += 1
            data = b"".join(chunk for chunk, _ in self._chunks[k:stop])
            parts.append(thin(fmt.decode(data), fmt.rate))
            k = stop
        if not parts:
            return np.zeros(0, np.float32)
        wave = np.concatenate(parts)
        skip = (max(0, start_us) - (ends[first - 1] if first else 0)) // _US
        out = wave[skip : skip + (end_us - max(0, start_us)) // _US]
        if start_us < 0:
            out = np.concatenate([np.zeros(-start_us // _US, np.float32), out])
        return out

    def words_of(self, match: Match, first: int = 0, last: int | None = None) -> list[bool]:
        """For each word of the utterance, or those from `first` to before `last`, whether it arrived whole.

        Its waveform is there, in order.
        """
        clip, words = match.utterance.sound.wave, match.utterance.words[first:last]
        end_us = self.arrivals.total_us
        offset = match.offset_us
        arrived: list[bool] = []
        begin_ms = words[0].start_ms if words else 0
        whole = self.window(offset + begin_ms * 1000, offset + words[-1].end_ms * 1000) if words else clip[:0]
        for word in words:
            piece = clip[word.start_ms * 8 : word.end_ms * 8]
            start_us = offset + word.start_ms * 1000
            if offset == match.offset_us:
                there = whole[(word.start_ms - begin_ms) * 8 :][: len(piece)]
            else:
                there = self.window(start_us, start_us + len(piece) * _US) if start_us < end_us else piece[:0]
            silent = float(np.dot(piece, piece)) < _QUIET * _QUIET * len(piece)  # a guessed place beside the voice
            good = silent or _correlation(piece, there) >= _WORD
            if not good:
                shift = self._search(piece, max(match.from_us, start_us - 2_000_000), end_us)
                if shift is not None and shift >= match.from_us:
                    offset, good = shift - word.start_ms * 1000, True
            arrived.append(good)
        return arrived

    def _search(self, piece: Wave, start_us: int, end_us: int) -> int | None:
        """Where else between two buffer positions this piece of a clip arrived (the client dropped or delayed
        audio)."""
        wave = self.window(start_us, end_us)
        if len(piece) < 480 or len(wave) < len(piece):
            return None
        size = 1 << (len(wave) + len(piece) - 1).bit_length()
        product = np.fft.irfft(np.fft.rfft(wave, size) * np.conj(np.fft.rfft(piece, size)), size)
        count = len(wave) - len(piece) + 1
        energy = np.concatenate([[0.0], np.cumsum(np.square(wave, dtype=np.float64))])
        local = energy[len(piece) : len(piece) + count] - energy[:count]
        scores = product[:count] / np.sqrt(np.maximum(local, 1.0) * max(float(np.dot(piece, piece)), 1.0))
        best = int(np.argmax(scores))
        return start_us + best * _US if scores[best] >= _SURE else None


def _correlation(a: Wave, b: Wave) -> float:
    """Normalised correlation at lag 0; what is missing of `b` counts as silence."""
    length = min(len(a), len(b))
    if not length:
        return 0.0
    norm = float(np.sqrt(np.dot(a, a) * np.dot(b, b)))
    return float(np.dot(a[:length], b[:length])) / norm if norm > 1.0 else 0.0
