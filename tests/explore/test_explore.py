"""The search, its calls made up; and once with real ones."""

from collections.abc import Callable
from concurrent.futures import Executor, Future
from itertools import islice

import msgspec
import pytest

from simrt.checks import Finding
from simrt.errors import SimrtError
from simrt.explore import Job, Outcome
from simrt.explore.executors import Crew, LocalCrew
from simrt.explore.explore import ROUNDS, Failure, Run, Search, explore, runs_of
from simrt.explore.shrink import faults_of
from simrt.explore.space import worst_of
from simrt.faults import parse_plan

FRONT = "front-desk"
JOB = Job("some:Client", "")

Made = Callable[[Job], Outcome]


class Pretended(Crew):
    """Makes up what came of a call."""

    workers = 2
    window = 6
    executor: Executor

    def __init__(self, made: Made) -> None:
        self.made = made
        self.jobs: list[Job] = []

    def submit(self, job: Job) -> Future[Outcome]:
        self.jobs.append(job)
        future: Future[Outcome] = Future()
        try:
            future.set_result(self.made(job))
        except BaseException as error:
            future.set_exception(error)
        return future

    def close(self) -> None: ...


def broken(code: str, job: Job) -> Outcome:
    harm = worst_of(parse_plan(job.plan))
    return Outcome("ended", findings=(Finding(code, "made-up", 1500, "it broke"),), trace_sha256=str(job), harm=harm)


def fragile(job: Job) -> Outcome:
    """Breaks when a stall and latency come together, and otherwise on any error event."""
    names = {fault.partition(":")[0] for fault in job.plan}
    if {"stall", "latency"} <= names:
        return broken("AGT299", job)
    return broken("PRO399", job) if "error" in names else Outcome("ended", trace_sha256=str(job))


def search(made: Made, runs: int = 500, seed: int = 0, *cassettes: str) -> Search:
    return explore(JOB, cassettes or (FRONT,), Pretended(made), runs=runs, seed=seed)


def test_first_the_cassettes_as_they_are_then_one_fault_then_some_together() -> None:
    runs = list(islice(runs_of(JOB, (FRONT, "refund"), 7), 400))
    assert [(run.job.cassette, run.plan) for run in runs[:2]] == [(FRONT, ()), ("refund", ())]
    assert {run.job.cassette for run in runs[2::2]} == {FRONT}
    sizes = [len(run.plan) for run in runs]
    kinds = len(runs[0].space.kinds)
    assert set(sizes[2 : 2 * ROUNDS * (kinds - 2)]) == {1}
    assert max(sizes) > 3
    assert {run.job.seed for run in runs if len(run.plan) < 2} >= {7}
    assert all(run.job.plan == tuple(str(fault) for fault in faults_of(run.plan)) for run in runs)


def test_a_run_is_the_same_whatever_the_number_of_runs() -> None:
    def jobs(runs: int) -> set[Job]:
        crew = Pretended(lambda job: Outcome("ended"))
        explore(JOB, (FRONT,), crew, runs=runs, seed=3)
        assert len(crew.jobs) == runs
        return set(map(str, crew.jobs))

    assert jobs(20) < jobs(90)


def test_each_way_of_failing_is_told_once_with_its_shortest_plan() -> None:
    found = search(fragile)
    assert [(f.code, f.name, f.message) for f in found.failures] == [
        ("AGT299", "made-up", "1.50 s: it broke"),
        ("PRO399", "made-up", "1.50 s: it broke"),
    ]
    together, alone = found.failures
    assert sorted(fault.partition(":")[0] for fault in together.plan) == ["latency", "stall"]
    assert len(alone.plan) == 1
    assert (together.harm, alone.harm) == ("legal", "survivable")
    assert together.found_in > alone.found_in > 1
    assert alone.runs > 1
    assert (found.runs, found.statuses, found.interrupted) == (500, {"ended": 500}, False)
    assert msgspec.json.decode(msgspec.json.encode(found), type=Search) == found


