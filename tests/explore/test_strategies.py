"""Plans for those who write `@given` themselves."""

import subprocess
import sys

import pytest
from hypothesis import find, given, settings

from simrt.errors import CassetteError, PlanError, SimrtError
from simrt.explore.space import rank
from simrt.faults import Fault, Stall, check_plan
from simrt.replay.build import score_of
from simrt.strategies import faults, plans

FRONT = "front-desk"
FEW = settings(max_examples=50, database=None)


@FEW
@given(plans(FRONT))
def test_plans_can_fire(plan: list[Fault]) -> None:
    check_plan(plan, score_of(FRONT))
    assert len(set(plan)) == len(plan) <= 6


@FEW
@given(plans(FRONT, worst="legal"))
def test_only_legal_ones_where_that_is_asked_for(plan: list[Fault]) -> None:
    assert all(rank(fault.harm()) == 0 for fault in plan)


@FEW
@given(faults(score_of("refund"), "stall"))
def test_faults_of_one_kind(fault: Fault) -> None:
    assert isinstance(fault, Stall)


def test_hypothesis_shrinks_to_one_simple_fault() -> None:
    def long_stall(plan: list[Fault]) -> bool:
        return any(isinstance(f, Stall) and f.for_ >= 300 and f.at >= 900 for f in plan)

    found = find(plans(FRONT), long_stall, settings=settings(database=None, max_examples=5000))
    assert [str(fault) for fault in found] == ["stall:at=1000ms,for=300ms"]


@pytest.mark.parametrize(
    ("cassette", "name", "error"),
    [(FRONT, "stal", PlanError), ("no-such", "stall", SimrtError), (3, "x", CassetteError)],
)
def test_there_must_be_such_a_thing(cassette: str, name: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        faults(cassette, name)


def test_without_hypothesis_the_extra_is_named() -> None:
    program = "import sys; sys.modules['hypothesis'] = None\nimport simrt.strategies"
    made = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "simrt.strategies needs Hypothesis, which is not installed: pip install 'simrt[explore]'" in made.stderr


def test_the_search_does_without_hypothesis() -> None:
    program = "import sys; sys.modules['hypothesis'] = None\nimport simrt.cli.explore, simrt.explore.explore"
    subprocess.run([sys.executable, "-c", program], check=True)
