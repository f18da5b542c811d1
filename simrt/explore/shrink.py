"""Shrinks a plan that fails to the shortest that fails in the same way: fewer faults first, then lower choices, that is
simpler faults with smaller and rounder values.

It is the plan's choices that are lowered, so what comes out is a plan that the search itself might have drawn, and the
way to it depends on nothing but the plan and the answers. (Hypothesis cannot be had for it: it begins a shrink only at
what it has drawn itself, and what it draws depends on its version and on the constants in the user's modules.)
"""

from collections.abc import Callable, Sequence

from simrt.explore.space import Drawn, Space
from simrt.faults.base import Fault

_LINEAR = 3  # so many of the simplest options are tried before it is taken for granted that less fails less

Plan = tuple[Drawn, ...]


class Shrinker:
    """Shrinks one plan. `fails` says whether a plan fails in that way; it is asked once for each plan, and no more than
    `most_calls` times."""

    def __init__(self, space: Space, fails: Callable[[tuple[Fault, ...]], bool], most_calls: int = 200) -> None:
        self.space = space
        self._ask = fails
        self._left = most_calls
        self._known: dict[tuple[Fault, ...], bool] = {}

    def shrink(self, plan: Plan) -> Plan:
        """The shortest that was found, beginning with `plan`, which is taken to fail."""
        self._known[faults_of(plan)] = True
        plan = self._fewer(plan)
        while True:
            simpler = self._simpler(plan)
            if simpler == plan:
                return plan
            plan = simpler

    def _fails(self, plan: Plan) -> bool:
        key = faults_of(plan)
        if key not in self._known:
            if self._left <= 0:
                return False
            self._left -= 1
            self._known[key] = self._ask(key)
        return self._known[key]

    def _fewer(self, plan: Plan) -> Plan:
        """Without the faults that it does not take."""
        if not plan or self._fails(()):
            return ()
        for drawn in plan:
            if self._fails((drawn,)):
                return (drawn,)
        place = 0
        while place < len(plan):
            without = plan[:place] + plan[place + 1 :]
            if self._fails(without):
                plan, place = without, 0
            else:
                place += 1
        return plan

    def _simpler(self, plan: Plan) -> Plan:
        """Each choice of each fault as low as it can be while the others stay."""
        for place, drawn in enumerate(plan):
            position = 0
            while position < len(drawn.choices):
                drawn = self._lower(plan, place, position)
                plan = (*plan[:place], drawn, *plan[place + 1 :])
                position += 1
        return plan

    def _lower(self, plan: Plan, place: int, position: int) -> Drawn:
        best = plan[place]
        most = best.choices[position]

        def with_choice(value: int) -> Drawn | None:
            choices = (*best.choices[:position], value, *best.choices[position + 1 :])
            drawn = self.space.redraw(type(best.fault), choices)
            if drawn is None or not self._fails((*plan[:place], drawn, *plan[place + 1 :])):
                return None
            return drawn

        for value in range(min(_LINEAR, most)):
            if (drawn := with_choice(value)) is not None:
                return drawn
        low, high = min(_LINEAR, most), most  # what is below low does not fail, high does
        while low < high:
            middle = (low + high) // 2
            drawn = with_choice(middle)
            if drawn is None:
                low = middle + 1
            else:
                best, high = drawn, middle
        return best


def faults_of(plan: Sequence[Drawn]) -> tuple[Fault, ...]:
    """The faults of a plan."""
    return tuple(drawn.fault for drawn in plan)
