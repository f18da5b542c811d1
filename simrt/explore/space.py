"""All plans that make sense for a cassette.

A fault is drawn by choices (`Fault.draw`), each among options that go from simple to unkind. Whoever makes the choices,
faults come out: an enumeration in order of promise, a seeded generator, Hypothesis; and the same choices always mean
the same fault, so that a plan can be shrunk by lowering them.
"""

import heapq
import random
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path

import msgspec

from simrt.cassette.store import Cassette
from simrt.errors import PlanError
from simrt.explore.moments import moments
from simrt.faults.base import Fault
from simrt.faults.draw import HARMS, Draw, Harm
from simrt.faults.plan import FAULTS
from simrt.replay.build import score_of
from simrt.replay.score import Score

Index = Callable[[int, Sequence[int]], int]
"""`index(count, first)`: a number below `count`; those in `first` are the promising ones."""


class Drawn(msgspec.Struct, frozen=True):
    """A fault, and the choices by which it was drawn."""

    fault: Fault
    choices: tuple[int, ...]


class Space:
    """The faults for one score. `kinds` are the classes that make sense for it, those first that do least harm."""

    def __init__(self, score: Score) -> None:
        self.score = score
        self.moments = moments(score)
        usable = []
        for kind in FAULTS.values():
            drawn = next(self.in_order(kind, most=1), None)
            if drawn is not None:
                usable.append((rank(drawn.fault.harm()), kind))
        self.kinds: list[type[Fault]] = [kind for _, kind in sorted(usable, key=lambda entry: entry[0])]

    def fault(self, kind: type[Fault], index: Index) -> Fault | None:
        """One fault of that class; None where it can never fire on the cassette."""
        try:
            made = kind.draw(Draw(self.score, self.moments, index))
            if made is not None:
                made.check(self.score)
        except PlanError:
            return None
        return made

    def together(self, *faults: Fault) -> bool:
        """Whether each of them can fire, those before it being there, and one caller can do what they say."""
        plan = _Together(self.score)
        return all(plan.add(fault) for fault in faults)

    def redraw(self, kind: type[Fault], choices: Sequence[int]) -> Drawn | None:
        """The fault that these choices mean; one that is too high is taken for the highest, one that is missing for
        0."""
        made = _Choices(choices)
        fault = self.fault(kind, made.index)
        return None if fault is None else Drawn(fault, tuple(made.made))

    def in_order(self, kind: type[Fault], most: int = 100_000) -> Iterator[Drawn]:
        """The faults of a class by how far their choices are from the most promising ones, summed up."""
        queue: list[tuple[int, tuple[int, ...]]] = [(0, ())]
        for _ in range(most):
            if not queue:
                return
            total, ranks = heapq.heappop(queue)
            walk = _Ranks(ranks)
            fault = self.fault(kind, walk.index)
            for place in range(max(0, len(ranks) - 1), len(walk.counts)):
                if walk.ranks[place] + 1 < walk.counts[place]:
                    further = (*walk.ranks[:place], walk.ranks[place] + 1)
                    heapq.heappush(queue, (total + 1, further))
            if fault is not None:
                yield Drawn(fault, tuple(walk.made))

    def singles(self, start: int = 0) -> Iterator[Drawn]:
        """Every fault once: the classes take turns, that of number `start` the first, each with its more promising
        ones first."""
        seen: set[Fault] = set()
        turns = [self.in_order(kind) for kind in (*self.kinds[start:], *self.kinds[:start])]
        while turns:
            left = []
            for faults in turns:
                fresh = next((drawn for drawn in faults if drawn.fault not in seen), None)
                if fresh is not None:
                    seen.add(fresh.fault)
                    yield fresh
                    left.append(faults)
            turns = left

    def swarm(self, rng: random.Random) -> tuple[Drawn, ...]:
        """Some faults of different classes: half of the plans are legal throughout, few hold what ends a call."""
        worst: Harm = rng.choices(HARMS, weights=(5, 4, 1))[0]
        wanted = rng.choices(range(1, 7), weights=(2, 5, 5, 3, 2, 1))[0]
        made: list[Drawn] = []
        plan = _Together(self.score)
        for kind in rng.sample(self.kinds, k=len(self.kinds)):
            dice = _Dice(rng)
            fault = self.fault(kind, dice.index)
            if fault is None or rank(fault.harm()) > rank(worst):
                continue
            if plan.add(fault):
                made.append(Drawn(fault, tuple(dice.made)))
            if len(made) == wanted:
                break
        return tuple(made)


