"""Which words of the caller's reached the server, and whether the client could have sent those that did not.

A client that passes the microphone's frames on as they are is followed frame by frame: the very bytes are looked for
among those that were sent. One that converts them is judged by comparing the sound (simrt.replay.listener). Nothing is
looked for when the server has heard every word of the call.
"""

from collections.abc import Sequence
from typing import Literal

import msgspec
import numpy as np

from simrt.audio import FRAME_MS, AudioFormat
from simrt.caller import Microphone, Utterance
from simrt.cassette.header import Word, spread_words
from simrt.checks.case import Append, Case, once
from simrt.replay import listener

FRAME_US = FRAME_MS * 1000
_QUIET_POWER = (32768 * 10 ** (-50 / 20)) ** 2  # of a frame at -50 dBFS
_ENOUGH = 0.7
"""Of the frames of a word that hold sound, so many must have arrived for the word to be understood."""

When = Literal["pickup", "barge-in", "else"]


class LostWords(msgspec.Struct, frozen=True):
    """Words of one utterance that the client got from the microphone, could have sent, and did not.

    `when`: said before the session was ready, while the agent was heard, or at another time. `t_us`: when the first of
    them was said.
    """

    utterance: Utterance
    words: list[str]
    when: When
    t_us: int


@once
def lost_words(case: Case) -> list[LostWords]:
    """What the caller said in vain, by utterance; none for a recording."""
    found = []
    for utterance in suspects(case):
        words = words_of(utterance)
        arrived = _arrived(case, utterance, words)
        lost = [
            word
            for word, there in zip(words, arrived, strict=True)
            if not there and could_send(case, utterance.started_us + word.start_ms * 1000, _end_us(utterance, word))
        ]
        if lost:
            at_us = utterance.started_us + lost[0].start_ms * 1000
            found.append(LostWords(utterance, [word.text for word in lost], _when(case, utterance, at_us), at_us))
    return found


@once
def suspects(case: Case) -> list[Utterance]:
    """What the caller said, and the server did not hear whole, as far as is known."""
    if case.result is None or not case.connections:
        return []
    pairs = zip(case.result.utterances, case.result.caller_turns, strict=False)
    return [said for said, turn in pairs if turn.words_lost and not said.background and said.clip.duration_us]


def words_of(utterance: Utterance) -> list[Word]:
    """The words of an utterance that were said before it ended; their times are guessed where nobody has placed them.

    A clip without words counts as one.
    """
    clip = utterance.clip
    words = clip.words or spread_words(clip.text, 0, clip.duration_ms) or [Word("(sound)", 0, int(clip.duration_ms))]
    return [word for word in words if _end_us(utterance, word) <= utterance.ended_us]


def could_send(case: Case, start_us: int, end_us: int) -> bool:
    """Whether the client got the sound that was made from `start_us` to `end_us`, had a session that could take it by
    the time that it must be held no longer, and was left the time to send it."""
    line = case.line
    if line is None or not all(line.microphone.gives(index) for index in _frames(start_us, end_us)):
        return False
    if line.microphone.opened_us is None:
        return False
    hold_us, tail_us = round(case.limits.hold_ms * 1000) - 5 * FRAME_US, round(case.limits.play_ms * 1000)
    if end_us + tail_us > case.end_us:
        return False
    for connection in case.connections:
        ready_us = next((e.t_us for e in connection.events if e.kind in ("session.updated", "session.started")), None)
        closed_us = connection.closed_us
        if closed_us is None or connection.closed_by == "client":
            closed_us = case.end_us
        if ready_us is not None and ready_us <= start_us + hold_us and closed_us >= max(end_us, ready_us) + tail_us:
            return True
    return False


