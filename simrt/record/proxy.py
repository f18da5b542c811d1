"""The recording proxy: a real client talks to a real service through it, and each connection becomes a cassette."""

import asyncio
import errno
import signal
import ssl
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from simrt.cassette.header import How
from simrt.cassette.redact import Redactor
from simrt.errors import SimrtError
from simrt.record.command import run
from simrt.record.recorder import Recorder, Status
from simrt.record.target import parse_target
from simrt.record.tunnel import Tunnel
from simrt.trace import Sender

GRACE = 2.0
"""Seconds that open connections have to close by themselves when the proxy ends."""


class Proxy:
    """Listens on loopback, passes everything on to `upstream`, and writes each WebSocket to a cassette.

    The first connection becomes the cassette `out`, the next ones `out`-2, `out`-3 …; a cassette that exists is never
    overwritten unless `overwrite` says so. `upstream` is a ws, wss, http or https URL: a host, a base, or one session
    (see simrt.record.target). Requests that are no WebSocket pass unrecorded. `port` 0 takes a free one. `how` and
    `profile` go into the cassettes' headers. `on_event` gets a Status when something happened, ten times a second
    at most; `on_frame` gets every message, unredacted, once it is in the journal. A URL that cannot be used raises
    SimrtError.

        async with Proxy("wss://api.openai.com", Path("cassettes/refund")) as proxy:
            await proxy.serve_forever()
    """

    def __init__(
        self,
        upstream: str,
        out: Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        redactor: Redactor | None = None,
        how: How = "live",
        profile: str = "openai",
        overwrite: bool = False,
        on_event: Callable[[Status], None] | None = None,
        on_frame: Callable[[Sender, str | bytes], None] | None = None,
    ) -> None:
        self._target = parse_target(upstream)
        self._host = host
        self._port = port
        self._recorder = Recorder(
            Path(out),
            redactor=redactor or Redactor(),
            how=how,
            profile=profile,
            overwrite=overwrite,
            on_event=on_event,
            on_frame=on_frame,
        )
        self._tls: ssl.SSLContext | None = None
        self._server: asyncio.Server | None = None
        self._tunnels: set[Tunnel] = set()
        self._stopped = asyncio.Event()
        self._empty = asyncio.Event()

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return self._port

    @property
    def url(self) -> str:
        """Where clients find it, without a path: `http://127.0.0.1:PORT`."""
        host = f"[{self._host}]" if ":" in self._host else self._host
        return f"http://{host}:{self._port}"

    @property
    def environment(self) -> dict[str, str]:
        """What a command is told: OPENAI_BASE_URL and DIALOG_REALTIME_URL."""
        websocket = "ws" + self.url.removeprefix("http")
        model = self._target.parameter("model")
        query = f"?model={model}" if model else ""
        return {
            "OPENAI_BASE_URL": f"{self.url}/v1",
            "DIALOG_REALTIME_URL": f"{websocket}/v1/realtime{query}",
        }

    @property
    def recordings(self) -> list[Path]:
        """The finished cassettes, in the order in which they were finished."""
        return list(self._recorder.recordings)

    @property
    def failures(self) -> list[SimrtError]:
        """What went wrong so far: upstreams that gave no session, recordings that could not be written."""
        return list(self._recorder.failures)

    def status(self) -> Status:
        """The state of things now."""
        return self._recorder.status()

    async def start(self) -> None:
        """Listen. SimrtError when the port is taken or the cassette cannot be written."""
        self._recorder.check_out()
        if self._target.secure:
            self._tls = ssl.create_default_context()
        try:
            self._server = await asyncio.get_running_loop().create_server(self._accept, self._host, self._port)
        except OSError as error:
            raise _cannot_listen(error, self._host, self._port) from None
        self._port = self._server.sockets[0].getsockname()[1]

    def _accept(self) -> asyncio.BaseProtocol:
        tunnel = Tunnel(self._target, self._tls, self._recorder, self._ended)
        self._tunnels.add(tunnel)
        self._empty.clear()
        return tunnel.client

    def _ended(self, tunnel: Tunnel) -> None:
        self._tunnels.discard(tunnel)
        if not self._tunnels:
            self._empty.set()

    async def __aenter__(self) -> "Proxy":
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.aclose()

    def stop(self) -> None:
        """Have serve_forever return."""
        self._stopped.set()

    async def serve_forever(self) -> None:
        """Serve until stop(), SIGINT or SIGTERM; then close open connections with 1001 and make their cassettes."""
        with _on_signals(self.stop):
            await self._stopped.wait()
            await self._settle(0.0)

    async def run_command(self, argv: Sequence[str]) -> int:
        """Run a command that uses the proxy; its exit status (128 + n when signal n ended it).

        Returns when the command has ended and every cassette is made. SimrtError when it cannot be started.
        """
        status = await run(argv, self.environment)
        await self._settle(GRACE)
        return status

    async def aclose(self) -> None:
        """Stop listening, end what is open, make the cassettes."""
        if self._server is not None:
            self._server.close()
        await self._settle(0.0)

    async def _settle(self, grace: float) -> None:
        """Wait for the open connections, at first without hurry, then with, then not at all."""
        if not await self._all_ended(grace):
            for tunnel in list(self._tunnels):
                tunnel.stop()
            if not await self._all_ended(GRACE):
                for tunnel in list(self._tunnels):
                    tunnel.drop()
                await self._all_ended(GRACE)
        await self._recorder.settle()

    async def _all_ended(self, seconds: float) -> bool:
        if self._tunnels and seconds:
            try:
                async with asyncio.timeout(seconds):
                    await self._empty.wait()
            except TimeoutError:
                return False
        return not self._tunnels


@contextmanager
def _on_signals(stop: Callable[[], None]) -> Iterator[None]:
    """Call `stop` on SIGINT and SIGTERM, where the platform and the thread allow to."""
    loop = asyncio.get_running_loop()
    handled: list[signal.Signals] = []
    try:
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, stop)
            handled.append(number)
    except (NotImplementedError, ValueError, RuntimeError):
        pass
    try:
        yield
    finally:
        for number in handled:
            loop.remove_signal_handler(number)


def _cannot_listen(error: OSError, host: str, port: int) -> SimrtError:
    if error.errno == errno.EADDRINUSE:
        return SimrtError(f"port {port} on {host} is in use; end the program that has it, or choose another by --port")
    if error.errno == errno.EACCES:
        return SimrtError(f"port {port} on {host} may not be used by this user; choose one above 1023 with --port")
    return SimrtError(f"cannot listen on {host} port {port}: {error.strerror or error}")
