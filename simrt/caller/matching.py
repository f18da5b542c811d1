"""Which part of what the server sent is it that the caller hears? Pure: samples in, spans out, no clock.

What was sent is one stream of samples, in the order of sending. What is played is another, in the order of playing.
A span says that a stretch of the second is a stretch of the first. It is found by content:

1. the samples that are expected next, exactly (all that a client does which plays what it gets);
2. otherwise the same samples anywhere in what was sent, first where nothing has been heard of it yet (after a dropped
   or reordered message), then where it has (something is played twice).

A client that converts the audio (another rate, μ-law in between, a volume) never gives the same samples. As long as
none ever matched, audio counts in the order of sending, by its duration; but where it sounds like the beginning of a
later reply, and not like what is expected next, the client has dropped the latter. Audio that was never sent is
foreign, digital silence that was never sent (a filled-up last frame) is silence.
"""

from bisect import bisect_right
from typing import Literal

import msgspec
import numpy as np
import numpy.typing as npt

from simrt.audio import Samples
from simrt.caller.cue import ReplyKey

Kind = Literal["new", "again", "foreign", "silence"]
Range = tuple[int, int]

_QUIET = 8
"""Levels up to this are silence in converted audio (the smallest step of μ-law)."""

_BLOCKS = 8
"""Of 10 ms each: less audio cannot be told apart by its loudness."""


class Piece(msgspec.Struct):
    """The samples `start` to `start + count` of the sent stream: one reply's, from its sample `offset` on."""

    start: int
    count: int
    reply: ReplyKey
    offset: int
    rate: int


class Span(msgspec.Struct):
    """The played samples `position` to `position + count` are `length` samples of the sent stream from `source` on.

    Foreign audio and silence have no source (-1) and no length.
    """

    position: int
    count: int
    kind: Kind
    source: int = -1
    length: int = 0
    converted: bool = False

    def heard(self, position: int) -> int:
        """How many of its sent samples are heard when all before this position of the line has been played."""
        if position >= self.position + self.count:
            return self.length
        return self.length * max(0, position - self.position) // self.count


