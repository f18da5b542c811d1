"""An executor whose processes can be killed, can hang and can be started anew, and no job is lost by it.

The standard library's ProcessPoolExecutor gives up as a whole when one of its processes dies, cannot stop a job that
runs, and starts no process inside a daemonic one, as the workers of a cluster are. What is submitted here is a function
that can be imported, with arguments that can be pickled, as there.
"""

import os
import pickle
import queue
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable
from concurrent.futures import Executor, Future
from typing import Any, ParamSpec, TypeVar

from simrt.errors import SimrtError
from simrt.explore.worker import Hung, receive, send

P = ParamSpec("P")
T = TypeVar("T")

BUSY_S = 30.0
"""Processor time that one job may take; a call takes some hundredths of a second."""
ATTEMPTS = 3
"""How often a job is begun whose process dies, before it is taken to be the job that kills it."""
RECYCLE = 500
"""Jobs that a process does before a fresh one takes its place."""

_PATIENCE = 5  # real time that a job may take is that many times its processor time: others want the cores too


class WorkerDied(SimrtError):
    """A job whose process has died each time that it was tried."""


class _Task:
    def __init__(self, future: "Future[Any]", function: Callable[..., Any], args: tuple[Any, ...]) -> None:
        self.future, self.function, self.args = future, function, args
        self.attempts = 0


