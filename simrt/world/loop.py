"""The event loop of a World: virtual time, no selector, an in-memory network."""

import asyncio
import heapq
import logging
import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor, Future, ThreadPoolExecutor
from concurrent.futures import wait as wait_for_jobs
from contextlib import AbstractContextManager, nullcontext
from contextvars import Context
from typing import Any, NoReturn, TypeVar

from simrt.errors import WorldError
from simrt.world.network import Factory, Host, MemoryServer, Network
from simrt.world.stuck import Deadlock, describe
from simrt.world.transport import MemoryTransport

T = TypeVar("T")

logger = logging.getLogger("simrt.world")

# Rounds of the loop at one moment of virtual time: after so many, a loop that spins looks outside, ...
_LOOK_OUTSIDE = 1_000
# ... and after so many it is stuck.
_SPINNING = 1_000_000
# Real seconds to wait for the oldest job when a younger one is done, and for one that no one awaits any more.
_PATIENCE = 1.0
# Real seconds to wait at the end for jobs that no one awaits any more.
_LAST_PATIENCE = 10.0


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
            wrapped = RuntimeError("the job raised StopIteration, which a Future cannot hold")
            wrapped.__cause__ = error
            self.future.set_exception(wrapped)
        else:
            self.future.set_exception(error)


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop whose clock starts at 0.0 and jumps.

    Time advances, to exactly the moment of the next timer, only when nothing is ready to run and no executor job
    is pending. Timers of the same moment run in the order in which they were set. Jobs run in real threads and
    in real time; their results arrive in the order of submission, whichever is done first. When nothing can ever
    happen again, `Deadlock` is raised out of `run_until_complete`.

    `around` makes a context in which each run takes place: a World freezes the wall clock there.
    """

    _ready: deque[asyncio.Handle]
    _thread_id: int | None
    _closed: bool
    _stopping: bool
    _debug: bool
    _default_executor: Executor | None
    _executor_shutdown_called: bool

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._timers: list[tuple[float, int, asyncio.TimerHandle]] = []
        self._timer_count = 0
        self._cancelled_timers = 0
        self._rounds = 0
        self._look_at = _LOOK_OUTSIDE
        self._jobs: deque[_Job] = deque()
        self._calls: set[Future[Any]] = set()
        self._foreign: deque[asyncio.Handle] = deque()  # from other threads
        self._woken = threading.Event()
        self._threads: frozenset[threading.Thread] = frozenset()
        self.network = Network(self)
        self.around: Callable[[], AbstractContextManager[object]] = nullcontext

    # Time

    def time(self) -> float:
        """Seconds since the loop was made, virtual."""
        return self._now

    @property
    def time_us(self) -> int:
        """`time()` in whole microseconds."""
        return round(self._now * 1e6)

    def call_soon(self, callback: Any, *args: Any, context: Context | None = None) -> asyncio.Handle:
        if self._closed or self._debug:
            return super().call_soon(callback, *args, context=context)
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_later(
        self, delay: float, callback: Any, *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        return self.call_at(self._now + delay, callback, *args, context=context)

    def call_at(
        self, when: float, callback: Any, *args: Any, context: Context | None = None
    ) -> asyncio.TimerHandle:
        if self._closed:
            raise RuntimeError("Event loop is closed")
        if math.isnan(when):
            raise ValueError("a timer cannot be set for NaN")
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        self._timer_count += 1
        heapq.heappush(self._timers, (when, self._timer_count, timer))
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        # Timeouts are mostly cancelled: do not let them pile up until their time comes.
        self._cancelled_timers += 1
        if self._cancelled_timers > 100 and self._cancelled_timers * 2 > len(self._timers):
            self._timers[:] = [entry for entry in self._timers if not entry[2]._cancelled]
            heapq.heapify(self._timers)
            self._cancelled_timers = 0

    # Running

    def run_forever(self) -> None:
        self._threads = frozenset(threading.enumerate())
        with self.around():
            super().run_forever()

    def _run_once(self) -> None:
        """One round: what is ready now; if nothing is, the next thing to happen."""
        ready = self._ready
        timers = self._timers
        self._rounds += 1
        if timers and timers[0][0] <= self._now:
            self._take_due()
        if not ready and not self._stopping:
            self._rest()
        elif self._rounds >= self._look_at:
            self._spin()
        for _ in range(len(ready)):
            handle = ready.popleft()
            if not handle._cancelled:
                handle._run()

    def _take_due(self) -> None:
        timers, now = self._timers, self._now
        while timers and timers[0][0] <= now:
            timer = heapq.heappop(timers)[2]
            if timer._cancelled:
                self._cancelled_timers -= 1
            else:
                self._ready.append(timer)

    def _rest(self) -> None:
        """Nothing is ready: find out what happens next, and make it ready."""
        if self._look_outside():
            return
        timers = self._timers
        while timers and timers[0][2]._cancelled:
            heapq.heappop(timers)
            self._cancelled_timers -= 1
        if timers and timers[0][0] < math.inf:
            self._now = max(self._now, timers[0][0])
            self._rounds = 0
            self._look_at = _LOOK_OUTSIDE
            self._take_due()
        elif not self._await_strangers():
            raise Deadlock(describe(self, "nothing is scheduled and nothing outside is pending"))

    def _spin(self) -> None:
        """The loop has been busy for long without a rest: do not starve the outside, nor go on for ever."""
        self._look_at = self._rounds + _LOOK_OUTSIDE
        if not self._look_outside() and self._rounds >= _SPINNING:
            raise Deadlock(describe(self, f"{_SPINNING} rounds of the loop without rest; sleep longer than 0"))

    # The outside: executor jobs and other threads

    def _look_outside(self) -> bool:
        """Wait, in real time, for the next thing that other threads owe us. False: they owe us nothing."""
        while True:
            self._woken.clear()
            if self._foreign:
                while self._foreign:
                    self._ready.append(self._foreign.popleft())
                return True
            if not self._jobs:
                return False
            if self._jobs[0].call.done():
                self._jobs.popleft().deliver()
                return True
            if not self._woken.wait(_PATIENCE):
                # Jobs may wait for each other: let the younger ones go first.
                done = [job for job in self._jobs if job.call.done()]
                gone = [job for job in self._jobs if job.future.done()]
                for job in done or gone:
                    self._jobs.remove(job)
                    job.deliver()
                if done or gone:
                    return True
                logger.warning(
                    "time stands still at %.3f s: waiting for %s in a thread", self._now, self._jobs[0].name
                )
            elif self._ready:  # a signal handler has been at work
                return True

    def _await_strangers(self) -> bool:
        """Threads that were started since, and not for a job, may still call: give them a moment."""
        workers = getattr(self._default_executor, "_threads", ())
        strangers = set(threading.enumerate()) - self._threads - set(workers)
        return bool(strangers) and self._woken.wait(_PATIENCE)

    def call_soon_threadsafe(
        self, callback: Any, *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        if self._thread_id == threading.get_ident():
            handle = self.call_soon(callback, *args, context=context)
        else:
            if self._closed:
                raise RuntimeError("Event loop is closed")
            handle = asyncio.Handle(callback, args, self, context)
            self._foreign.append(handle)
        self._woken.set()
        return handle

    def _write_to_self(self) -> None:
        self._woken.set()

    def run_in_executor(
        self, executor: Executor | None, func: Callable[..., T], *args: Any
    ) -> "asyncio.Future[T]":
        if self._closed or self._executor_shutdown_called:
            raise RuntimeError("the event loop takes no more jobs: it is closed or closing")
        if executor is None:
            executor = self._default_executor
        if executor is None:
            executor = self._default_executor = ThreadPoolExecutor(thread_name_prefix="world")
        call = executor.submit(func, *args)
        future: asyncio.Future[T] = self.create_future()
        inner = getattr(args[0], "func", args[0]) if args else func  # to_thread: Context.run(partial)
        name = getattr(inner if callable(inner) else func, "__qualname__", repr(func))
        self._jobs.append(_Job(call, future, name))
        self._calls.add(call)
        call.add_done_callback(self._job_done)
        future.add_done_callback(lambda future: future.cancelled() and call.cancel())
        return future

    def _job_done(self, call: "Future[Any]") -> None:
        self._calls.discard(call)
        self._woken.set()

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait in real time for jobs that still run, ten seconds at most, and end the threads."""
        self._executor_shutdown_called = True
        executor = self._default_executor
        if executor is None:
            return
        executor.shutdown(wait=False, cancel_futures=True)
        late = wait_for_jobs(list(self._calls), _LAST_PATIENCE).not_done
        if late:
            logger.warning("%d executor jobs still run at the end of the World; their threads are left", len(late))
        else:
            executor.shutdown(wait=True)

    def close(self) -> None:
        super().close()
        self._timers.clear()
        self._jobs.clear()
        self._foreign.clear()
        self.network.close()

    # Network

    async def getaddrinfo(
        self, host: Host, port: Any, *, family: int = 0, type: int = 0, proto: int = 0, flags: int = 0
    ) -> list[Any]:
        return self.network.resolve(host, port, family, type, proto)

    async def getnameinfo(self, sockaddr: Any, flags: int = 0) -> tuple[str, str]:
        return self.network.name_of(sockaddr[0]), str(sockaddr[1])

    async def sock_connect(self, sock: Any, address: Any) -> None:
        self.network.promise(sock, address)

    async def create_connection(  # type: ignore[override]
        self,
        protocol_factory: Factory,
        host: Host = None,
        port: Any = None,
        *,
        ssl: Any = None,
        sock: Any = None,
        **options: Any,
    ) -> tuple[MemoryTransport, asyncio.BaseProtocol]:
        """Connect in memory. TLS is neither done nor needed; options of the kernel's network are ignored.

        Raises:
            HostNotServed: no one serves the host.
        """
        if sock is not None:
            host, port = self.network.redeem(sock)
        elif host is None and port is None:
            raise ValueError("host and port was not specified and no sock specified")
        transport = self.network.connect(protocol_factory, host, port, bool(ssl))
        return transport, transport.get_protocol()

    async def create_server(  # type: ignore[override]
        self,
        protocol_factory: Factory,
        host: Host | Sequence[Host] = None,
        port: int | None = None,
        *,
        sock: Any = None,
        start_serving: bool = True,
        **options: Any,
    ) -> MemoryServer:
        """Listen in memory; no host, or `0.0.0.0`, is `localhost`."""
        if sock is not None:
            raise WorldError("create_server(sock=...) is not possible in a World: give a host and a port")
        hosts: Sequence[Host] = [host] if host is None or isinstance(host, str | bytes) else host
        server = self.network.create_server(protocol_factory, hosts, port)
        if start_serving:
            await server.start_serving()
        return server

    async def start_tls(
        self, transport: Any, protocol: asyncio.BaseProtocol, sslcontext: Any, **options: Any
    ) -> Any:
        """Nothing to start: hand the transport to PROTOCOL."""
        transport.set_protocol(protocol)
        return transport

    # What a World has not

    def add_signal_handler(self, sig: int, callback: Any, *args: Any) -> None:
        """Ignored: signals are the outside's. (Ctrl-C works as ever.)"""

    def remove_signal_handler(self, sig: int) -> bool:
        return False


def _absent(name: str) -> Callable[..., NoReturn]:
    def refuse(self: VirtualLoop, *args: Any, **kwargs: Any) -> NoReturn:
        raise WorldError(
            f"loop.{name}() does not exist in a World: it would reach outside, where time is real. "
            "Do it in a thread (asyncio.to_thread), or before the World runs."
        )

    refuse.__name__ = name
    return refuse


for _name in (
    "add_reader", "add_writer", "remove_reader", "remove_writer", "connect_accepted_socket",
    "connect_read_pipe", "connect_write_pipe", "create_datagram_endpoint", "create_unix_connection",
    "create_unix_server", "sendfile", "sock_accept", "sock_recv", "sock_recv_into", "sock_recvfrom",
    "sock_recvfrom_into", "sock_sendall", "sock_sendfile", "sock_sendto", "subprocess_exec", "subprocess_shell",
):  # fmt: skip
    setattr(VirtualLoop, _name, _absent(_name))
