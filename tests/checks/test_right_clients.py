"""No false alarm: the right clients have no findings, on any shipped cassette and any plan that they should survive."""

import random
from collections.abc import Iterator

import pytest

from simrt import shipped
from simrt.cassette.store import load_cached
from simrt.explore import Job, run_job
from simrt.explore.space import Space, rank
from simrt.faults.base import compact
from simrt.replay.build import score_of
from simrt.scripts.refund import REFUND

CASSETTES = sorted(path.parent.name for path in shipped.folder("cassettes").glob("*/cassette.jsonl"))
PLANS = (
    (),
    ("stall:reply=-1,at=1s,for=1500ms", "latency:add=150ms,jitter=50ms", "late-ready:at=3s"),
    ("burst:reply=0", "clog:reply=-1,at=500ms,for=1s", "spread"),
    ("barge-in:reply=0,at=1200ms,answer=breakfast",),
)


def client_for(cassette: str) -> str:
    """The right client for a shipped cassette."""
    if load_cached(shipped.cassette(cassette)).header.dialect == "live":
        return "clients.parcel:Parcel"
    return "clients.refund:RefundDesk" if cassette in REFUND else "clients.call:Call"


def told(cassette: str, plan: tuple[str, ...], seed: int = 0) -> list[str]:
    """What the rules find in one call that blames the client; [] where the plan makes no sense for the cassette."""
    outcome = run_job(Job(client_for(cassette), cassette, plan, seed))
    assert outcome.status in ("ended", "impossible"), outcome.error
    return [str(found) for found in outcome.findings if found.severity == "error"]


@pytest.mark.parametrize("cassette", CASSETTES)
def test_no_finding_on_a_shipped_cassette(cassette: str) -> None:
    for plan in PLANS:
        assert told(cassette, plan) == [], (cassette, plan)


def plans(cassette: str, rng: random.Random, each: int) -> Iterator[tuple[str, ...]]:
    """One fault a plan, and pairs of them: those that a client should survive."""
    space = Space(score_of(cassette))
    kinds = [kind for kind in space.kinds if kind.name]
    for kind in kinds:
        for _ in range(each):
            drawn = [space.fault(one, lambda count, first: rng.randrange(count)) for one in (kind, rng.choice(kinds))]
            faults = [one for one in drawn if one is not None and rank(one.harm()) < rank("fatal")]
            yield tuple(compact(one) for one in faults[:1])
            if len(faults) == 2 and space.together(*faults):
                yield tuple(compact(one) for one in faults)


@pytest.mark.search
@pytest.mark.parametrize("cassette", CASSETTES)
def test_no_finding_on_plans_drawn_at_random(cassette: str) -> None:
    rng = random.Random(cassette)
    for plan in plans(cassette, rng, each=1):
        assert told(cassette, plan, rng.randrange(1000)) == [], (cassette, plan)
