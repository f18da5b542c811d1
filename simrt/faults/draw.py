"""How a search draws a fault: the fault's class names its choices, whoever searches makes them.

    @classmethod
    def draw(cls, draw: Draw) -> Stall:
        reply = draw.reply()
        return cls(reply, at=draw.place(reply), for_=draw.ms(100, 5000, typical=500))

Options go from simple to unkind: what shrinks, shrinks to the first. A search that goes through them in order begins
with the typical ones.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeVar

import msgspec

from simrt.errors import PlanError
from simrt.replay.score import Score

T = TypeVar("T")

Harm = Literal["legal", "survivable", "fatal"]
"""What a fault does to a client that makes no mistake. "legal": the server keeps to the protocol, the network and the
caller do what they do every day; nothing may go wrong. "survivable": something is broken, and the call goes on.
"fatal": the call cannot go on as it should; a client can only notice, say so and end."""

HARMS: tuple[Harm, ...] = ("legal", "survivable", "fatal")

_STEPS = (1, 1.5, 2, 3, 5, 7.5)


class Moment(msgspec.Struct, frozen=True):
    """An interesting moment of a score: at server event `event` (the `nth` of that type), or `at_ms` into the audio of
    reply `reply`. `what` says why it is one."""

    what: str
    event: str | None = None
    nth: int = 0
    reply: int | None = None
    at_ms: int = 0


class Draw:
    """The choices for one fault on one cassette. Each method raises PlanError where there is nothing to choose."""

    def __init__(self, score: Score, moments: Sequence[Moment], choose: Callable[[int, Sequence[int]], int]) -> None:
        """`choose(count, first)` gives a number below `count`; those in `first` are the more promising ones."""
        self.score = score
        self.moments = moments
        self._choose = choose

    def pick(self, options: Sequence[T], first: Sequence[T] = ()) -> T:
        """One of the options, which go from simple to unkind; those in `first` are the most promising."""
        if not options:
            raise PlanError("there is nothing to choose from")
        if len(options) == 1:
            return options[0]
        known = list(options)
        return options[self._choose(len(options), [known.index(one) for one in first if one in known])]

    def ms(self, low: int, high: int, typical: int | None = None) -> int:
        """Round durations from `low` to `high` ms, short ones first."""
        options = ladder(low, high)
        first = [] if typical is None else [typical, high, low]
        return self.pick(options, [min(options, key=lambda ms: abs(ms - wanted)) for wanted in first])

    def reply(self) -> int:
        """A reply with audio, counted from the end: -1 is the last."""
        count = sum(isinstance(reply.index, int) for reply in self.score.replies)
        return self.pick(range(-1, -count - 1, -1))

    def place(self, reply: int) -> int:
        """Where in that reply's audio, in ms: near an edge of what is sent at once, or at a round place."""
        own = [r for r in self.score.replies if isinstance(r.index, int)]
        number, end = int(own[reply].index), own[reply].audio_us // 1000
        edges = [moment.at_ms for moment in self.moments if moment.reply == number]
        near = {edge + more for edge in edges for more in (-20, 0, 20)} | set(range(0, end, 500)) | {0}
        places = sorted((at for at in near if 0 <= at < end), key=_roundness)
        return self.pick(places, [at for wanted in _promising(end) for at in _nearest(places, wanted)])

    def event(self, *kinds: str) -> tuple[str, int]:
        """A server event of the cassette of one of these types (none: of any but the deltas), and which: -1 the last,
        else counted from 0."""
        counts: dict[str, int] = {}
        for frame in self.score.own_frames:
            if frame.kind in kinds or (not kinds and frame.kind and not frame.kind.endswith(".delta")):
                counts[frame.kind] = counts.get(frame.kind, 0) + 1
        kind = self.pick([kind for kind in kinds if kind in counts] if kinds else list(counts))
        return kind, self.pick([-1, *range(counts[kind] - 1)])

    def moment(self) -> Moment:
        """One of the cassette's interesting moments."""
        return self.pick(self.moments)

    def trigger(self) -> dict[str, Any]:
        """The fields by which a `Triggered` fault says when: an event, or a place in a reply."""
        moment = self.moment()
        if moment.event is not None:
            return {"event": moment.event, "nth": moment.nth}
        return {"reply": moment.reply, "at": moment.at_ms}


def ladder(low: int, high: int) -> list[int]:
    """Round numbers from `low` to `high`, both of them with it: 10, 15, 20, 30, 50, 75, 100, …"""
    rungs = {low, high}
    scale = 1
    while scale <= high:
        rungs |= {int(step * scale) for step in _STEPS if low <= step * scale <= high}
        scale *= 10
    return sorted(rungs)


def _roundness(ms: int) -> tuple[int, int]:
    return next((rank for rank, unit in enumerate((1000, 500, 100, 50)) if ms % unit == 0), 4), ms


def _promising(end: int) -> tuple[int, ...]:
    return end // 3, end // 10, 0, end * 2 // 3, end - 1


def _nearest(places: Sequence[int], wanted: int) -> list[int]:
    return [min(places, key=lambda at: abs(at - wanted))] if places else []
