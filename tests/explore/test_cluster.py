"""Jobs on a real cluster: a scheduler and workers that are processes of their own."""

import json
import os
import signal
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from simrt.cli import app
from simrt.errors import SimrtError
from simrt.explore import Job, Outcome
from simrt.explore.cluster import DaskCrew, keep
from simrt.explore.executors import LocalCrew, crew
from simrt.explore.luggage import Luggage

from .test_executors import JOBS, same
from .test_job import SHORT, timeless

distributed = pytest.importorskip("distributed", reason="needs simrt[cluster]")
pytestmark = [pytest.mark.slow, pytest.mark.timeout(120)]


@pytest.fixture(scope="module")
def cluster() -> Iterator[Any]:
    options = {"processes": True, "dashboard_address": ":0", "host": "127.0.0.1"}
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, **options) as made:
        yield made


def at_home(jobs: Sequence[Job]) -> list[Outcome]:
    """What comes of jobs without a cluster. In another process: this one is the scheduler's, whose clock must go on."""
    with LocalCrew(1) as hands:
        return hands.run_all(jobs)


@pytest.fixture
def here(cluster: Any) -> Iterator[DaskCrew]:
    with crew(cluster.scheduler_address.replace("tcp", "dask"), busy_s=1) as made:
        assert isinstance(made, DaskCrew)
        yield made


def test_it_is_a_concurrent_futures_executor(here: DaskCrew) -> None:
    from concurrent.futures import Executor, as_completed

    assert isinstance(here.executor, Executor)
    futures = [here.submit(job) for job in JOBS[:2]]
    traces = {future.result().trace_sha256 for future in as_completed(futures)}
    assert traces == {outcome.trace_sha256 for outcome in at_home(JOBS[:2])}


def test_the_cluster_finds_what_one_process_finds(here: DaskCrew) -> None:
    assert here.workers == 2
    assert same(here.run_all(JOBS)) == same(at_home(JOBS))


def test_calls_are_made_beside_the_workers_not_in_them(here: DaskCrew) -> None:
    here.run_all(JOBS[:4])
    known = here._client.run(children)
    assert all(count == 1 for count in known.values())


def children() -> int:
    """How many processes a worker of the cluster has for calls."""
    from simrt.explore import cluster

    return len(cluster._processes(1, 1).pids)


def test_a_cassette_travels_once(here: DaskCrew) -> None:
    here.run_all(JOBS)
    assert len(here._packed) == 1
    (future,) = here._packed.values()
    assert here._client.submit(keep, future).result() == future.result()
    assert isinstance(future.result(), Luggage)
    folders = here._client.run(unpacked)
    assert all(len(found) == 1 for found in folders.values())


def unpacked() -> list[str]:
    """What a worker of the cluster has unpacked."""
    from simrt.explore import luggage

    return list(luggage._unpacked.values())


def test_a_killed_worker_loses_nothing(here: DaskCrew) -> None:
    outcomes: dict[int, Outcome] = {}
    for number, outcome in here.run(JOBS * 4):
        outcomes[number] = outcome
        if len(outcomes) == 4:
            os.kill(next(iter(here._client.run(os.getpid).values())), signal.SIGKILL)
    assert sorted(outcomes) == list(range(4 * len(JOBS)))
    assert same([outcomes[number] for number in range(6)]) == same(at_home(JOBS))


async def spinning(line: object) -> None:
    """A client that gives nothing else a turn."""
    while True:
        pass


def test_a_client_that_hangs_is_an_outcome_and_the_worker_lives(here: DaskCrew) -> None:
    hung, fine = here.run_all([Job(f"{__name__}:spinning", SHORT), JOBS[0]])
    assert (hung.status, hung.codes) == ("hung", ("hung",))
    assert timeless(fine) == timeless(*at_home(JOBS[:1]))


def test_a_sweep_on_the_cluster_is_the_sweep_at_home(cluster: Any, home: Path) -> None:
    command = ["sweep", "clients.call:DrainCall", SHORT, "--fault", "stall:at=0..2s/500ms", "--json"]
    where = ["--executor", cluster.scheduler_address.replace("tcp", "dask")]
    there, here = (json.loads(CliRunner().invoke(app, [*command, *rest]).stdout) for rest in (where, []))
    for point in (*there["points"], *here["points"]):
        del point["outcome"]["cpu_ms"]
    assert there == here
    assert here["summary"]["failed"] > 0


def test_a_job_that_nobody_can_do_is_an_error(here: DaskCrew) -> None:
    with pytest.raises(SimrtError, match="has no 'Nobody'"):
        here.run_all([Job("clients.call:Nobody", SHORT)])


def test_a_scheduler_that_is_not_there_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simrt.explore.cluster._PATIENCE_S", 0.2)
    with pytest.raises(SimrtError, match=r"no dask scheduler answers at 127\.0\.0\.1:9"):
        crew("dask://127.0.0.1:9")


def test_a_scheduler_without_workers_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simrt.explore.cluster._PATIENCE_S", 0.5)
    with (
        distributed.LocalCluster(n_workers=0, dashboard_address=":0", host="127.0.0.1") as empty,
        pytest.raises(SimrtError, match="has no worker: start one"),
    ):
        crew(empty.scheduler_address.replace("tcp", "dask"))
