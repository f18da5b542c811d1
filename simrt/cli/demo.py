"""`simrt demo`: the whole of simrt in half a minute, without a key and without a network."""

import asyncio
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from simrt.cli.console import complain, console, seconds, summary
from simrt.errors import CallError

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from simrt.caller import Line
    from simrt.cassette.header import Word
    from simrt.cli.demo_judge import Played

_SCRIPT = "front-desk-short"
_CALL_MS = 20_500  # how long the call takes, for the progress bar
_CLIENTS = ("Call", "NaiveCall", "DrainCall")
_TICK_S = 0.1


def demo_command() -> None:
    """Record a call and replay it to three clients, two of which do something wrong.

    A stand-in hotel desk is served on this machine in real time, called, and recorded through the proxy. The new
    cassette is then replayed in virtual time to three call clients, with and without a stall of half a second in the
    goodbye. No key, no network; takes about half a minute. Exit status 0: every client did what it is known for.
    """
    from simrt.caller import fixture_clip
    from simrt.cli.demo_judge import judge, remark

    out = console()
    with tempfile.TemporaryDirectory(prefix="simrt-demo-") as folder:
        out.print("1. Recording: the stand-in front desk, called in real time through the proxy", soft_wrap=True)
        cassette = asyncio.run(_record(Path(folder) / _SCRIPT, out))
        out.print("\n2. Replaying it in virtual time: three clients, without and with a stall", soft_wrap=True)
        calls = _replay(cassette, out)
    words = fixture_clip("booking").words
    print_outcome(calls, words, out)
    wrong = judge(calls, words)
    if wrong:
        for line in wrong:
            complain(line)
        complain(
            "the demo did not come out as it should. The call was recorded in real time: on a machine that is busy the "
            "recording has gaps of its own, so run it again when it is quieter"
        )
        raise typer.Exit(1)
    said = remark(calls, words)
    if said is not None:
        out.print(f"\n{said}")
    out.print(
        "\nAs it should be: Call loses no word and plays the whole goodbye; NaiveCall loses the start and hangs up "
        "after a second; DrainCall takes the stall for the end."
    )


async def _record(folder: Path, out: "Console") -> Path:
    from simrt.cassette.store import load
    from simrt.scripts import SCRIPTS
    from simrt.shipped import client_module
    from simrt.standin import record_stand_in

    lines: list[Line] = []
    client = client_module("clients.call").Call

    def observed(line: "Line") -> object:
        lines.append(line)
        return client(line)

    async with _progress(lines, out):
        path, _ = await record_stand_in(SCRIPTS[_SCRIPT](), observed, folder)
    out.print(f"   {summary(path.name, load(path))}", soft_wrap=True)
    return path


@asynccontextmanager
async def _progress(lines: "list[Line]", out: "Console") -> AsyncIterator[None]:
    """Seconds of call, a bar, and the transcript as it comes; without a terminal just the transcript."""
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (TextColumn("   {task.fields[clock]}", markup=False), BarColumn(40))
    with Progress(*columns, console=out, transient=True, auto_refresh=False, disable=not out.is_terminal) as bar:
        task = bar.add_task("call", total=_CALL_MS, clock="")
        started = time.monotonic()

        async def follow() -> None:
            told = 0
            while True:
                for line in lines:
                    for note in line.notes[told:]:
                        out.print(f"   {note.t_us / 1_000_000:5.1f} s  {note.message}", soft_wrap=True)
                    told = len(line.notes)
                gone = time.monotonic() - started
                bar.update(task, completed=min(gone * 1000, _CALL_MS), clock=f"{gone:5.1f} s", refresh=True)
                await asyncio.sleep(_TICK_S)

        following = asyncio.create_task(follow())
        try:
            yield
        finally:
            following.cancel()


def _replay(cassette: Path, out: "Console") -> "list[Played]":
    from simrt.cli.demo_judge import STALL

    began, calls, virtual_ms = time.monotonic(), [], 0.0
    with out.status("   replaying") if out.is_terminal else _Silent() as status:
        for name in _CLIENTS:
            for stalled in (False, True):
                status.update(f"   {name}{f' with {STALL}' if stalled else ''}")
                played, ms = play(name, stalled, cassette)
                calls.append(played)
                virtual_ms += ms
    took = time.monotonic() - began
    out.print(f"   {len(calls)} calls, {virtual_ms / 1000:.0f} s of talk, took {took:.1f} s", soft_wrap=True)
    return calls


class _Silent:
    """In place of rich's status line where there is no terminal."""

    def __enter__(self) -> "_Silent":
        return self

    def __exit__(self, *_: object) -> None:
        return None

    def update(self, text: str) -> None:
        """Say nothing."""


def play(name: str, stalled: bool, cassette: Path) -> "tuple[Played, float]":
    """Replay a cassette to one of the three clients; what came of it, and how long the call was in ms."""
    from simrt.call import run_call
    from simrt.cli.demo_judge import STALL, Played
    from simrt.cli.headline import Headline, headline
    from simrt.shipped import client_module

    client = getattr(client_module("clients.call"), name)
    error = None
    try:
        result = run_call(client, cassette, [STALL] if stalled else [])
    except CallError as failure:
        if failure.result is None:
            return Played(name, stalled, Headline(), "", "", "no call", str(failure)), 0.0
        result, error = failure.result, str(failure)
    heard = result.caller_turns[0].transcript if result.caller_turns else ""
    ended = f"{result.closed_by}, {result.virtual_ms / 1000:.1f} s"
    return Played(name, stalled, headline(result), heard, result.transcript, ended, error), result.virtual_ms


def print_outcome(calls: "list[Played]", words: "list[Word]", out: "Console") -> None:
    """The table, then the transcripts."""
    out.print()
    out.print(table(calls))
    said: dict[str, list[str]] = {}
    for call in calls:
        said.setdefault(call.transcript, []).append(call.name)
    for transcript, names in said.items():
        out.print(f"\n{', '.join(names)}:", soft_wrap=True)
        for line in transcript.splitlines():
            out.print(f"  {line}", soft_wrap=True)


def table(calls: "list[Played]") -> "Table":
    """One row a call; fits 80 columns."""
    from simrt.cli.headline import played
    from simrt.cli.result_view import plain_table

    columns = ("client", "stall", "first words\nlost", "session\nready", "goodbye played", "how it ended")
    made = plain_table(*columns, right=columns[2:5])
    for call in calls:
        head = call.head
        lost = "" if head.words is None else f"{head.words_lost} of {head.words}"
        stall = "500 ms" if call.stalled else "none"
        made.add_row(call.client, stall, lost, seconds(head.ready_ms), played(head), call.error or call.ended)
    return made
