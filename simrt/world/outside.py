"""The outside of a World: jobs in executors, and calls from other threads. Both take real time.

While a job is pending, virtual time stands still. The loop's own executor runs one job after the other, so that two of
them meet what they share in a certain order; and outcomes are delivered in the order of submission, whichever job is
done first. So a program runs the same on a loaded machine.
"""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Callable
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for_jobs
from typing import Any

logger = logging.getLogger("simrt.world")

# Real seconds without news, after which jobs are begun and delivered out of turn, given up when no one awaits them any
# more, and after which threads that no one knows are taken to have nothing to say.
PATIENCE = 1.0
# Real seconds between looks at threads that cannot wake the loop when they are done.
POLL = 0.001
# Real seconds to wait, at the end, for jobs that still run.
LAST_PATIENCE = 10.0


class _Job:
    """A call in an executor, and the future that awaits it in the loop."""

    def __init__(self, call: "Future[Any]", future: "asyncio.Future[Any]", name: str) -> None:
        self.call = call
        self.future = future
        self.name = name

    def deliver(self) -> None:
        """Copy the outcome of the (finished) call into the future."""
        if self.future.done():
            return
        if self.call.cancelled():
            self.future.cancel()
            return
        error = self.call.exception()
        if error is None:
            self.future.set_result(self.call.result())
        elif isinstance(error, StopIteration):
            wrapped = RuntimeError("the job raised StopIteration, which a future cannot hold")
            wrapped.__cause__ = error
            self.future.set_exception(wrapped)
        else:
            self.future.set_exception(error)


class Outside:
    """What LOOP waits for in real time. READY is its queue; what comes from outside goes there."""

    def __init__(self, loop: asyncio.AbstractEventLoop, ready: deque[asyncio.Handle]) -> None:
        self._loop = loop
        self._ready = ready
        self._jobs: deque[_Job] = deque()
        self._calls: set[Future[Any]] = set()
        self._latest: Future[Any] | None = None
        self._foreign: deque[asyncio.Handle] = deque()
        self._woken = threading.Event()
        self._threads: dict[int, threading.Thread] = getattr(threading, "_active", {})
        self._known: frozenset[threading.Thread] = frozenset()
        self._count = 0

    def begin(self) -> None:
        """The loop starts to run: threads that are there already owe it nothing."""
        self._known = frozenset(threading.enumerate())
        self._count = len(self._threads)

    def pending(self) -> bool:
        """Whether the outside may owe something, found out fast."""
        return bool(self._jobs or self._foreign or len(self._threads) != self._count)

    def submit(
        self,
        executor: Executor,
        future: "asyncio.Future[Any]",
        func: Callable[..., Any],
        args: tuple[Any, ...],
        in_turn: bool,
    ) -> None:
        """Run FUNC(*ARGS) in EXECUTOR; FUTURE gets the outcome when its turn comes.

        IN_TURN: it begins when the job before it that was to run in turn has ended.
        """
        before = self._latest
        if in_turn and before is not None and not before.done():
            call = executor.submit(_run_after, before, func, args)
        else:
            call = executor.submit(func, *args)
        if in_turn:
            self._latest = call
        # asyncio.to_thread submits context.run(partial): name what it wraps
        inner = getattr(args[0], "func", None) if args else None
        name = getattr(inner or func, "__qualname__", repr(func))
        self._jobs.append(_Job(call, future, name))
        self._calls.add(call)
        call.add_done_callback(self._done)
        future.add_done_callback(lambda future: future.cancelled() and call.cancel())

    def _done(self, call: "Future[Any]") -> None:
        self._calls.discard(call)
        self._woken.set()

    def call(self, handle: asyncio.Handle) -> None:
        """Another thread wants HANDLE run."""
        self._foreign.append(handle)
        self._woken.set()

    def wake(self) -> None:
        """End a wait: a signal handler has made something ready."""
        self._woken.set()

    def look(self, now: float) -> bool:
        """Wait for the next thing that the outside owes, and make it ready. False: it owes nothing.

        NOW is for messages.
        """
        waited = 0.0
        while self._jobs or self._foreign or self._workers():
            self._woken.clear()
            if self._foreign:
                while self._foreign:
                    self._ready.append(self._foreign.popleft())
                return True
            if self._jobs and self._jobs[0].call.done():
                self._jobs.popleft().deliver()
                return True
            pause = PATIENCE if self._jobs else POLL
            done = [job for job in self._jobs if job.call.done()]  # what is done from here on is news
            if self._woken.wait(pause):
                waited = 0.0
                if self._ready:
                    return True
                continue
            waited += pause
            if waited >= PATIENCE:
                waited = 0.0
                if self._deliver_out_of_turn(done):
                    return True
                names = [job.name for job in self._jobs] or [thread.name for thread in self._workers()]
                logger.warning("time stands still at %.3f s, waiting in real time for %s", now, names)
        return False

    def _workers(self) -> list[threading.Thread]:
        """anyio's worker threads that are at work for this loop: it starts its own, past the executor."""
        count = len(self._threads)
        if count == self._count:
            return []
        theirs = [thread for thread in threading.enumerate() if type(thread).__module__.startswith("anyio.")]
        mine: list[Any] = [thread for thread in theirs if getattr(thread, "loop", None) is self._loop]
        if not mine:
            self._count = count  # no need to look again until there are more threads
        return [thread for thread in mine if thread.queue.unfinished_tasks]

    def _deliver_out_of_turn(self, done: list[_Job]) -> bool:
        """Jobs may wait for each other: let the younger go first. And do not wait for what no one awaits."""
        chosen = done or [job for job in self._jobs if job.future.done()]
        for job in chosen:
            self._jobs.remove(job)
            job.deliver()
        return bool(chosen)

    def linger(self, executor: Executor | None) -> bool:
        """Threads that the program started, other than EXECUTOR's, may still call: wait a moment for them."""
        workers = getattr(executor, "_threads", ())
        strangers = set(threading.enumerate()) - self._known - set(workers)
        if not strangers or self._foreign:
            return bool(self._foreign)
        self._woken.clear()
        return bool(self._foreign) or self._woken.wait(PATIENCE)

    def shut(self, executor: Executor) -> None:
        """End EXECUTOR, waiting for jobs that run."""
        executor.shutdown(wait=False, cancel_futures=True)
        late = wait_for_jobs(list(self._calls), LAST_PATIENCE).not_done
        if late:
            logger.warning("%d jobs still run at the end of the World; their threads are left alone", len(late))
        else:
            executor.shutdown(wait=True)

    def clear(self) -> None:
        """Forget everything."""
        self._jobs.clear()
        self._foreign.clear()


def _run_after(before: "Future[Any]", func: Callable[..., Any], args: tuple[Any, ...]) -> Any:
    wait_for_jobs([before], PATIENCE)  # not for ever: it may itself wait for this one
    return func(*args)


def new_executor() -> Executor:
    """The executor of a loop that was not given one."""
    return ThreadPoolExecutor(thread_name_prefix="world")
