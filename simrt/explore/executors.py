"""Who runs jobs: processes on this machine, or a cluster. Both are `concurrent.futures` executors underneath, and give
the same outcomes."""

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Executor, Future, wait
from types import TracebackType
from typing import Self

from simrt.errors import SimrtError
from simrt.explore.job import Job, Outcome, lost, run_job
from simrt.explore.processes import BUSY_S, Processes, WorkerDied
from simrt.explore.worker import Hung

PROCESSES = "processes"


class Crew(ABC):
    """Runs jobs in `workers` processes at once, with `window` of them under way; a context manager, which gives up what
    still runs at its end."""

    workers: int
    window: int
    executor: Executor

    @abstractmethod
    def submit(self, job: Job) -> "Future[Outcome]":
        """Have a job run. A client that hangs or kills its process is an outcome too.

        The future's error is a SimrtError: there is no such client or cassette, or nobody is left to run it.
        """

    @abstractmethod
    def close(self) -> None:
        """Give up what still runs, and let go of the processes."""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()

    def run(self, jobs: Iterable[Job]) -> Iterator[tuple[int, Outcome]]:
        """Run jobs, and yield (number, outcome) as they are done, in any order; jobs are taken as they can be begun, so
        there may be no end of them. Whoever stops asking gives up the rest."""
        source = enumerate(jobs)
        running: dict[Future[Outcome], int] = {}
        try:
            while True:
                while len(running) < self.window:
                    number, job = next(source, (-1, None))
                    if job is None:
                        break
                    running[self.submit(job)] = number
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    yield running.pop(future), future.result()
        finally:
            for future in running:
                future.cancel()

    def run_all(self, jobs: Iterable[Job]) -> list[Outcome]:
        """Run jobs; their outcomes in the order of the jobs."""
        return [outcome for _, outcome in sorted(self.run(jobs), key=lambda pair: pair[0])]


class LocalCrew(Crew):
    """Processes on this machine; `workers` 0: one for each core. `busy_s`: processor time that one call may take."""

    executor: Processes

    def __init__(self, workers: int = 0, *, busy_s: float = BUSY_S) -> None:
        self.executor = Processes(workers, busy_s=busy_s)
        self.workers = self.executor.workers
        self.window = 2 * self.workers + 2

    def submit(self, job: Job) -> "Future[Outcome]":
        """Have a job run."""
        return settled(self.executor.submit(run_job, job))

    def close(self) -> None:
        """Kill what still runs."""
        self.executor.shutdown(cancel_futures=True)


def crew(where: str = PROCESSES, workers: int = 0, *, busy_s: float = BUSY_S) -> Crew:
    """Who runs the jobs: `where` is "processes", or "dask://HOST:PORT" for the cluster of that scheduler.

    `workers`: how many calls are made at once; 0: as many as there are cores, or threads in the cluster.

    SimrtError: there is no such cluster, or the extra `cluster` is not installed.
    """
    if where == PROCESSES:
        return LocalCrew(workers, busy_s=busy_s)
    scheme, found, address = where.partition("://")
    if scheme == "dask" and found and address:
        from simrt.explore.cluster import DaskCrew

        return DaskCrew(address, workers, busy_s=busy_s)
    raise SimrtError(f"--executor {where}: there is {PROCESSES}, and dask://HOST:PORT")


def settled(raw: "Future[Outcome]", deaths: tuple[type[BaseException], ...] = (WorkerDied,)) -> "Future[Outcome]":
    """A future that makes outcomes of the errors which are the client's doing. `deaths`: those that mean that a process
    died of it."""
    outer: Future[Outcome] = Future()

    def settle(inner: "Future[Outcome]") -> None:
        if not outer.set_running_or_notify_cancel():
            return
        error = SimrtError("a job was given up: the executor is gone") if inner.cancelled() else inner.exception()
        if error is None:
            outer.set_result(inner.result())
        elif isinstance(error, Hung):
            outer.set_result(lost("hung", str(error)))
        elif isinstance(error, deaths):
            outer.set_result(lost("died", str(error)))
        else:
            outer.set_exception(error)

    outer.add_done_callback(lambda done: done.cancelled() and raw.cancel())
    raw.add_done_callback(settle)
    return outer
