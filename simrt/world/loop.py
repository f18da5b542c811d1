"""The event loop of a World: virtual time, no selector, an in-memory network."""

import asyncio
import math
import threading
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, nullcontext
from contextvars import Context, copy_context
from heapq import heapify, heappop, heappush
from typing import Any, NoReturn, TypeVar, TypeVarTuple

from simrt.errors import WorldError
from simrt.world.network import Factory, Host, MemoryServer, Network
from simrt.world.outside import Outside, new_executor
from simrt.world.stuck import Deadlock, describe
from simrt.world.transport import MemoryTransport

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

# Rounds of the loop at one moment of virtual time: after so many, a loop that spins looks outside, ...
_LOOK_OUTSIDE = 1_000
# ... and after so many it is stuck.
_SPINNING = 1_000_000


class _Handle(asyncio.Handle):
    """`Handle` made in one step: a call makes tens of thousands."""

    __slots__ = ()

    _args: Any

    def __init__(self, callback: Any, args: Any, loop: "VirtualLoop", context: Context | None) -> None:
        self._callback = callback
        self._args = args
        self._loop = loop
        self._context = copy_context() if context is None else context
        self._cancelled = False
        self._repr = None
        self._source_traceback = None


class _Timer(asyncio.TimerHandle):
    """`TimerHandle` made and cancelled in one step each; most are cancelled."""

    __slots__ = ()

    _args: Any

    def __init__(self, when: float, callback: Any, args: Any, loop: "VirtualLoop", context: Context | None) -> None:
        self._when = when
        self._scheduled = True  # until the loop takes it out
        self._callback = callback
        self._args = args
        self._loop = loop
        self._context = copy_context() if context is None else context
        self._cancelled = False
        self._repr = None
        self._source_traceback = None

    def cancel(self) -> None:
        if not self._cancelled:
            self._cancelled = True
            self._callback = None
            self._args = None
            if self._scheduled:
                self._loop._timer_handle_cancelled(self)


