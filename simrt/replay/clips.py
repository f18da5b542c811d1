"""The caller's clips and the words of both sides, cut out of a recording's audio."""

from collections.abc import Sequence

import numpy as np

from simrt.audio import PCM24, AudioFormat, Samples, resample
from simrt.cassette.header import Word, spread_words
from simrt.replay.score import Arrivals, ScoredReply, ScoredTurn

_LOUD = 360  # int16 samples louder than this are voice, not hiss
_LEAD = PCM24.rate // 50
_TAIL = PCM24.rate // 20


class CallerAudio:
    """What a recorded client appended, in order."""

    def __init__(self) -> None:
        self.arrivals = Arrivals()
        self._parts: list[tuple[int, bytes, AudioFormat]] = []

    def add(self, data: bytes, fmt: AudioFormat, t_us: int) -> None:
        """One more append."""
        self._parts.append((self.arrivals.total_us, data, fmt))
        self.arrivals.add(fmt.duration_us(len(data)), t_us)

    def samples(self, start_us: int, end_us: int) -> Samples:
        """The audio between two buffer positions, at 24 kHz."""
        parts: list[Samples] = []
        for at, data, fmt in self._parts:
            length = fmt.duration_us(len(data))
            if at + length <= start_us or at >= end_us:
                continue
            first = max(0, start_us - at) * fmt.rate // 1_000_000 * fmt.width
            last = min(length, end_us - at) * fmt.rate // 1_000_000 * fmt.width
            parts.append(resample(fmt.decode(data[first:last]), fmt.rate, PCM24.rate))
        return np.concatenate(parts) if parts else np.zeros(0, np.int16)

    def offset_us(self, position_us: int) -> int:
        """How far the input buffer runs behind the clock there: the least over 3 s, since a burst only lags."""
        k = self.arrivals.index(position_us) or 0
        ends, times = self.arrivals.ends, self.arrivals.times
        return min(t - end for t, end in zip(times[k:], ends[k:], strict=True) if t <= times[k] + 3_000_000)


def cut_clip(turn: ScoredTurn, audio: CallerAudio, words: list[Word]) -> bool:
    """Give a turn its clip, from its first sound to its last, and make its positions relative to it.

    `words` are all of the caller's, in ms of its audio. False when there is silence where the turn should be.
    """
    heard = audio.samples(turn.start_value_us, turn.stop_value_us)
    loud = np.flatnonzero(np.abs(heard.astype(np.int32)) > _LOUD)
    if not len(loud):
        return False
    first, last = max(0, int(loud[0]) - _LEAD), min(len(heard), int(loud[-1]) + _TAIL)
    turn.samples = heard[first:last]
    home = turn.start_value_us + first * 1_000_000 // PCM24.rate
    turn.home_us = home
    turn.said_us = home + audio.offset_us(home)
    turn.start_at_us = turn.start_value_us = turn.start_value_us - home
    turn.stop_at_us = turn.stop_value_us = turn.stop_value_us - home
    turn.onset_us = (int(loud[0]) - first) * 1_000_000 // PCM24.rate
    turn.speech_end_us = (int(loud[-1]) - first) * 1_000_000 // PCM24.rate
    base, length = home // 1000, len(turn.samples) * 1000 // PCM24.rate
    mine = [word for word in words if base - 50 <= word.start_ms < base + length]
    turn.words = [Word(word.text, max(0, word.start_ms - base), word.end_ms - base) for word in mine]
    turn.words = turn.words or spread_words(turn.text, 0, length)
    return True


def place_words(replies: list[ScoredReply], words: list[Word], starts_ms: Sequence[int] | None = None) -> None:
    """Give each reply its words, out of all of the agent's in ms of its audio; None where there are none.

    `starts_ms`: where each reply begins in that audio, if not one right after the other.
    """
    start = 0
    for number, reply in enumerate(replies):
        if starts_ms is not None:
            start = starts_ms[number]
        end = start + reply.audio_us // 1000
        mine = [word for word in words if start <= word.start_ms < end]
        reply.words = [Word(word.text, word.start_ms - start, word.end_ms - start) for word in mine] or None
        start = end
