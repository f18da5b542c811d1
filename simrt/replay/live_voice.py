"""A made-up voice, for what no recording and no script has the agent say: a soft hum, one swell a word."""

import zlib
from functools import lru_cache

import numpy as np

from simrt.audio import PCM24, Samples
from simrt.cassette.header import Word

WORD_MS = 330
_SPOKEN_MS = 290
_PEAK = 2600.0


@lru_cache(maxsize=64)
def hum(text: str) -> tuple[Samples, tuple[Word, ...]]:
    """24 kHz samples of `text` being hummed, and its words with their times; the same text hums the same.

    The pitch wanders from word to word, so that no two stretches of it are alike.
    """
    words = text.split() or [""]
    size = WORD_MS * PCM24.rate // 1000
    draw = np.random.default_rng(zlib.crc32(text.encode()))
    pitch = np.repeat(draw.uniform(105.0, 190.0, len(words)), size)
    phase = 2 * np.pi * np.cumsum(pitch) / PCM24.rate
    voice = np.sin(phase) + 0.5 * np.sin(2 * phase) + 0.25 * np.sin(3 * phase)
    swell = np.zeros(size)
    voiced = _SPOKEN_MS * PCM24.rate // 1000
    swell[:voiced] = np.sin(np.pi * (np.arange(voiced) + 0.5) / voiced) ** 0.5
    samples = (voice * np.tile(swell, len(words)) * (_PEAK / 1.75)).astype(np.int16)
    placed = tuple(Word(word, k * WORD_MS, k * WORD_MS + _SPOKEN_MS) for k, word in enumerate(words))
    samples.flags.writeable = False
    return samples, placed
