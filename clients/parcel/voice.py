"""What the agent said, and what of it the caller has heard.

Live has no replies, and no event says that one is over: there is a track of audio, and a transcript beside it. What
belongs together is told from the pauses; it is over when its last sound has been played, as much was played as the
transcript is long, and nothing more has come for a while: a longer one if it stops with a sound, as no word does. What
was talked over stops in the middle of a sentence.
"""

from array import array
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simrt import Line

PAUSE_MS = 700  # longer than any inside a reply
STALL_MS = 3000  # a sentence that nobody has cut off may stop for so long, and go on
_LOUD = 200  # of 32768
_NEVER = float("-inf")
_ENDS = (".", "!", "?")
_WORD_MS = 400  # the last one of a sentence
_SLACK_MS = 500  # the transcript's times are in steps of 200 ms
_AHEAD_MS = 400.0  # silence that would be played later than this is not played at all
# G.711: sign and size are spread over the byte; these bytes are as near to silence as _LOUD.
_QUIET_BYTES = {
    "ulaw": bytes(b for b in range(256) if ~b & 0x7F < 0x14),
    "alaw": bytes(b for b in range(256) if (b ^ 0x55) & 0x7F < 0x0D),
}


@dataclass
class Utterance:
    """Something the agent said; `start_ms` and `end_ms` of its transcript lie on the session's timeline, as does where
    each of its `pieces` begins.

    `sound_ms`: where its audio begins and ends, on the speaker's clock. `cut`: it was cancelled. `heard_ms`: the
    position of the timeline at which all of its audio so far had been played; None: not yet. `over`: nothing more will
    come of it.
    """

    start_ms: int
    end_ms: int
    pieces: list[tuple[int, str]]
    sound_ms: tuple[float, float]
    cut: bool = False
    heard_ms: float | None = None
    over: bool = False

    @property
    def text(self) -> str:
        return "".join(text for _, text in self.pieces).lstrip()

    def since(self, position_ms: float) -> str:
        """What of it was said from there on: two things that are said in one breath are one utterance."""
        return "".join(text for start_ms, text in self.pieces if start_ms >= position_ms)

    @property
    def _spoken_ms(self) -> int:
        """How long it takes to say, without the pauses between its sentences: the silence in them may not be sent."""
        pauses_ms = sum(
            max(0, after_ms - start_ms - _WORD_MS)
            for (start_ms, text), (after_ms, _) in pairwise(self.pieces)
            if text.rstrip().endswith(_ENDS)
        )
        return self.end_ms - self.start_ms - pauses_ms

    @property
    def whole(self) -> bool:
        """Whether it is over, and the caller has heard it to its end."""
        enough = self.sound_ms[1] - self.sound_ms[0] >= max(1, self._spoken_ms - _SLACK_MS)
        ended = self.over and not self.cut and self.text.rstrip().endswith(_ENDS)
        return ended and enough and self.heard_ms is not None


