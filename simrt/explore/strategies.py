"""Hypothesis strategies: plans of faults for a cassette, for those who write `@given` themselves.

@given(plans("front-desk"))
def test_no_word_is_lost(plan):
    assert not any(turn.words_lost for turn in run_call(client, "front-desk", plan).caller_turns)
"""

from pathlib import Path

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn, SearchStrategy

from simrt.cassette.store import Cassette
from simrt.errors import PlanError
from simrt.explore.space import Index, rank, space_of
from simrt.faults.base import Fault
from simrt.faults.draw import Harm
from simrt.faults.plan import FAULTS
from simrt.replay.score import Score

_MOST_FAULTS = 6


def plans(cassette: Cassette | Score | str | Path, *, worst: Harm = "fatal") -> SearchStrategy[list[Fault]]:
    """Plans of any faults that make sense for the cassette (a path, a shipped name, a Cassette, or its Score).

    `worst`: "legal" leaves out what breaks the protocol, "survivable" what ends the call. Shrinks to fewer faults, then
    to simpler ones with smaller, rounder values. CassetteError: there is no such cassette.
    """
    space = space_of(cassette)

    @st.composite
    def one(draw: DrawFn) -> Fault | None:
        number = draw(st.integers(0, len(space.kinds) - 1))
        return space.fault(space.kinds[number], _index(draw))

    def together(found: list[Fault | None]) -> list[Fault]:
        kept: list[Fault] = []
        for fault in found:
            if fault is None or fault in kept or rank(fault.harm()) > rank(worst):
                continue
            if space.together(*kept, fault):
                kept.append(fault)
        return kept

    return st.lists(one(), max_size=_MOST_FAULTS).map(together) if space.kinds else st.just([])


def faults(cassette: Cassette | Score | str | Path, name: str) -> SearchStrategy[Fault]:
    """Faults of one kind, say "stall", that can fire on the cassette. PlanError: there is no such fault, or it makes
    no sense for the cassette."""
    space = space_of(cassette)
    kind = FAULTS.get(name)
    if kind not in space.kinds:
        raise PlanError(
            f"no fault called {name!r} makes sense here; there are: {', '.join(k.name for k in space.kinds)}"
        )

    @st.composite
    def one(draw: DrawFn) -> Fault | None:
        return space.fault(kind, _index(draw))

    return one().filter(lambda fault: fault is not None).map(_present)


def _index(draw: DrawFn) -> Index:
    return lambda count, first: draw(st.integers(0, count - 1))


def _present(fault: Fault | None) -> Fault:
    assert fault is not None
    return fault
