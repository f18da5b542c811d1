"""Jobs on a cluster of dask workers: one call a task; each cassette travels there once.

A worker does not make the calls itself: a World stops the clock and shuts the network of its whole process, the
worker's own talk included, and a client that hangs would hang the worker. It has processes of its own for them, as many
as it has threads.
"""

import threading
from concurrent.futures import Executor, Future
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

import msgspec

from simrt.errors import SimrtError
from simrt.explore.executors import Crew, settled
from simrt.explore.job import Job, Outcome, lost, run_job
from simrt.explore.luggage import Luggage, pack, unpack
from simrt.explore.processes import Processes, WorkerDied
from simrt.explore.worker import Hung

_PATIENCE_S = 15  # to find the scheduler, and a first worker


class DaskCrew(Crew):
    """The workers of the dask scheduler at `address` ("HOST:PORT").

    They need simrt, and must be able to import the client; cassettes travel. A worker that is lost loses no job: the
    scheduler gives its jobs to others, as often as its `allowed-failures` says.
    """

    executor: Executor

    def __init__(self, address: str, workers: int = 0, *, busy_s: float) -> None:
        try:
            distributed: Any = import_module("distributed")
        except ImportError:
            raise SimrtError("dask.distributed is not installed: pip install 'simrt[cluster]'") from None
        try:
            self._client = distributed.Client(f"tcp://{address}", timeout=_PATIENCE_S, set_as_default=False)
        except (OSError, ValueError) as error:  # TimeoutError is an OSError
            raise SimrtError(f"no dask scheduler answers at {address}: {error}") from None
        try:
            self._client.wait_for_workers(1, timeout=_PATIENCE_S)
        except TimeoutError:
            self._client.close()
            raise SimrtError(f"the dask scheduler at {address} has no worker: start one, or more") from None
        self._busy_s = busy_s
        self._deaths = (distributed.KilledWorker,)
        self._lock = threading.Lock()
        self._packed: dict[str, Any] = {}
        threads = sum(self._client.nthreads().values())
        self.workers = min(workers, threads) if workers else threads
        self.window = self.workers if workers else 2 * threads + 2
        self.executor = self._client.get_executor(pure=False)

    def submit(self, job: Job) -> "Future[Outcome]":
        """Have a job run on some worker."""
        with self._lock:
            if job.cassette not in self._packed:
                self._packed[job.cassette] = self._client.submit(keep, pack(job.cassette))
            packed = self._packed[job.cassette]
        return settled(self.executor.submit(run_there, job, packed, self._busy_s), self._deaths)

    def close(self) -> None:
        """Give up what still runs."""
        self.executor.shutdown(wait=False)
        self._client.close()


def keep(luggage: Luggage) -> Luggage:
    """A cassette as a task's result: workers hand it on among themselves, and make it anew when it is lost with one of
    them, which they could not if it were scattered data."""
    return luggage


def run_there(job: Job, luggage: Luggage, busy_s: float) -> Outcome:
    """A job on a worker of the cluster, in one of the worker's own processes."""
    worker = import_module("distributed").get_worker()
    here = msgspec.structs.replace(job, cassette=unpack(luggage, Path(worker.local_directory) / "simrt-cassettes"))
    with _starting:
        processes = _processes(worker.state.nthreads, busy_s)
    try:
        return processes.submit(run_job, here).result()
    except Hung as error:
        return lost("hung", str(error))
    except WorkerDied as error:
        return lost("died", str(error))


_starting = threading.Lock()


@cache
def _processes(workers: int, busy_s: float) -> Processes:
    return Processes(workers, busy_s=busy_s)