class _Together:
    """Faults that can come together, as they are added."""

    def __init__(self, score: Score) -> None:
        self.cassette = self.score = score
        self.faults: list[Fault] = []
        self._moments: set[tuple[object, ...]] = set()
        self._extended = 0

    def add(self, fault: Fault) -> bool:
        """Take it in, if it fits."""
        if any(one.name in fault.apart or fault.name in one.apart for one in self.faults):
            return False
        moments = self._moments_of(fault)
        if not self._moments.isdisjoint(moments):
            return False
        try:
            for number in range(self._extended, len(self.faults)):
                self.score = self.faults[number].extend(self.score, number, random.Random(number))
                self._extended += 1
            fault.check(self.score)
        except PlanError:
            return False
        self.faults.append(fault)
        self._moments |= moments
        return True

    def _moments_of(self, fault: Fault) -> set[tuple[object, ...]]:
        """Which replies and turns the caller of a fault speaks at: two cannot speak at the same."""
        count = sum(isinstance(reply.index, int) for reply in self.cassette.replies)
        cues = [say.cue.resolve(count) for say in fault.says(self.cassette) if not say.background]
        return {(cue.anchor, cue.reply, cue.turn) for cue in cues if cue.reply is not None or cue.turn is not None}


class _Same:
    """A score as a key: it is the same one, or it is not."""

    def __init__(self, score: Score) -> None:
        self.score = score

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.score is other.score

    def __hash__(self) -> int:
        return id(self.score)


@lru_cache(maxsize=32)
def _space(score: _Same) -> Space:
    return Space(score.score)


def space_of(cassette: Cassette | Score | str | Path) -> Space:
    """The space of a cassette, made once per process."""
    return _space(_Same(score_of(cassette)))


def rank(harm: Harm) -> int:
    """0 for what is legal, and up."""
    return HARMS.index(harm)


def worst_of(plan: Sequence[Fault]) -> Harm:
    """The harm that a plan does: that of its worst fault; no fault at all is legal."""
    return HARMS[max((rank(fault.harm()) for fault in plan), default=0)]


class _Choices:
    """Makes the choices that are given."""

    def __init__(self, given: Sequence[int]) -> None:
        self.given = given
        self.made: list[int] = []

    def index(self, count: int, first: Sequence[int]) -> int:
        place = len(self.made)
        self.made.append(min(self.given[place], count - 1) if place < len(self.given) else 0)
        return self.made[-1]


class _Ranks:
    """Makes choices by rank: 0 the most promising. Beyond the ranks that are given, all are 0."""

    def __init__(self, given: Sequence[int]) -> None:
        self.given = given
        self.ranks: list[int] = []
        self.counts: list[int] = []
        self.made: list[int] = []

    def index(self, count: int, first: Sequence[int]) -> int:
        place = len(self.ranks)
        now = min(self.given[place], count - 1) if place < len(self.given) else 0
        order: list[int] = list(dict.fromkeys((*first, *range(count))))
        self.ranks.append(now)
        self.counts.append(count)
        self.made.append(order[now])
        return order[now]


class _Dice:
    """Makes choices at random: every other time one of the promising ones, else any, the earlier the likelier."""

    def __init__(self, rng: random.Random) -> None:
        self.rng = rng
        self.made: list[int] = []

    def index(self, count: int, first: Sequence[int]) -> int:
        if first and self.rng.random() < 0.5:
            self.made.append(first[self.rng.randrange(len(first))])
        else:
            self.made.append(int(count * self.rng.random() * self.rng.random()))
        return self.made[-1]
