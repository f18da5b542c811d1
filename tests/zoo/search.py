"""The search for what the zoo's clients do wrong: what finds each bug, and whether the mended twins are clean."""

from collections.abc import Iterator

import msgspec

from simrt.explore import Job
from simrt.explore.executors import Crew
from simrt.explore.explore import Failure, explore
from tests.zoo.exhibit import Exhibit, name_of
from tests.zoo.scripts import cassette

BATCHES = (10, 50, 200)
"""Runs: a search that finds the bug in the first few need not make all of them."""


class Seen(msgspec.Struct, frozen=True):
    """What came of one exhibit. `flagged`: what found the bug, by the runs that it took; `blamed`: what was found
    wrong with the mended twin in `twin_runs` runs."""

    exhibit: Exhibit
    flagged: list[Failure]
    blamed: list[Failure]
    twin_runs: int

    @property
    def first(self) -> Failure | None:
        """What found the bug first; of those that did in the same run, the shortest plan."""
        return min(self.flagged, key=lambda one: (one.found_in, len(one.plan), one.code), default=None)

    @property
    def fine(self) -> bool:
        """Whether the bug was found, and nothing else."""
        return bool(self.flagged) and not self.blamed


def visit(exhibit: Exhibit, crew: Crew, *, runs: int, twin_runs: int, seed: int = 0) -> Seen:
    """Search the bug in at most `runs` runs and its twin in `twin_runs`, as `simrt explore` does by default."""
    place = cassette(exhibit.cassette)
    flagged: list[Failure] = []
    for most in [*(batch for batch in BATCHES if batch < runs), runs]:
        job = Job(name_of(exhibit.bug), place, select=exhibit.codes)
        found = explore(job, [place], crew, runs=most, seed=seed).failures
        flagged = [failure for failure in found if failure.code in exhibit.codes]
        if flagged:
            break
    blamed: list[Failure] = []
    if twin_runs:
        blamed = explore(Job(name_of(exhibit.mended), place), [place], crew, runs=twin_runs, seed=seed).failures
    return Seen(exhibit, flagged, blamed, twin_runs)


def markdown(seen: list[Seen]) -> Iterator[str]:
    """The table as Markdown, line by line."""
    yield "| | reported bug | rule that finds it | shortest plan | runs |"
    yield "|---|---|---|---|---:|"
    for one in seen:
        shown, first = one.exhibit, one.first
        what = f"{shown.met} ({shown.report})" if shown.report else shown.met
        if first is None:
            yield f"| {shown.row} | {what} | not found | | |"
            continue
        plan = " ".join(f"`{fault}`" for fault in first.plan) or "none"
        yield f"| {shown.row} | {what} | {first.code} {first.name} | {plan} | {first.found_in} |"
