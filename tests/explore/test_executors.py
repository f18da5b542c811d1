"""Crews: the same outcomes as one after the other, in any order of being done."""

import os
import signal
from collections.abc import Iterator
from itertools import count
from pathlib import Path

import msgspec
import pytest

from simrt.errors import SimrtError
from simrt.explore import Job, Outcome, run_job
from simrt.explore.executors import LocalCrew, crew

from .test_job import DRAIN, SHORT, module, timeless

JOBS = [msgspec.structs.replace(DRAIN, plan=("spread",), seed=seed) for seed in range(6)]


@pytest.fixture(scope="module")
def two() -> Iterator[LocalCrew]:
    with LocalCrew(2) as made:
        yield made


def same(outcomes: list[Outcome]) -> list[Outcome]:
    return [timeless(outcome) for outcome in outcomes]


def test_two_processes_find_what_one_finds(two: LocalCrew) -> None:
    alone = [run_job(job) for job in JOBS]
    assert same(two.run_all(JOBS)) == same(alone)
    assert len({outcome.trace_sha256 for outcome in alone}) == len(JOBS)


def test_the_order_of_the_calls_changes_nothing(two: LocalCrew) -> None:
    jobs = [*JOBS, Job("clients.refund:RefundDesk", "refund", ("spread",), seed=3)]
    assert same(two.run_all(reversed(jobs))) == same(two.run_all(jobs))[::-1]


def test_outcomes_come_as_they_are_done_and_jobs_may_have_no_end(two: LocalCrew) -> None:
    asked = []

    def jobs() -> Iterator[Job]:
        for number in count():
            asked.append(number)
            yield JOBS[number % len(JOBS)]

    found = dict(outcome for _, outcome in zip(range(8), two.run(jobs()), strict=False))
    assert len(found) == 8
    assert len(asked) <= 8 + two.window
    assert timeless(found[0]) == timeless(run_job(JOBS[0]))


def test_a_killed_process_loses_nothing(two: LocalCrew) -> None:
    outcomes: dict[int, Outcome] = {}
    for number, outcome in two.run(JOBS * 3):
        outcomes[number] = outcome
        if len(outcomes) in (3, 8):
            os.kill(two.executor.pids[0], signal.SIGKILL)
    assert sorted(outcomes) == list(range(3 * len(JOBS)))
    assert same([outcomes[number] for number in range(6, 12)]) == same(two.run_all(JOBS))


def test_a_client_that_hangs_or_kills_its_process_is_an_outcome(home: Path) -> None:
    spinning = "async def client(line):\n    while True:\n        pass\n"
    deadly = (
        "import os, sys\nasync def client(line):\n    print('gone', file=sys.stderr, flush=True)\n    os._exit(7)\n"
    )
    jobs = [Job(module(home, spinning, "spinning"), SHORT), Job(module(home, deadly, "deadly"), SHORT), JOBS[0]]
    with LocalCrew(1, busy_s=1) as one:
        hung, died, fine = one.run_all(jobs)
    assert (hung.status, hung.failed, hung.figures["failed"]) == ("hung", True, 1)
    assert f"it is in client ({home / 'spinning.py'}:1)" in str(hung.error)
    assert (died.status, died.failed) == ("died", True)
    assert "exit status 7; it last said 'gone'" in str(died.error)
    assert timeless(fine) == timeless(run_job(JOBS[0]))


def test_a_job_that_nobody_can_do_is_an_error(two: LocalCrew) -> None:
    with pytest.raises(SimrtError, match="has no 'Nobody'"):
        two.run_all([Job("clients.call:Nobody", SHORT)])


@pytest.mark.parametrize("where", ["dask", "dask://", "ray://here:1", "threads"])
def test_an_executor_that_is_not_there_is_told(where: str) -> None:
    with pytest.raises(SimrtError, match="there is processes, and dask://HOST:PORT"):
        crew(where)


def test_the_default_is_a_process_for_each_core() -> None:
    with crew() as made:
        assert made.workers == os.cpu_count()