class Processes(Executor):
    """`workers` processes (0: one for each core) that stay warm from job to job: what a job has imported and loaded is
    there for the next one.

    A job gets Hung when it takes more than `busy_s` of processor time, or of real time far more than that; a job whose
    process dies is tried again, WorkerDied after ATTEMPTS times.
    """

    def __init__(self, workers: int = 0, *, busy_s: float = BUSY_S, recycle: int = RECYCLE) -> None:
        self.workers = workers or os.cpu_count() or 1
        self._busy_s, self._recycle = busy_s, recycle
        self._todo: queue.SimpleQueue[_Task | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._closed = self._killed = False
        self._slots: list[_Slot] = []
        self._threads: list[threading.Thread] = []

    def submit(self, fn: Callable[P, T], /, *args: P.args, **kwargs: P.kwargs) -> "Future[T]":
        """Have FN called with ARGS in one of the processes, which are started when they are first needed."""
        if kwargs:
            raise TypeError("simrt's processes take no keyword arguments")
        future: Future[T] = Future()
        with self._lock:
            if self._closed:
                raise RuntimeError("cannot schedule new futures after shutdown")
            self._todo.put(_Task(future, fn, args))
            if len(self._threads) < self.workers:
                slot = _Slot(self._busy_s)
                thread = threading.Thread(target=self._serve, args=(slot,), name="simrt-slot", daemon=True)
                self._slots.append(slot)
                self._threads.append(thread)
                thread.start()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Take no more jobs; with `cancel_futures` also give up those that wait or run, and kill the processes."""
        with self._lock:
            self._closed = True
            self._killed = self._killed or cancel_futures
            threads = list(self._threads)
        for _ in threads:
            self._todo.put(None)
        if cancel_futures:
            for slot in self._slots:
                slot.kill()
        if wait:
            for thread in threads:
                thread.join()

    @property
    def pids(self) -> list[int]:
        """The processes that are there."""
        return [slot.child.pid for slot in self._slots if slot.child is not None and slot.child.poll() is None]

    def _serve(self, slot: "_Slot") -> None:
        try:
            while (task := self._todo.get()) is not None:
                if self._killed:
                    task.future.cancel()
                    task.future.set_running_or_notify_cancel()
                elif task.attempts or task.future.set_running_or_notify_cancel():
                    self._do(slot, task)
        finally:
            slot.end()

    def _do(self, slot: "_Slot", task: _Task) -> None:
        while True:
            task.attempts += 1
            try:
                fine, answer = slot.ask(task.function, task.args)
            except _Died as death:
                if self._killed:
                    task.future.set_exception(SimrtError("given up: the processes were told to end"))
                elif task.attempts < ATTEMPTS:
                    continue
                else:
                    task.future.set_exception(WorkerDied(f"{death}, {ATTEMPTS} times, in this call"))
            except Exception as error:
                task.future.set_exception(error)
            else:
                if fine:
                    task.future.set_result(answer)
                else:
                    task.future.set_exception(answer)
            break
        if slot.jobs >= self._recycle:
            slot.end()


class _Died(Exception):
    pass


class _Slot:
    """A place for one process."""

    def __init__(self, busy_s: float) -> None:
        self.child: subprocess.Popen[bytes] | None = None
        self.jobs = 0
        self._greeted = False
        self._busy_s = busy_s
        self._said: Any = None
        self._lock = threading.Lock()
        self._closed = False

    def ask(self, function: Callable[..., Any], args: tuple[Any, ...]) -> tuple[bool, Any]:
        """Have one job done. SimrtError: there is no process to do it; any other but _Died: the job cannot be sent."""
        child = self._ready()
        self._greet(child)
        assert child.stdin is not None
        assert child.stdout is not None
        overdue = threading.Event()
        limit_s = _PATIENCE * self._busy_s

        def give_up() -> None:
            overdue.set()
            child.kill()

        timer = threading.Timer(limit_s, give_up)
        timer.daemon = True
        try:
            send(child.stdin, (function, args))
        except OSError:
            raise self._dead(child) from None
        timer.start()
        try:
            answer = receive(child.stdout)
        finally:
            timer.cancel()
        self.jobs += 1
        if answer is None:
            death = self._dead(child)
            if overdue.is_set():
                return False, Hung(f"the client gave no sign of life for {limit_s:g} s of real time")
            raise death
        fine, value = pickle.loads(answer)
        if isinstance(value, Hung):
            self.end()  # it ends by itself; do not give it another job
        return fine, value

    def _greet(self, child: "subprocess.Popen[bytes]") -> None:
        """Wait until a new process is there; one that fails before it has a job is not the job's doing."""
        assert child.stdout is not None
        if not self._greeted:
            self._greeted = receive(child.stdout) is not None
        if not self._greeted:
            death = self._dead(child)
            if child.returncode < 0:  # somebody has killed it
                raise death
            raise SimrtError(f"no process can be started to make calls: {death}")

    def _ready(self) -> "subprocess.Popen[bytes]":
        with self._lock:
            if self._closed:
                raise _Died("a process was told to end")
            if self.child is None or self.child.poll() is not None:
                self._forget()
                self._said = tempfile.TemporaryFile()  # noqa: SIM115  lives as long as the process
                self.jobs, self._greeted = 0, False
                program = f"import sys; sys.path[:] = {sys.path!r}\nfrom simrt.explore.worker import main\n"
                command = [sys.executable, "-c", f"{program}main({self._busy_s!r})"]
                self.child = subprocess.Popen(
                    command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, bufsize=-1
                )
            return self.child

    def _dead(self, child: "subprocess.Popen[bytes]") -> _Died:
        code = child.wait()
        how = f"with exit status {code}"
        if code < 0:
            how = f"of signal {signal.Signals(-code).name}"
        last = ""
        if self._said is not None and not self._said.closed:
            self._said.seek(0)
            lines = self._said.read().decode(errors="replace").split("\n")
            last = next((f"; it last said {line.strip()!r}" for line in reversed(lines) if line.strip()), "")
        return _Died(f"the process died {how}{last}")

    def end(self) -> None:
        """Let the process end: it does when its stdin does."""
        with self._lock:
            if self.child is not None:
                assert self.child.stdin is not None
                try:
                    self.child.stdin.close()
                    self.child.wait(5)
                except (OSError, subprocess.TimeoutExpired):
                    self.child.kill()
            self._forget()

    def kill(self) -> None:
        """End it now, whatever it does, and start no other."""
        with self._lock:
            self._closed = True
            if self.child is not None:
                self.child.kill()

    def _forget(self) -> None:
        child, self.child = self.child, None
        if child is not None:
            for stream in (child.stdin, child.stdout):
                try:
                    if stream is not None:
                        stream.close()
                except OSError:
                    pass
            child.wait()
        if self._said is not None:
            self._said.close()
            self._said = None
