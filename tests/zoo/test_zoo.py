"""Each reported bug shows under its known plan, and the rule that names it sees it; the mended twin is clean."""

import pytest

from simrt.explore import Job, run_job
from simrt.explore.executors import crew
from tests.zoo.exhibit import Exhibit, name_of
from tests.zoo.exhibits import EXHIBITS
from tests.zoo.scripts import cassette
from tests.zoo.search import clear, search


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=str)
def test_a_rule_that_names_the_bug_sees_it(exhibit: Exhibit) -> None:
    outcome = run_job(Job(name_of(exhibit.bug), cassette(exhibit.cassette), exhibit.plan, exhibit.seed))
    assert set(outcome.codes) & set(exhibit.codes), (outcome.status, outcome.codes)


@pytest.mark.parametrize("exhibit", EXHIBITS, ids=str)
def test_the_mended_twin_is_clean_under_the_same_plan(exhibit: Exhibit) -> None:
    outcome = run_job(Job(name_of(exhibit.mended), cassette(exhibit.cassette), exhibit.plan, exhibit.seed))
    assert not outcome.codes, [str(finding) for finding in outcome.findings]
    assert outcome.error is None


def test_each_row_is_there_once() -> None:
    shown = [exhibit.row for exhibit in EXHIBITS]
    assert len(set(shown)) == len(shown)


@pytest.mark.search
@pytest.mark.parametrize("exhibit", [e for e in EXHIBITS if e.row in ("B01", "B04", "B09")], ids=str)
def test_a_search_without_hints_finds_the_bug_and_clears_the_twin(exhibit: Exhibit) -> None:
    with crew() as hands:
        assert search(exhibit, hands).flagged
        assert not clear(name_of(exhibit.mended), [exhibit.cassette], hands, runs=50)
