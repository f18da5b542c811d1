"""What the caller really heard of each reply, sample by sample."""

from collections.abc import Callable, Sequence
from typing import Literal

import msgspec

from simrt.audio import FRAME_MS, PCM24, Samples
from simrt.caller.cue import ReplyKey
from simrt.caller.line import Speaker
from simrt.caller.matching import Matcher, Range, Span, merged
from simrt.cassette.header import Word, spread_words

Change = Literal["play", "clear", "ended"]


class HeardReply(msgspec.Struct, frozen=True):
    """What became of one reply.

    `audio_ms` left the server; `heard_ms` of that was played, each part counted once; `again_ms` was played another
    time. `heard_text` holds the words that played whole. `cut_off`: the server broke it off, or some of what was sent
    was not heard and no longer can be. `first_heard_us` and `last_heard_us` are when its first and last sample played.
    """

    reply: ReplyKey
    transcript: str
    audio_ms: float
    heard_ms: float
    heard_text: str
    cut_off: bool
    first_heard_us: int | None = None
    last_heard_us: int | None = None
    again_ms: float = 0.0


class Sound(msgspec.Struct, frozen=True):
    """Something that was played though the server never sent it."""

    start_us: int
    duration_ms: float


class Delivery(msgspec.Struct, frozen=True, gc=False):
    """A piece of audio that left the server: `count` samples at `rate`, `start` samples into all that was sent."""

    t_us: int
    reply: ReplyKey
    start: int
    count: int
    rate: int


class Cleared(msgspec.Struct, frozen=True):
    """The speaker's queue was dropped, at that moment and from that position of the line on."""

    t_us: int
    position: int


class _Reply(msgspec.Struct):
    key: ReplyKey
    rate: int = PCM24.rate
    text: str = ""
    words: list[Word] | None = None
    whole_ms: float | None = None
    ended_us: int | None = None
    cut: bool = False