class Wire:
    """Audio as it was sent: streams of bytes, one for each connection, in samples of `width` bytes."""

    def __init__(self, streams: Sequence[bytes], width: int) -> None:
        self.streams, self.width = streams, width

    @classmethod
    def of(cls, case: Case, format: AudioFormat) -> "Wire":
        """All of the caller's audio in a call, whatever the server took it for."""
        pieces = [[a.audio for a in case.appends if a.connection == n] for n in range(len(case.connections))]
        return cls([b"".join(one) for one in pieces], format.width)

    def holds(self, frame: bytes) -> bool:
        """Whether these bytes are in any of the streams."""
        return any(self.find(frame, 0, stream) is not None for stream in range(len(self.streams)))

    def find(self, frame: bytes, near: int = 0, stream: int = 0) -> int | None:
        """Where in a stream these bytes are, from `near` on and else before it."""
        data = self.streams[stream]
        for low, high in ((near, len(data)), (0, near + len(frame))):
            at = data.find(frame, low, high)
            while at >= 0 and at % self.width:
                at = data.find(frame, at + 1, high)
            if at >= 0:
                return at
        return None


def frames_of(microphone: Microphone, start_us: int, end_us: int) -> dict[int, bytes]:
    """The microphone's frames with sound in them, by number, that lie between two moments."""
    indexes = _frames(start_us, end_us)
    if not indexes:
        return {}
    data = microphone.audio(indexes[0], indexes[-1] + 1)
    size = len(data) // len(indexes)
    levels = np.square(microphone.format.decode(data).astype(np.float32)).reshape(len(indexes), -1).mean(axis=1)
    return {index: data[k * size : (k + 1) * size] for k, index in enumerate(indexes) if levels[k] > _QUIET_POWER}


@once
def passed_on(case: Case) -> Wire | None:
    """What was sent, for a client that sends the microphone's frames as they are: some frame of what was said is on the
    wire. None: the client converts them."""
    line = case.line
    if line is None:
        return None
    wire = Wire.of(case, line.format)
    for said in case.utterances:
        frames = list(frames_of(line.microphone, said.started_us, said.ended_us).values())
        if any(map(wire.holds, (*frames[len(frames) // 2 :: 25], *frames[::25]))):
            return wire
    return None


def _arrived(case: Case, utterance: Utterance, words: list[Word]) -> list[bool]:
    wire = passed_on(case)
    if wire is None:
        if _talked_over(case, utterance):
            return [True] * len(words)  # two voices at once cannot be told apart by their sound
        return _understood(case.appends, utterance, words)
    return [_found(case, wire, utterance, word) for word in words]


def _found(case: Case, wire: Wire, utterance: Utterance, word: Word) -> bool:
    """Whether enough of a word's very frames was sent. Silence where a word should be was lost by nobody."""
    line = case.line
    assert line is not None
    start_us = utterance.started_us + word.start_ms * 1000
    frames = frames_of(line.microphone, start_us, _end_us(utterance, word))
    return sum(map(wire.holds, frames.values())) >= _ENOUGH * len(frames)


def _talked_over(case: Case, utterance: Utterance) -> bool:
    """Whether something else was said on the line at the same time."""
    return any(
        other is not utterance
        and not other.background
        and other.started_us < utterance.ended_us
        and utterance.started_us < other.ended_us
        for other in case.utterances
    )


def _understood(appends: list[Append], utterance: Utterance, words: list[Word]) -> list[bool]:
    """For a client that converts: whether each word can be heard in what it sent, as the server reads it."""
    clip = utterance.clip
    said = listener.Utterance(clip.name, clip.samples, words)
    ear = listener.Listener([said])
    matches = [match for append in appends for match in ear.feed(append.audio, append.format, append.t_us)]
    if not matches:
        return [False] * len(words)
    return ear.words_of(matches[0])


def _when(case: Case, utterance: Utterance, t_us: int) -> When:
    ready_us = case.ready_us
    if ready_us is None or t_us < ready_us:
        return "pickup"
    spoken = case.agent_speech or []
    if any(low <= utterance.started_us < high for low, high in spoken):
        return "barge-in"
    return "else"


def _end_us(utterance: Utterance, word: Word) -> int:
    return utterance.started_us + word.end_ms * 1000


def _frames(start_us: int, end_us: int) -> range:
    """The frames that lie whole between two moments, at least the one in the middle."""
    first, stop = -(-start_us // FRAME_US), end_us // FRAME_US
    middle = (start_us + end_us) // 2 // FRAME_US
    return range(first, stop) if first < stop else range(middle, middle + 1)
