"""What was heard of each piece of the agent's audio, and when: the ear's spans laid over the deltas of the traces.

Times are µs from pickup, lengths µs of audio. Only simulated calls have an ear.
"""

from bisect import bisect_right
from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import Literal

import msgspec

from simrt.caller.ear import Cleared, Delivery, Ear
from simrt.caller.line import Speaker
from simrt.caller.matching import Span
from simrt.checks.responses import Item, Piece, Response

Stretch = tuple[int, int]
"""From, to."""


class Heard(msgspec.Struct, frozen=True):
    """A stretch of sound that the caller heard, from `start_us` to `end_us`.

    `kind`: "new" and "again" are audio that was sent, for the first time or once more: of `piece` (None where it is not
    known which) from `from_us` to `to_us` of its item; it reached the client at `sent_us`. "foreign" was never sent.
    """

    start_us: int
    end_us: int
    kind: Literal["new", "again", "foreign"]
    piece: Piece | None = None
    from_us: int = 0
    to_us: int = 0
    converted: bool = False
    source: int = -1
    sent_us: int | None = None


class Hearing:
    """What was heard until the line was hung up, at `end_us`."""

    def __init__(self, ear: Ear, speaker: Speaker, responses: Sequence[Response], end_us: int) -> None:
        self.end_us = end_us
        self.clears: list[Cleared] = list(ear.clears)
        self._speaker = speaker
        self._deliveries: list[Delivery] = ear.deliveries
        self._starts = [delivery.start for delivery in self._deliveries]
        self._pieces = _pair(self._deliveries, responses)
        self._known = {id(piece) for piece in self._pieces if piece is not None}
        self._until = speaker.position(end_us)
        self.heard: list[Heard] = [
            heard for span in ear.spans if span.position < self._until for heard in self._read(span)
        ]
        self._of: dict[int, list[Heard]] = {}
        for heard in self.heard:
            if heard.piece is not None:
                self._of.setdefault(id(heard.piece), []).append(heard)

    def of(self, what: Item | Response | Piece) -> list[Heard]:
        """What was heard of it, in the order of playing."""
        pieces = [what] if isinstance(what, Piece) else what.pieces
        return sorted(
            (heard for piece in pieces for heard in self._of.get(id(piece), ())), key=lambda heard: heard.start_us
        )

    def heard_us(self, what: Item | Response | Piece) -> int:
        """How much of it was heard, each part counted once."""
        return sum(high - low for low, high in self.ranges(what))

    def ranges(self, what: Item | Response | Piece) -> list[Stretch]:
        """Which parts of it were heard: where in its item, or, of a response, in the row of its items."""
        if isinstance(what, Response):
            found, before = [], 0
            for item in what.items:
                found += [(low + before, high + before) for low, high in self.ranges(item)]
                before += item.audio_us
            return united(found)
        return united((heard.from_us, heard.to_us) for heard in self.of(what) if heard.kind == "new")

    def known(self, piece: Piece) -> bool:
        """Whether the ear knows this piece: one that a fault has garbled it cannot tell from others."""
        return id(piece) in self._known

    @cached_property
    def speech(self) -> list[Stretch]:
        """When anything was heard."""
        return united((heard.start_us, heard.end_us) for heard in self.heard)

    def _read(self, span: Span) -> Iterable[Heard]:
        """A span in parts, one a delivery."""
        if span.kind == "silence" or not span.count:
            return
        if span.source < 0 or span.kind == "foreign":
            yield Heard(self._when(span.position), self._over(span.position + span.count), "foreign")
            return
        stop = span.source + span.length
        number = max(0, bisect_right(self._starts, span.source) - 1)
        while number < len(self._deliveries) and self._deliveries[number].start < stop:
            delivery, piece = self._deliveries[number], self._pieces[number]
            number += 1
            low, high = max(span.source, delivery.start), min(stop, delivery.start + delivery.count)
            begin = span.position + (low - span.source) * span.count // span.length
            if low >= high or begin >= self._until:
                continue
            end = min(span.position + (high - span.source) * span.count // span.length, self._until)
            played = low + (end - begin) * span.length // span.count
            start = piece.from_us if piece is not None else 0
            yield Heard(
                self._when(begin),
                self._over(end),
                span.kind,
                piece,
                start + (low - delivery.start) * 1_000_000 // delivery.rate,
                start + (min(high, played) - delivery.start) * 1_000_000 // delivery.rate,
                span.converted,
                low,
                delivery.t_us,
            )

    def _when(self, position: int) -> int:
        return self._speaker.start_of(position)

    def _over(self, position: int) -> int:
        return self._speaker.end_of(min(position, self._until))


def _pair(deliveries: Sequence[Delivery], responses: Sequence[Response]) -> list[Piece | None]:
    """The delta of each delivery: of the same moment and length, in the same order. Mostly they are one to one."""
    pieces = sorted(
        (piece for response in responses for item in response.items for piece in item.pieces if piece.audio_us),
        key=lambda piece: (piece.t_us, piece.event.connection, piece.event.frame),
    )
    paired: list[Piece | None] = []
    at = 0
    for delivery in deliveries:
        length_us = delivery.count * 1_000_000 // delivery.rate
        found = next(
            (
                number
                for number in range(at, min(at + 50, len(pieces)))
                if abs(pieces[number].t_us - delivery.t_us) < 1000 and abs(pieces[number].audio_us - length_us) < 1000
            ),
            None,
        )
        if found is None:
            paired.append(None)
        else:
            paired.append(pieces[found])
            at = found + 1
    return paired


def united(stretches: Iterable[Stretch], gap_us: int = 0) -> list[Stretch]:
    """Sorted, with those made one that overlap, touch, or are no more than `gap_us` apart."""
    result: list[Stretch] = []
    for low, high in sorted(stretches):
        if result and low <= result[-1][1] + gap_us:
            result[-1] = (result[-1][0], max(high, result[-1][1]))
        elif low < high:
            result.append((low, high))
    return result


def gaps(stretches: Sequence[Stretch], start: int, end: int) -> list[Stretch]:
    """What lies between sorted stretches, from `start` to `end`."""
    found, at = [], start
    for low, high in stretches:
        if low > at:
            found.append((at, min(low, end)))
        at = max(at, high)
        if at >= end:
            return found
    return [*found, (at, end)] if at < end else found


def overlap(stretches: Iterable[Stretch], start: int, end: int) -> int:
    """How much of them lies between `start` and `end`."""
    return sum(max(0, min(high, end) - max(low, start)) for low, high in stretches)