class VirtualLoop(asyncio.BaseEventLoop):
    """An event loop whose clock starts at 0.0 and jumps.

    Time advances, to exactly the moment of the next timer, only when nothing is ready to run and no executor
    job is pending. Timers of the same moment run in the order in which they were set. Jobs run in real threads
    and in real time, those of `to_thread` one after the other; their results arrive in the order of submission.
    When nothing can ever happen again, `Deadlock` is raised out of `run_until_complete`.

    `around` makes a context in which each run takes place: a World freezes the wall clock there.
    """

    _ready: deque[Any]
    _thread_id: int | None
    _closed: bool
    _stopping: bool
    _debug: bool
    _default_executor: Executor | None
    _executor_shutdown_called: bool

    def __init__(self) -> None:
        super().__init__()
        self._now = 0.0
        self._timers: list[tuple[float, int, _Timer]] = []
        self._timer_count = 0
        self._cancelled_timers = 0
        self._outside = Outside(self, self._ready)
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

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        if self._closed or self._debug:
            return super().call_soon(callback, *args, context=context)
        handle = _Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    def call_later(
        self, delay: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        if self._closed or not delay < math.inf:
            return self.call_at(self._now + delay, callback, *args, context=context)
        when = self._now + delay
        timer = _Timer(when, callback, args, self, context)
        self._timer_count += 1
        heappush(self._timers, (when, self._timer_count, timer))
        return timer

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        if self._closed:
            raise RuntimeError("Event loop is closed")
        timer = _Timer(when, callback, args, self, context)
        if when < math.inf:
            self._timer_count += 1
            heappush(self._timers, (when, self._timer_count, timer))
        elif when == math.inf:
            timer._scheduled = False  # never comes
        else:
            raise ValueError("a timer cannot be set for NaN")
        return timer

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        # Timeouts are mostly cancelled: do not let them pile up until their time comes.
        self._cancelled_timers += 1
        if self._cancelled_timers > 100 and self._cancelled_timers * 2 > len(self._timers):
            self._timers[:] = [entry for entry in self._timers if not entry[2]._cancelled]
            heapify(self._timers)
            self._cancelled_timers = 0

    # Running

    def run_forever(self) -> None:
        self._outside.begin()
        with self.around():
            super().run_forever()

    def _run_once(self) -> None:
        """Rounds of the loop until it is stopped: what is ready now; if nothing is, what happens next."""
        ready, timers, outside = self._ready, self._timers, self._outside
        take, pending = ready.popleft, outside.pending
        rounds, look_at = 0, _LOOK_OUTSIDE  # since time moved
        now = self._now
        while True:
            while timers and timers[0][0] <= now:  # what is due is ready, unless it is cancelled
                timer = heappop(timers)[2]
                timer._scheduled = False
                if timer._cancelled:
                    self._cancelled_timers -= 1
                else:
                    ready.append(timer)
            if not ready and not self._stopping:
                if (not timers or pending()) and self._wait():
                    pass
                elif timers[0][2]._cancelled:  # not a moment at which anything happens
                    heappop(timers)
                    self._cancelled_timers -= 1
                else:
                    self._now = now = timers[0][0]
                    rounds, look_at = 0, _LOOK_OUTSIDE
                    continue
            elif rounds == look_at:
                look_at += _LOOK_OUTSIDE
                self._look_up(rounds)
            rounds += 1
            for _ in range(len(ready)):
                handle = take()
                if handle._cancelled:
                    continue
                try:  # what handle._run() does, without the call
                    handle._context.run(handle._callback, *handle._args)
                except (SystemExit, KeyboardInterrupt):
                    raise
                except BaseException as exc:
                    self._report(handle, exc)
            if self._stopping:
                return

    def _wait(self) -> bool:
        """Nothing is ready: wait for the outside. False: it owes nothing, and there is a timer to go on with."""
        if self._outside.look(self._now):
            return True
        if self._timers:
            return False
        if self._outside.linger(self._default_executor):
            return True
        raise Deadlock(describe(self, "nothing is scheduled and nothing outside is pending"))

    def _look_up(self, rounds: int) -> None:
        """The loop has been busy for long without a rest: do not starve the outside, nor go on for ever."""
        if not self._outside.look(self._now) and rounds >= _SPINNING:
            raise Deadlock(describe(self, f"{rounds} rounds of the loop without rest; sleep longer than 0"))

    def _report(self, handle: Any, exc: BaseException) -> None:
        context: dict[str, Any] = {
            "message": f"Exception in callback {handle!r}",
            "exception": exc,
            "handle": handle,
        }
        if handle._source_traceback:
            context["source_traceback"] = handle._source_traceback
        self.call_exception_handler(context)

    # The outside

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        if self._thread_id == threading.get_ident():
            handle = self.call_soon(callback, *args, context=context)
            self._outside.wake()
            return handle
        if self._closed:
            raise RuntimeError("Event loop is closed")
        handle = asyncio.Handle(callback, args, self, context)
        self._outside.call(handle)
        return handle

    def _write_to_self(self) -> None:
        self._outside.wake()

    def run_in_executor(self, executor: Executor | None, func: Callable[[*Ts], T], *args: *Ts) -> "asyncio.Future[T]":
        if self._closed or self._executor_shutdown_called:
            raise RuntimeError("the event loop takes no more jobs: it is closed or closing")
        own = executor is None
        if executor is None:
            executor = self._default_executor = self._default_executor or new_executor()
        future: asyncio.Future[T] = self.create_future()
        self._outside.submit(executor, future, func, args, own)
        return future

    def __del__(self) -> None:
        """A loop that never ran has nothing to close."""

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """Wait in real time for jobs that still run, ten seconds at most, and end the threads."""
        self._executor_shutdown_called = True
        if self._default_executor is not None:
            self._outside.shut(self._default_executor)

    def close(self) -> None:
        super().close()
        self._timers.clear()
        self._outside.clear()
        self.network.close()

    # The network

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

    async def start_tls(self, transport: Any, protocol: asyncio.BaseProtocol, sslcontext: Any, **options: Any) -> Any:
        """Nothing to start: hand the transport to PROTOCOL."""
        transport.set_protocol(protocol)
        return transport

    # What a World has not

    def add_signal_handler(self, sig: int, callback: Callable[[*Ts], object], *args: *Ts) -> None:
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
    "sock_recvfrom_into", "sock_sendall", "sock_sendfile", "sock_sendto", "subprocess_exec",
    "subprocess_shell",
):  # fmt: skip
    setattr(VirtualLoop, _name, _absent(_name))
