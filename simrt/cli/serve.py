"""`simrt serve`: a cassette on a real socket, in real time, for clients in any language."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from simrt.cli.console import CASSETTE_HELP, FAULT_HELP, find_cassette, scrubbed
from simrt.errors import SimrtError

if TYPE_CHECKING:
    import ssl

    from simrt.faults.base import Fault
    from simrt.replay.score import Score
    from simrt.replay.server import ReplayPeer
    from simrt.stage import Stage
    from simrt.wire import Peer, Refusal, Request

_HOST = "127.0.0.1"


def serve_command(
    cassette: Annotated[str, typer.Argument(metavar="CASSETTE", help=CASSETTE_HELP)],
    fault: Annotated[list[str] | None, typer.Option("--fault", "-f", metavar="FAULT", help=FAULT_HELP)] = None,
    port: Annotated[int, typer.Option("--port", min=0, max=65535, help="Where to listen; 0: any free port.")] = 0,
    seed: Annotated[int, typer.Option("--seed", help="Seeds what is drawn at random.")] = 0,
    tls_cert: Annotated[Path | None, typer.Option("--tls-cert", help="Certificate chain (PEM), to serve TLS.")] = None,
    tls_key: Annotated[Path | None, typer.Option("--tls-key", help="Its key (PEM), if it is in another file.")] = None,
) -> None:
    """Replay a cassette in real time to any number of connections, until Ctrl-C.

    Each connection gets a session of its own; when it ends, a line says how, and what did not go as on the cassette.
    """
    from simrt.faults.plan import check_plan, parse_plan
    from simrt.replay.build import score_of

    score = score_of(find_cassette(cassette))
    plan = parse_plan(fault or [])
    check_plan(plan, score)
    if tls_key is not None and tls_cert is None:
        raise typer.BadParameter("needs --tls-cert beside it", param_hint="--tls-key")
    tls = tls_context(tls_cert, tls_key) if tls_cert is not None else None
    asyncio.run(_serve(Counter(score, plan, seed), port, tls))


def tls_context(cert: Path, key: Path | None) -> "ssl.SSLContext":
    """The server's side of TLS. SimrtError when the files are no certificate and key."""
    import ssl

    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    try:
        context.load_cert_chain(cert, key, password="")  # an encrypted key is an error, not a question
    except (OSError, ValueError) as error:
        reason = getattr(error, "reason", None) or getattr(error, "strerror", None) or error
        files = f"{cert}" if key is None else f"{cert} and {key}"
        raise SimrtError(f"{files} cannot be used for TLS ({reason}); give a PEM certificate and its PEM key") from None
    return context


class Counter:
    """Lets connections in, one session each, and says what became of them."""

    def __init__(self, score: "Score", plan: "list[Fault]", seed: int) -> None:
        self.score, self.plan, self.seed = score, plan, seed
        self._count = 0
        self._open: dict[int, Stage] = {}

    def accept(self, request: "Request") -> "Peer | Refusal":
        """Answer one opening handshake."""
        from simrt.caller import Clock
        from simrt.stage import Stage
        from simrt.wire import Refusal

        self._count += 1
        number = self._count
        stage = Stage(self.score, self.plan, self.seed, Clock(asyncio.get_running_loop()), None)
        stage.finished = lambda peer: self._ended(number, peer)
        answer = stage.accept(request)
        path = scrubbed(request.path.partition("?")[0])  # a query may hold a key
        if isinstance(answer, Refusal):
            typer.echo(f"connection {number}: {path} refused with HTTP {answer.status}")
        else:
            self._open[number] = stage
            typer.echo(f"connection {number}: {path} opened")
        return answer

    def _ended(self, number: int, peer: "ReplayPeer") -> None:
        stage = self._open.pop(number, None)
        if stage is not None:
            typer.echo(report(number, peer, stage.heard))

    def cut_off(self) -> None:
        """The server stops: report what was still open."""
        for number, stage in sorted(self._open.items()):
            for peer in stage.peers:
                typer.echo(report(number, peer, stage.heard))
        self._open.clear()


def report(number: int, peer: "ReplayPeer", heard: "dict[int, tuple[str, int]]") -> str:
    """What became of a connection: a line, and one for each thing that did not go as on the cassette."""
    closing = peer.trace.closing
    t_us = closing.t_us if closing is not None else peer.now_us()
    end = f"closed {closing.code} by the {closing.by}" if closing is not None else "still open when the server stopped"
    turns = ", ".join(f'"{text}"' for text, _ in heard.values()) or "nothing"
    verdict = str(peer.session.final_verdict()).replace("\n", "\n    ")
    verdict = f"\n    {verdict}" if "\n" in verdict else f" {verdict}"
    return f"connection {number}: {end} after {t_us / 1_000_000:.1f} s; heard {turns}; verdict:{verdict}"


async def _serve(counter: Counter, port: int, tls: "ssl.SSLContext | None") -> None:
    from simrt.replay import server

    listening = await server.serve(counter.accept, _HOST, port, tls)
    port = listening.sockets[0].getsockname()[1]
    s = "s" if tls is not None else ""
    typer.echo(f"serving on http{s}://{_HOST}:{port}; Ctrl-C ends it. Point the client here:")
    typer.echo(f"  export OPENAI_BASE_URL=http{s}://{_HOST}:{port}/v1")
    if counter.score.dialect != "live":
        typer.echo(f"  export DIALOG_REALTIME_URL=ws{s}://{_HOST}:{port}/v1/realtime?model=simrt")
    try:
        await asyncio.Event().wait()
    finally:
        listening.close()
        counter.cut_off()