def test_the_call_that_is_told_is_the_one_that_failed() -> None:
    crew = Pretended(fragile)
    for failure in explore(JOB, (FRONT,), crew, runs=200).failures:
        job = Job(failure.client, failure.cassette, failure.plan, failure.seed)
        assert failure.code in fragile(job).codes
        assert failure.trace_sha256 == str(job)
        assert failure.same
        assert crew.jobs.count(job) >= 2


def test_the_same_seed_has_the_same_findings() -> None:
    assert search(fragile, 120, 5) == search(fragile, 120, 5)


def test_what_fails_as_it_is_needs_no_fault() -> None:
    (failure,) = search(lambda job: broken("AGT299", job), 40).failures
    assert (failure.plan, failure.seed, failure.found_in, failure.runs) == ((), 0, 1, 40)


def test_a_seed_is_kept_only_where_it_matters() -> None:
    def lucky(job: Job) -> Outcome:
        return broken("AGT299", job) if job.seed > 100 else Outcome("ended")

    (failure,) = search(lucky, 200).failures
    assert failure.seed > 100


def test_a_client_that_is_not_the_same_twice_is_told() -> None:
    calls = iter(range(10_000))
    made = search(lambda job: msgspec.structs.replace(broken("AGT299", job), trace_sha256=str(next(calls))), 3)
    assert not made.failures[0].same


def test_what_only_the_call_is_to_blame_for_is_no_failure() -> None:
    def gives_up(job: Job) -> Outcome:
        harm = worst_of(parse_plan(job.plan))
        return Outcome("raised" if harm == "fatal" else "ended", "the server has gone", harm=harm)

    found = search(gives_up)
    assert found.failures == []
    assert found.statuses["raised"] > 5


def test_time_ends_it_too() -> None:
    found = explore(JOB, (FRONT,), Pretended(fragile), runs=None, time_s=0.0)
    assert found.runs == 0


def test_the_first_run_that_is_enough_is_the_last() -> None:
    """Those that were under way beside it do not count, so that the number of workers changes nothing."""
    whole, short = (
        search(fragile, 500),
        explore(JOB, (FRONT,), Pretended(fragile), runs=500, until=lambda outcome: outcome.failed),
    )
    first = min(failure.found_in for failure in whole.failures)
    assert short.runs == first < 500
    assert [failure.found_in for failure in short.failures] == [first]
    assert sum(short.statuses.values()) == first


def test_ctrl_c_ends_the_calls_and_what_was_found_is_told() -> None:
    def made(job: Job) -> Outcome:
        if len(crew.jobs) == 100:
            raise KeyboardInterrupt
        return fragile(job)

    crew = Pretended(made)
    found = explore(JOB, (FRONT,), crew, runs=500)
    assert found.interrupted
    assert 100 - crew.window <= found.runs < 100 + crew.window  # whoever was under way beside it
    assert "PRO399" in [failure.code for failure in found.failures]


def test_who_is_told() -> None:
    numbers: list[int] = []
    failures: list[Failure] = []
    found = explore(
        JOB,
        (FRONT,),
        Pretended(fragile),
        runs=60,
        on_run=lambda number, outcome: numbers.append(number),
        on_failure=failures.append,
    )
    assert sorted(numbers) == list(range(60))
    assert failures == found.failures


def test_an_unknown_cassette_is_an_error() -> None:
    with pytest.raises(SimrtError, match="no shipped cassette"):
        search(fragile, 3, 0, "nonesuch")


def test_runs_hold_what_was_drawn() -> None:
    run = next(islice(runs_of(JOB, (FRONT,), 0), 4, 5))
    assert isinstance(run, Run)
    (drawn,) = run.plan
    assert run.space.redraw(type(drawn.fault), drawn.choices) == drawn


def test_the_number_of_workers_changes_nothing() -> None:
    job = Job("clients.call:DrainCall", FRONT)
    with LocalCrew(1) as one, LocalCrew(2) as two:
        found = [explore(job, (FRONT,), crew, runs=16) for crew in (one, two)]
    assert found[0] == found[1]
