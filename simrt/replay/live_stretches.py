"""What was said when on a recorded Live session: the caller's turns and the agent's replies, found in endless tracks.

There are no turns and no replies on the wire. Where a side's audio is whole they are where it is loud; where it is
known by byte counts only, where its transcript stands on the timeline. Positions are µs of the timeline.
"""

from collections.abc import Sequence

import msgspec
import numpy as np

from simrt.audio import PCM24, AudioFormat, Samples
from simrt.cassette.header import Word, spread_words
from simrt.replay.clips import CallerAudio, cut_clip
from simrt.replay.score import ScoredFrame, ScoredTurn

_LOUD = 360  # int16 samples louder than this are voice, not hiss
_FRAME = PCM24.rate // 50
_BREATH_US = 700_000  # a shorter silence is inside of a turn
_LEAST_US = 80_000
_AROUND_US = 400_000  # a word's place may be this far outside of the voice
_NOTICE_US = 96_000
_QUIET_PEAK = 100
_PAUSE_US = 300_000  # a longer silence ends a stretch
_STOPS = tuple(".?!…")
_TOGETHER_US = 300_000  # deltas that come further apart in time are of two bursts
_TEXT_GAP_US = 800_000  # transcripts further apart are of two utterances


class Text(msgspec.Struct):
    """One transcript delta: its frame, and its window."""

    frame: ScoredFrame
    start_us: int
    end_us: int
    delta: str


class Stretch(msgspec.Struct):
    """Something that the agent said without a longer pause: slots `first` to `last`, and its transcript."""

    first: int
    last: int
    texts: list[Text] = []

    @property
    def text(self) -> str:
        """All of it."""
        return joined(self.texts)


def joined(texts: Sequence[Text]) -> str:
    """What transcript deltas say. They bring their spaces along, and one may go on in the middle of a word; a new
    utterance begins without a space, and mostly with a capital."""
    out = ""
    for text in texts:
        out += f" {text.delta}" if _apart(out, text.delta) else text.delta
    return out.strip()


def _apart(before: str, delta: str) -> bool:
    first = delta[:1]
    return (before[-1:] in _STOPS and first.isalnum()) or (before[-1:].islower() and first.isupper())


def voices(samples: Samples) -> list[tuple[int, int]]:
    """Where 24 kHz samples are loud, shorter silences bridged: (start, end) in µs."""
    whole = samples[: len(samples) // _FRAME * _FRAME].reshape(-1, _FRAME).astype(np.int32)
    spans: list[tuple[int, int]] = []
    for index in np.flatnonzero(np.abs(whole).max(axis=1) > _LOUD) if len(whole) else ():
        start, end = int(index) * 20_000, (int(index) + 1) * 20_000
        if spans and start - spans[-1][1] < _BREATH_US:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((start, end))
    return [(start, end) for start, end in spans if end - start >= _LEAST_US]


def find_turns(audio: CallerAudio, texts: Sequence[Text], words: list[Word]) -> tuple[list[ScoredTurn], list[int]]:
    """The caller's turns, cut from its whole audio, and for each text the number of its turn (-1: it has none).

    A voice without any transcript is no turn. `words`: the caller's in the header, in ms of its audio.
    """
    turns: list[ScoredTurn] = []
    owner = [-1] * len(texts)
    for start_us, end_us in voices(audio.samples(0, audio.arrivals.total_us)):
        mine = [
            k
            for k, text in enumerate(texts)
            if owner[k] < 0 and text.start_us < end_us + _AROUND_US and text.end_us > start_us - _AROUND_US
        ]
        if not mine:
            continue
        index = len(turns)
        said = joined([texts[k] for k in mine])
        turn = ScoredTurn(index, f"turn_{index}", said, start_value_us=start_us, stop_value_us=end_us)
        if not cut_clip(turn, audio, words):
            continue
        turn.start_at_us = turn.onset_us + _NOTICE_US
        turn.stop_at_us = turn.speech_end_us
        if len(turn.words) != len(said.split()):
            turn.words = spread_words(said, turn.onset_us / 1000, turn.speech_end_us / 1000)
        for k in mine:
            owner[k] = index
        turns.append(turn)
    return turns, owner


def find_stretches(
    slots: Sequence[ScoredFrame], slot_us: int, fmt: AudioFormat, texts: Sequence[Text], whole: bool
) -> list[Stretch]:
    """What the agent said, in slots; without whole audio it is where the transcript is."""
    found: list[Stretch] = []
    if whole:
        for number, frame in enumerate(slots):
            if _is_quiet(fmt.decode(frame.audio)):
                continue
            if found and number - found[-1].last <= _PAUSE_US // slot_us:
                found[-1].last = number
            else:
                found.append(Stretch(number, number))
        for text in texts:
            nearest = min(found, key=lambda s: _distance(s, text, slot_us), default=None)
            if nearest is not None:
                nearest.texts.append(text)
        return [part for stretch in found for part in _parts(stretch, slot_us)]
    for text in texts:
        if not found or text.start_us - found[-1].texts[-1].end_us > _TEXT_GAP_US:
            found.append(Stretch(text.start_us // slot_us, text.start_us // slot_us))
        found[-1].texts.append(text)
        found[-1].last = max(found[-1].last, -(-text.end_us // slot_us) - 1)
    for stretch in found:
        stretch.last = min(stretch.last, len(slots) - 1)
    return [stretch for stretch in found if stretch.first <= stretch.last]


def _parts(stretch: Stretch, slot_us: int) -> list[Stretch]:
    """A stretch cut where its transcript begins anew: one utterance may follow another without a pause."""
    parts = [Stretch(stretch.first, stretch.last)]
    for text in stretch.texts:
        first = text.start_us // slot_us
        if (
            parts[-1].texts
            and _apart(parts[-1].texts[-1].delta, text.delta)
            and parts[-1].first < first <= stretch.last
        ):
            parts[-1].last = first - 1
            parts.append(Stretch(first, stretch.last))
        parts[-1].texts.append(text)
    return parts


def find_bursts(pieces: Sequence[ScoredFrame], texts: Sequence[Text]) -> list[tuple[list[ScoredFrame], list[Text]]]:
    """Replies that were sent as fast as they were made: audio deltas that came together, and their transcript."""
    found: list[tuple[list[ScoredFrame], list[Text]]] = []
    for frame in pieces:
        if not found or frame.t_us - found[-1][0][-1].t_us > _TOGETHER_US:
            found.append(([], []))
        found[-1][0].append(frame)
    for text in texts:
        begun = [burst for burst in found if burst[0][0].t_us <= text.frame.t_us + _TOGETHER_US]
        if begun:
            begun[-1][1].append(text)
    return found


def _distance(stretch: Stretch, text: Text, slot_us: int) -> int:
    start, end = stretch.first * slot_us, (stretch.last + 1) * slot_us
    return max(0, start - text.end_us, text.start_us - end)


def _is_quiet(samples: Samples) -> bool:
    return not len(samples) or int(np.abs(samples.astype(np.int32)).max()) <= _QUIET_PEAK
