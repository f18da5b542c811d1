"""The search for what the zoo's clients do wrong: what finds each bug, and whether the mended twins are clean."""

from collections.abc import Iterator, Sequence

import msgspec

from simrt.checks import all_rules
from simrt.explore import Job, Outcome
from simrt.explore.executors import Crew
from simrt.explore.explore import Failure, explore
from tests.zoo.exhibit import Exhibit, name_of
from tests.zoo.scripts import cassette


class Seen(msgspec.Struct, frozen=True):
    """What came of the search for one bug: what flagged it."""

    exhibit: Exhibit
    flagged: list[Failure]

    @property
    def first(self) -> Failure | None:
        """What flagged it first; of the rules that did in the same run, the one that the exhibit names first."""
        codes = self.exhibit.codes
        return min(self.flagged, key=lambda one: (one.found_in, codes.index(one.code)), default=None)


def search(exhibit: Exhibit, crew: Crew, *, runs: int = 200, seed: int = 0) -> Seen:
    """Search the bug in at most `runs` runs, as `simrt explore -x` does by default; its own rules are what counts."""
    place = cassette(exhibit.cassette)
    known = tuple(rule.code for rule in all_rules() if rule.code in exhibit.codes)
    if not known:
        return Seen(exhibit, [])

    def flags(outcome: Outcome) -> bool:
        return not set(known).isdisjoint(outcome.codes)

    found = explore(Job(name_of(exhibit.bug), place, select=known), [place], crew, runs=runs, seed=seed, until=flags)
    return Seen(exhibit, [failure for failure in found.failures if failure.code in known])


def twins(exhibits: Sequence[Exhibit]) -> dict[str, list[str]]:
    """The mended twins, each once, with the cassettes that they take."""
    found: dict[str, list[str]] = {}
    for exhibit in exhibits:
        cassettes = found.setdefault(name_of(exhibit.mended), [])
        if exhibit.cassette not in cassettes:
            cassettes.append(exhibit.cassette)
    return found


def clear(twin: str, cassettes: Sequence[str], crew: Crew, *, runs: int, seed: int = 0) -> list[Failure]:
    """What all rules find in `runs` runs of a twin, its cassettes taking turns."""
    places = [cassette(name) for name in cassettes]
    return explore(Job(twin, places[0]), places, crew, runs=runs, seed=seed).failures


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