class Matcher:
    """Finds the sent audio in the played audio. `rate` is the line's; sent audio may have any."""

    def __init__(self, rate: int) -> None:
        self.rate = rate
        self.pieces: list[Piece] = []
        self.spans: list[Span] = []
        self._starts: list[int] = []
        self._sent: dict[ReplyKey, int] = {}
        self._stream = bytearray()
        self._cursor = 0
        self._frontier = 0
        self._carry = 0
        self._tail = bytearray()  # unknown audio that was played last; its last second counts
        self._exact: bool | None = None
        self._converted = 0
        self._probe = rate // 100
        self._least = rate // 400

    def sent(self, reply: ReplyKey, samples: Samples, rate: int) -> None:
        """This much more of a reply was sent."""
        count, start, offset = len(samples), len(self._stream) // 2, self._sent.get(reply, 0)
        self._sent[reply] = offset + count
        self._stream += samples.tobytes()
        last = self.pieces[-1] if self.pieces else None
        if last is not None and last.reply == reply and last.rate == rate:
            last.count += count
        elif count:
            self.pieces.append(Piece(start, count, reply, offset, rate))
            self._starts.append(start)

    def sent_samples(self, reply: ReplyKey) -> int:
        """How many samples of this reply were sent, at the rate of its pieces."""
        return self._sent.get(reply, 0)

    def played(self, position: int, pcm: bytes) -> bool:
        """These samples (int16 bytes at the line's rate) will be played from this position on.

        False if they are silence that means nothing.
        """
        count = len(pcm) // 2
        if self._exact is not False and self._stream.startswith(pcm, 2 * self._cursor) and self._same_rate():
            if self._exact is None and not _constant(pcm):
                self._settle()
            self._claim(position, count, self._cursor)
            return True
        filler = self._is_filler(pcm)
        if filler or self._exact is False or not self._match(position, pcm):
            if self._exact:
                self._unknown(position, pcm)
            else:
                self._convert(position, pcm)
        return not (filler and self._exact)

    def cleared(self, position: int) -> None:
        """Nothing from this position of the line on will be played."""
        while self.spans and self.spans[-1].position >= position:
            self.spans.pop()
        if self.spans:
            last = self.spans[-1]
            last.length = last.heard(position)
            last.count = min(last.count, position - last.position)
        self._tail.clear()
        if not self._exact:
            self._cursor, self._carry = len(self._stream) // 2, 0

    def ranges(self, reply: ReplyKey, position: int) -> list[Range]:
        """The reply's samples (from, to) heard when all before this position has been played; sorted, disjoint."""
        found = [
            (low - piece.start + piece.offset, high - piece.start + piece.offset)
            for piece, span in self.of(reply)
            if span.kind == "new"
            for low, high in [
                (
                    max(piece.start, span.source),
                    min(piece.start + piece.count, span.source + span.heard(position)),
                )
            ]
            if low < high
        ]
        return merged(found)

    def of(self, reply: ReplyKey) -> list[tuple[Piece, Span]]:
        """What is played of this reply, in the order of playing."""
        pieces = [piece for piece in self.pieces if piece.reply == reply]
        return [
            (piece, span)
            for span in self.spans
            for piece in pieces
            if span.length and span.source < piece.start + piece.count and span.source + span.length > piece.start
        ]

    def _same_rate(self) -> bool:
        """Whether the piece that is expected next has the line's rate."""
        return self.pieces[bisect_right(self._starts, self._cursor) - 1].rate == self.rate

    def _is_filler(self, pcm: bytes) -> bool:
        """Silence that is no part of what was sent: a Live server fills the time between replies with it."""
        return _constant(pcm) and not self._expected(pcm)[1]

    def _match(self, position: int, pcm: bytes) -> bool:
        """Find all that can be found of this audio; False (and nothing noted) when that is nothing."""
        count = len(pcm) // 2
        at, loose, found = 0, 0, False
        while at < count:
            source, length = self._expected(pcm[2 * at :])
            if not length:
                source, length = self._search(pcm, at)
                # probes start at steps, audio anywhere
                back = self._extent(pcm[2 * loose : 2 * at], source) if length else 0
                at, source, length = at - back, source - back, length + back
                if length and at == 0:
                    lead = self._before(source)
                    at, source, length = -lead, source - lead, length + lead
            if not length:
                at += self._probe
                continue
            found = True
            if self._exact is None and not _constant(pcm[2 * max(at, 0) : 2 * (at + length)]):
                self._settle()
            if loose < at:
                self._between(position + loose, pcm[2 * loose : 2 * at])
            self._claim(position + at, length, source)
            at += length
            loose = at
        if found:
            self._unknown(position + loose, pcm[2 * loose :])
        return found

    def _between(self, position: int, pcm: bytes) -> None:
        """Note what lies before a match: it may be too little to be found by steps, and yet be known as a whole."""
        count = len(pcm) // 2
        source, length = self._cursor, count
        if not self._stream.startswith(pcm, 2 * self._cursor):
            source, length = self._search(pcm, 0)
        if length == count:
            self._claim(position, count, source)
        else:
            self._unknown(position, pcm)

    def _unknown(self, position: int, pcm: bytes) -> None:
        """Note audio that was found nowhere."""
        if pcm:
            self._add(Span(position, len(pcm) // 2, "silence" if _constant(pcm) else "foreign"))
            self._tail += pcm
            if len(self._tail) > 8 * self.rate:
                del self._tail[: -2 * self.rate]

    def _expected(self, rest: bytes) -> Range:
        """How far the audio is what is expected next: (where, how many samples)."""
        ahead = bytes(self._stream[2 * self._cursor : 2 * self._cursor + len(rest)])
        if not ahead or not self._same_rate():
            return self._cursor, 0
        length = _alike(rest, ahead)
        # a few equal samples are chance, unless a reply or the audio ends with them; so are many that are all silence
        whole = length == len(rest) // 2 or self._cursor + length in (len(self._stream) // 2, *self._starts)
        return self._cursor, length if whole or (length >= self._least and not _constant(rest)) else 0

    def _search(self, pcm: bytes, at: int) -> Range:
        """Where else in the sent stream this audio is: (where, how many samples), or no samples."""
        probe = pcm[2 * at : 2 * (at + self._probe)]
        if len(probe) < 32 or _constant(probe):
            return 0, 0
        gaps = self._gaps()
        ahead = [gap for gap in gaps if gap[1] > self._cursor]
        behind = [gap for gap in gaps if gap[1] <= self._cursor]
        for low, high in [*ahead, *behind, (0, len(self._stream) // 2)]:
            source = self._find(probe, low, high)
            if source >= 0:
                rest = pcm[2 * at :]
                return source, _alike(rest, bytes(self._stream[2 * source : 2 * source + len(rest)]))
        return 0, 0

    def _find(self, probe: bytes, low: int, high: int) -> int:
        byte = self._stream.find(probe, 2 * low, 2 * high)
        while byte % 2 == 1 and byte >= 0:
            byte = self._stream.find(probe, byte + 1, 2 * high)
        return byte // 2

    def _extent(self, before: bytes, source: int) -> int:
        """How many samples at the end of `before` are those sent just before `source`."""
        count = min(len(before) // 2, source)
        played = np.frombuffer(before, np.int16)[len(before) // 2 - count :]
        stream = np.frombuffer(bytes(self._stream[2 * (source - count) : 2 * source]), np.int16)
        other = np.flatnonzero(played != stream)
        return int(count - 1 - other[-1]) if len(other) else count

    def _before(self, source: int) -> int:
        """Take back unknown audio played just before, as far as it too is what was sent there; in samples.

        It was silence, which is found nowhere by itself, or too short.
        """
        low = max((gap[0] for gap in self._gaps() if gap[0] <= source), default=source)
        count = left = min(self._extent(bytes(self._tail[-2 * self.rate :]), source), source - low)
        while left:
            last = self.spans[-1]
            part = min(left, last.count)
            last.count -= part
            left -= part
            if not last.count:
                self.spans.pop()
        return count

    def _claim(self, position: int, count: int, source: int) -> None:
        """Note samples that were found, as new where nothing was heard of them and as again elsewhere."""
        end = source + count
        if source >= self._frontier:
            self._add(Span(position, count, "new", source, count))
        else:
            at = source
            for low, high in [*self._gaps(), (end, end)]:
                low, high = max(low, source), min(high, end)
                if low > high:
                    continue
                if at < low:
                    self._add(Span(position + at - source, low - at, "again", at, low - at))
                if low < high:
                    self._add(Span(position + low - source, high - low, "new", low, high - low))
                at = max(at, high)
        self._cursor = end
        self._frontier = max(self._frontier, end)
        self._tail.clear()

    def _gaps(self) -> list[Range]:
        """The stretches of the sent stream that are not played, in order."""
        gaps, at = [], 0
        for low, high in merged([(s.source, s.source + s.length) for s in self.spans if s.kind == "new"]):
            if at < low:
                gaps.append((at, low))
            at = high
        end = len(self._stream) // 2
        return [*gaps, (at, end)] if at < end else gaps

    def _add(self, span: Span) -> None:
        last = self.spans[-1] if self.spans else None
        if (
            last is not None
            and last.kind == span.kind
            and last.converted == span.converted
            and last.position + last.count == span.position
            and (span.source < 0 or last.source + last.length == span.source)
            and not (span.converted and span.source in self._starts)
        ):
            last.count += span.count
            last.length += span.length
        else:
            self.spans.append(span)

    def _settle(self) -> None:
        """The client plays what it gets: what was taken for converted audio before was its own sound."""
        self._exact = True
        for span in self.spans:
            if span.converted:
                span.kind, span.source, span.length, span.converted = "foreign", -1, 0, False

    def _convert(self, position: int, pcm: bytes) -> None:
        """Count this audio, by its duration, as what was sent next."""
        count, at = len(pcm) // 2, 0
        quiet = _level(pcm) <= _QUIET
        self._tail.clear()
        self._catch_up(pcm)
        while at < count and self._cursor < len(self._stream) // 2:
            piece = self.pieces[bisect_right(self._starts, self._cursor) - 1]
            left = piece.start + piece.count - self._cursor
            wanted, carry = divmod((count - at) * piece.rate + self._carry, self.rate)
            if wanted <= left:
                length, used, self._carry = wanted, count - at, carry
            else:
                length, self._carry = left, 0
                used = min(count - at, -(-left * self.rate // piece.rate))
            if quiet and _level(self._stream[2 * self._cursor : 2 * (self._cursor + length)]) > 4 * _QUIET:
                break
            self._add(Span(position + at, used, "new", self._cursor, length, True))
            self._cursor += length
            self._frontier = max(self._frontier, self._cursor)
            self._converted += used
            at += used
        if at < count:
            # a converter may end some samples late
            tail = 0 < count - at <= self._probe and at > 0
            self._add(Span(position + at, count - at, "silence" if quiet or tail else "foreign"))
        if self._converted > self.rate:
            self._exact = False

    def _catch_up(self, pcm: bytes) -> None:
        """Leave out what is expected next when this converted audio is the beginning of a later reply."""
        later = self._starts[bisect_right(self._starts, self._cursor) :]
        if not later:
            return
        alike, start = max((self._sounds_like(pcm, start), start) for start in later)
        if alike > max(0.8, self._sounds_like(pcm, self._cursor) + 0.2):
            self._cursor, self._carry = start, 0

    def _sounds_like(self, pcm: bytes, source: int) -> float:
        """How far the loudness of this audio goes up and down with that of what was sent there: at most 1."""
        piece = self.pieces[bisect_right(self._starts, source) - 1]
        played = _loudness(pcm, self.rate)
        end = min(piece.start + piece.count, source + len(played) * (piece.rate // 100))
        sent = _loudness(self._stream[2 * source : 2 * end], piece.rate)
        played = played[: len(sent)]
        if len(sent) < _BLOCKS or not sent.std() or not played.std():
            return 0.0
        return float(np.corrcoef(played, sent)[0, 1])


def merged(ranges: list[Range]) -> list[Range]:
    """Sorted, with what overlaps or touches made one."""
    result: list[Range] = []
    for low, high in sorted(ranges):
        if result and low <= result[-1][1]:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        else:
            result.append((low, high))
    return result


def _alike(one: bytes, other: bytes) -> int:
    """How many samples are equal from the start on."""
    count = min(len(one), len(other)) // 2
    a, b = np.frombuffer(one, np.int16, count), np.frombuffer(other, np.int16, count)
    differing = np.flatnonzero(a != b)
    return int(differing[0]) if len(differing) else count


def _constant(pcm: bytes) -> bool:
    """Whether all samples are the same one."""
    return pcm[2:] == pcm[:-2]


def _loudness(pcm: bytes | bytearray, rate: int) -> npt.NDArray[np.float64]:
    """The mean magnitude of each 10 ms."""
    size = rate // 100
    samples = np.frombuffer(bytes(pcm), np.int16)
    blocks = samples[: len(samples) // size * size].astype(np.float64).reshape(-1, size)
    return np.asarray(np.abs(blocks).mean(axis=1), np.float64)


def _level(pcm: bytes | bytearray) -> int:
    """The largest magnitude."""
    samples = np.frombuffer(bytes(pcm), np.int16).astype(np.int32)
    return int(np.abs(samples).max()) if len(samples) else 0
