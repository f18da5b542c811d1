"""`simrt record`: the recording proxy."""

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simrt.cli.console import INTERRUPTED, complain, console, summary

if TYPE_CHECKING:
    from simrt.record import Proxy, Status

_TICK_S = 0.2


def record_command(
    upstream: Annotated[
        str, typer.Argument(metavar="UPSTREAM", help="The service: wss://api.openai.com, or a whole session URL.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", metavar="CASSETTE", help="The folder to write; later connections: -2, -3 …")
    ],
    command: Annotated[
        list[str] | None, typer.Argument(metavar="[-- COMMAND…]", help="Run this with its URL set to the proxy.")
    ] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0: any free port.")] = 0,
    profile: Annotated[
        str | None,
        typer.Option("--profile", help="Whose server it is: openai, polyai, azure, kugel (default: by the host)."),
    ] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace cassettes that are there.")] = False,
) -> None:
    """Record calls: a client talks to the service through this proxy, and each connection becomes a cassette.

    With a COMMAND it runs that with OPENAI_BASE_URL and DIALOG_REALTIME_URL set to the proxy, and ends with its exit
    status. Without one it records until Ctrl-C. Keys never reach the disk.
    """
    from simrt.record.target import checked_profile, profile_of

    profile = checked_profile(profile) if profile else profile_of(upstream)
    status = asyncio.run(_record(upstream, out, command or [], port, profile, overwrite))
    if status:
        raise typer.Exit(status)


async def _record(upstream: str, out: Path, command: list[str], port: int, profile: str, overwrite: bool) -> int:
    import logging

    from simrt.record import Proxy

    logging.getLogger("simrt.record").addHandler(logging.NullHandler())  # what it logs is told here
    watch = Watch()
    watch.proxy = proxy = Proxy(upstream, out, port=port, profile=profile, overwrite=overwrite, on_event=watch.seen)
    async with proxy:
        if not command:
            _tell_where(proxy)
        async with watch.live_line(shared=bool(command)):
            if command:
                status = await proxy.run_command(command)
            else:
                await proxy.serve_forever()
                status = INTERRUPTED
    watch.seen(proxy.status())
    for path in proxy.recordings:
        _tell_about(path)
    if not proxy.recordings and not proxy.failures:
        complain(_nothing(command))
        return status or 1
    return 1 if proxy.failures and status in (0, INTERRUPTED) else status


def _nothing(command: list[str]) -> str:
    if command:
        return (
            f"nothing was recorded: {command[0]} made no WebSocket connection through the proxy; have it take its URL "
            "from OPENAI_BASE_URL or DIALOG_REALTIME_URL"
        )
    return "nothing was recorded: no client connected to the proxy"


def _tell_where(proxy: "Proxy") -> None:
    typer.echo(f"listening on {proxy.url}; Ctrl-C ends it. Point the client here:")
    for name, value in proxy.environment.items():
        typer.echo(f"  export {name}={value}")


def _tell_about(path: Path) -> None:
    from simrt.cassette.store import load

    typer.echo(f"recorded {summary(path, load(path))}")


class Watch:
    """Says on stderr what is going on: a line when connections open and end, and on a terminal one that stays fresh."""

    proxy: "Proxy"

    def __init__(self) -> None:
        self._console = console(stderr=True)
        self._opened = 0
        self._saved = 0
        self._failed = 0

    def seen(self, status: "Status") -> None:
        """Tell what is new."""
        opened = status.connections + status.finished
        for number in range(self._opened + 1, opened + 1):
            self._say(f"{status.seconds:7.1f} s  connection {number} opened")
        for path in self.proxy.recordings[self._saved :]:
            self._say(f"{status.seconds:7.1f} s  ended, saved as {path}")
        for error in self.proxy.failures[self._failed :]:
            self._say(f"simrt: {error}")
        self._opened = max(opened, self._opened)
        self._saved, self._failed = status.finished, status.failed

    def _say(self, text: str) -> None:
        self._console.print(text, soft_wrap=True)

    @contextlib.asynccontextmanager
    async def live_line(self, *, shared: bool) -> AsyncIterator[None]:
        """Keep one line fresh while this lasts. Not when a command has the terminal too (`shared`): its output and the
        line would overwrite each other."""
        if not self._console.is_terminal or (shared and sys.stdout.isatty()):
            yield
            return
        from rich.live import Live

        with Live(console=self._console, auto_refresh=False, transient=True) as live:

            async def refresh() -> None:
                while True:
                    live.update(live_text(self.proxy.status()), refresh=True)
                    await asyncio.sleep(_TICK_S)

            task = asyncio.create_task(refresh())
            try:
                yield
            finally:
                task.cancel()


def live_text(status: "Status") -> str:
    """The state of things in one line."""
    if not status.client_frames and not status.server_frames and not status.connections:
        return "waiting for a client"
    up = f"client {status.client_frames} frames, {status.client_bytes / 1e6:.1f} MB"
    down = f"server {status.server_frames} frames, {status.server_bytes / 1e6:.1f} MB"
    connections = f"{status.connections} open, {status.finished} saved"
    return f"{status.seconds:.1f} s  {connections}  {up}  {down}  {status.last_event}".rstrip()