class Ear:
    """Compares what the server sent with what the speaker plays. See simrt.caller.matching for how.

    The server calls `sent`, `ended` and `text`; the speaker tells the ear by itself. `listeners` are called after each
    change: something was queued ("play"; not for silence that is nobody's), the queue was cleared ("clear"), a reply
    has ended ("ended").
    """

    def __init__(self, speaker: Speaker) -> None:
        self.listeners: list[Callable[[Change], object]] = []
        self.deliveries: list[Delivery] = []
        self.clears: list[Cleared] = []
        self._sent = 0
        self._speaker = speaker
        self._format = speaker.format
        self._matcher = Matcher(speaker.format.rate)
        self._replies: dict[ReplyKey, _Reply] = {}
        speaker.listener = self

    # from the server's side

    def sent(self, reply: ReplyKey, samples: Samples, t_us: int, rate: int = PCM24.rate) -> None:
        """This much more of a reply's audio has left the server; int16 samples at `rate`."""
        record = self._of(reply)
        if record.ended_us is not None and len(samples):
            record.ended_us = max(record.ended_us, t_us)
        record.rate = rate
        self.deliveries.append(Delivery(t_us, reply, self._sent, len(samples), rate))
        self._sent += len(samples)
        self._matcher.sent(reply, samples, rate)

    def ended(self, reply: ReplyKey, t_us: int, cut: bool = False) -> None:
        """No more audio of this reply will be sent; `cut`: because it was cancelled."""
        record = self._of(reply)
        record.ended_us = t_us
        record.cut = record.cut or cut
        self._tell("ended")

    def text(
        self, reply: ReplyKey, text: str, words: Sequence[Word] | None = None, whole_ms: float | None = None
    ) -> None:
        """What the reply says, all of it. `words`: in ms since its first sample.

        Without them each word's time is estimated: its share of the characters, over `whole_ms` (how long the reply
        would be in full) or, when that is not known, over the audio that was sent.
        """
        record = self._of(reply)
        record.text, record.words, record.whole_ms = text, list(words) if words else None, whole_ms

    # from the speaker

    def played(self, position: int, pcm: bytes) -> None:
        """The speaker has queued this."""
        if self._format.encoding != "pcm16":
            pcm = self._format.decode(pcm).tobytes()
        if self._matcher.played(position, pcm):
            self._tell("play")

    def cleared(self, position: int) -> None:
        """The speaker has dropped everything from this position on."""
        self.clears.append(Cleared(self._speaker.clock.now_us(), position))
        self._matcher.cleared(position)
        self._tell("clear")

    # what was heard

    @property
    def spans(self) -> Sequence[Span]:
        """What was played and is queued, in the order of playing; see simrt.caller.matching. Their `source` counts the
        samples of all that was sent, as the `start` of the deliveries does."""
        return self._matcher.spans

    def replies(self, t_us: int | None = None) -> list[HeardReply]:
        """What was heard of each reply until `t_us` (default: now), in the order of first being sent."""
        position = self._speaker.position(t_us)
        return [self._judge(record, position) for record in self._replies.values()]

    def heard(self, reply: ReplyKey, t_us: int | None = None) -> int:
        """How many samples of this reply, at the rate that it was sent in, have been heard at `t_us` (default: now)."""
        return _size(self._matcher.ranges(reply, self._speaker.position(t_us)))

    def start_us(self, reply: ReplyKey) -> int | None:
        """When the first sample of this reply was heard, or will be as the queue stands; None: nobody knows yet."""
        for piece, span in self._matcher.of(reply):
            skipped = max(0, piece.start - span.source)
            return self._speaker.start_of(span.position + skipped * span.count // span.length)
        return None

    def when_heard(self, reply: ReplyKey, position_ms: float) -> int | None:
        """When that many ms of this reply had been heard, or will have been as the queue stands; None: not in sight."""
        if position_ms <= 0:
            return self.start_us(reply)
        record = self._replies.get(reply)
        wanted = -(-position_ms * record.rate // 1000) if record else 0
        for piece, span in self._matcher.of(reply):
            if span.kind != "new":
                continue
            low = max(piece.start, span.source)
            length = min(piece.start + piece.count, span.source + span.length) - low
            if wanted <= length:
                samples = low - span.source + int(wanted)
                return self._speaker.end_of(span.position + -(-samples * span.count // span.length))
            wanted -= length
        return None

    def end_us(self, reply: ReplyKey) -> int | None:
        """When this reply was over for the caller, or will be as the queue stands; None while more may be sent.

        That is when the server sends no more of it and the last of it in the queue has played.
        """
        record = self._replies.get(reply)
        if record is None or record.ended_us is None:
            return None
        last = self._last_heard(reply, None)
        return record.ended_us if last is None else max(record.ended_us, last)

    def quiet_us(self) -> int | None:
        """Since when the line is, or will be, quiet as the queue stands; None when nothing was ever heard."""
        for span in reversed(self._matcher.spans):
            if span.kind != "silence":
                return self._speaker.end_of(span.position + span.count)
        return None

    def foreign(self) -> list[Sound]:
        """What was played, or is queued, that the server never sent; silence does not count."""
        return [
            Sound(self._speaker.start_of(span.position), span.count * 1000 / self._format.rate)
            for span in self._matcher.spans
            if span.kind == "foreign" and span.count
        ]

    def _of(self, reply: ReplyKey) -> _Reply:
        return self._replies.setdefault(reply, _Reply(reply))

    def _tell(self, change: Change) -> None:
        for listener in self.listeners:
            listener(change)

    def _judge(self, record: _Reply, position: int) -> HeardReply:
        matcher, key, rate = self._matcher, record.key, record.rate
        sent = matcher.sent_samples(key)
        spans = matcher.of(key)
        heard = matcher.ranges(key, position)
        queued = merged([*heard, *matcher.ranges(key, 1 << 62)])
        again = sum(span.heard(position) for _, span in spans if span.kind == "again")
        # a converter may keep some samples at the end
        slack = rate * FRAME_MS // 1000 if any(span.converted for _, span in spans) else 0
        over = record.ended_us is not None or self._speaker.stopped
        started = [span.position for _, span in spans if span.position < position]
        return HeardReply(
            key,
            record.text,
            sent * 1000 / rate,
            _size(heard) * 1000 / rate,
            _heard_text(record, heard, sent, slack),
            record.cut or (over and _size(queued) + slack < sent),
            self.start_us(key) if started else None,
            self._last_heard(key, position),
            again * 1000 / rate,
        )

    def _last_heard(self, reply: ReplyKey, position: int | None) -> int | None:
        """When the last sample of it before this position of the line had been played; None: none."""
        last = None
        for piece, span in self._matcher.of(reply):
            samples = min(piece.start + piece.count - span.source, span.length)
            end = span.position + -(-samples * span.count // span.length)
            if position is None or span.position < position:
                last = end if position is None else min(end, position)
        return None if last is None else self._speaker.end_of(last)


def _size(ranges: list[Range]) -> int:
    return sum(high - low for low, high in ranges)


def _heard_text(record: _Reply, heard: list[Range], sent: int, slack: int) -> str:
    """The words that lie whole in what was heard, give or take 1 ms (their times are rounded) or `slack` samples."""
    if record.ended_us is not None and not record.cut and _size(heard) + slack >= sent > 0:
        return record.text
    rate = record.rate
    words = record.words or spread_words(record.text, 0, record.whole_ms or sent * 1000 / rate)
    slack = max(slack, rate // 1000)
    said = [
        word.text
        for word in words
        if any(
            low - slack <= word.start_ms * rate / 1000 and word.end_ms * rate / 1000 <= high + slack
            for low, high in heard
        )
    ]
    return record.text if len(said) == len(words) else " ".join(said)