class Voice:
    """Plays the agent's audio, and keeps what it says.

    `paced`: the audio comes at the pace of speech, silence between what is said, not ahead of it. `clock` is in s.
    """

    def __init__(self, line: "Line", clock: Callable[[], float], *, paced: bool) -> None:
        self._speaker, self._format = line.speaker, line.format
        self._clock, self._paced = clock, paced
        self.utterances: list[Utterance] = []
        self._sound_ms = (0.0, 0.0)  # what came last without a pause, on the speaker's clock
        self._sound_s = (_NEVER, _NEVER)  # when its first and its last piece came
        self._silence_ms = 0.0  # that came last
        self._ahead = False  # the sound belongs to words that are still to come
        self._before: tuple[tuple[float, float], float | None] | None = None  # the last utterance's, before a pause
        self._text_s = self._caller_s = _NEVER
        self._active_s = 0.0

    def play(self, pcm: bytes) -> None:
        """`session.output_audio.delta`."""
        at_ms = self._speaker.played_ms + self._speaker.queued_ms
        end_ms = at_ms + len(pcm) / self._format.bytes_per_ms
        silent = self.silent(pcm)
        self._silence_ms = self._silence_ms + end_ms - at_ms if silent else 0.0
        if not silent:
            now_s = self._clock()
            paused = (now_s - self._sound_s[1]) * 1000 >= PAUSE_MS
            self._sound_ms = (at_ms if paused else self._sound_ms[0], end_ms)
            self._sound_s = (now_s if paused else self._sound_s[0], now_s)
            last = self.utterances[-1] if self.utterances else None
            if last is not None and paused:
                self._ahead = last.whole
                self._before = last.sound_ms, last.heard_ms
            if last is not None and not self._ahead:
                last.sound_ms, last.heard_ms = (last.sound_ms[0], end_ms), None
        elif self._paced and self._silence_ms > PAUSE_MS and self._speaker.queued_ms > _AHEAD_MS:
            return  # catch up after a jam: nothing is lost between two utterances
        self._speaker.play(pcm)

    def said(self, text: str, start_ms: int, end_ms: int) -> None:
        """`session.output_transcript.delta`."""
        last = self.utterances[-1] if self.utterances else None
        if last is None or self._ended(last, start_ms):
            going_on = self._sound_s[0] > self._text_s
            begin_ms = self._sound_ms[0] if going_on else self._speaker.played_ms + self._speaker.queued_ms
            sound_ms = (begin_ms, max(begin_ms, self._sound_ms[1]))
            if last is not None:
                last.over = True
                if going_on and self._before is not None:
                    last.sound_ms, last.heard_ms = self._before  # the sound since the pause was of these words
            self.utterances.append(Utterance(start_ms, end_ms, [(start_ms, text)], sound_ms))
        else:
            last.pieces.append((start_ms, text))
            last.end_ms = max(last.end_ms, end_ms)
            last.sound_ms, last.heard_ms = (last.sound_ms[0], max(last.sound_ms[1], self._sound_ms[1])), None
        self._text_s, self._ahead, self._before = self._clock(), False, None

    def interrupted(self) -> None:
        """The caller speaks: whatever the agent says after that is something else."""
        self._caller_s = self._clock()

    def _ended(self, last: Utterance, start_ms: int) -> bool:
        """Whether what is said from there on is another utterance."""
        pause_ms = start_ms - last.end_ms
        silent = self._sound_s[0] > self._text_s or (self._clock() - self._sound_s[1]) * 1000 >= PAUSE_MS
        if last.cut or pause_ms < PAUSE_MS or not silent:  # one word may be long ("4711")
            return last.cut
        waits = not last.text.rstrip().endswith(_ENDS) and self._caller_s < self._text_s
        return not waits or pause_ms >= STALL_MS

    def cut(self) -> bool:
        """`kugel.response.cancelled`: what is not played yet will not be. False: all had been played."""
        lost = self._speaker.played_ms < self._sound_ms[1]
        self._speaker.clear()
        if lost and self.utterances:
            self.utterances[-1].cut = True
        self._sound_ms = (self._sound_ms[0], min(self._sound_ms[1], self._speaker.played_ms))
        return lost

    def review(self, position_ms: float, *, last: bool = False) -> None:
        """Look what has been played by now. `position_ms` is that of the session's timeline; `last`: the call is
        over."""
        played_ms = self._speaker.played_ms
        if played_ms < self._sound_ms[1]:
            self._active_s = self._clock()
        for utterance in self.utterances:
            if utterance.heard_ms is None and played_ms >= utterance.sound_ms[1]:
                utterance.heard_ms = position_ms
        since_s = max(self._active_s, self._sound_s[1], self._text_s)
        enough_ms = PAUSE_MS if self._silence_ms else STALL_MS
        for utterance in self.utterances[-1:]:
            utterance.over = last or (self._clock() - since_s) * 1000 >= enough_ms

    def quiet_s(self) -> float:
        """For how long nothing of the agent has been heard."""
        return self._clock() - self._active_s

    def silent(self, pcm: bytes) -> bool:
        """Whether there is no voice in a piece of audio in the line's format."""
        quiet = _QUIET_BYTES.get(self._format.encoding)
        if quiet is not None:
            return not pcm.translate(None, quiet)
        samples = array("h", pcm[: len(pcm) // 2 * 2])
        return not samples or max(max(samples), -min(samples)) <= _LOUD
