"""`simrt measure`: many seeded runs of a client on some scripts, counted."""

import contextlib
import difflib
import os
import sys
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simrt.cli.console import FAULT_HELP, INTERRUPTED, complain, console, find_cassette, many, print_json, progress_bar
from simrt.errors import SimrtError

if TYPE_CHECKING:
    from rich.table import Table

    from simrt.measure import Run, Tally

_REASONS = 20  # shown, and so many seeds of each; all of them are in the JSON
_SEEDS = 5


def measure_command(
    client: Annotated[
        str, typer.Argument(metavar="MODULE:CLIENT", help="The client, as in clients.refund:RefundDesk.")
    ],
    scripts: Annotated[
        list[str],
        typer.Argument(metavar="SCRIPT…", help="Authored scripts by name, such as tv, or cassettes."),
    ],
    fault: Annotated[list[str] | None, typer.Option("--fault", "-f", metavar="FAULT", help=FAULT_HELP)] = None,
    runs: Annotated[int, typer.Option("--runs", "-n", min=1, help="Runs of each script.")] = 10,
    seed: Annotated[int, typer.Option("--seed", help="The first run's seed; each run has the next.")] = 0,
    audit: Annotated[
        bool, typer.Option("--audit", help="Ask the server for each tool call: is it still in its history?")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    workers: Annotated[
        int, typer.Option("--workers", min=0, help="Processes that make calls; 0: one for each core.")
    ] = 0,
) -> None:
    """Call a client many times on each script, its times jittered as live ones are, and count the outcomes.

    Run k of a script is the same call each time. Ctrl-C prints what has been counted so far.
    """
    from simrt.client_loader import load_client
    from simrt.faults.plan import check_plan, parse_plan
    from simrt.measure import measure, script_score, tally

    load_client(client)  # what is wrong with it is said before any process is started
    places = {name: _place(name) for name in scripts}
    plan = parse_plan(fault or [])
    for place in places.values():
        check_plan(plan, script_score(place))
    load = partial(load_client, client)
    cores = workers or os.cpu_count() or 1
    done: list[Run] = []
    interrupted = False
    # what a client prints must not end up in the JSON
    with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext(), progress_bar() as progress:
        task = progress.add_task("calls", total=runs * len(places))
        try:
            for run in measure(load, list(places.values()), runs, seed=seed, faults=plan, workers=cores):
                done.append(run)
                progress.advance(task)
        except KeyboardInterrupt:
            interrupted = True
    order = list(places.values())
    done.sort(key=lambda run: (order.index(run.script), run.seed))
    tallies = [tally(name, [run for run in done if run.script == place]) for name, place in places.items()]
    tallies = [made for made in tallies if made.runs or not interrupted]
    total = tally("total", done)
    if as_json:
        print_json(_json(tallies, total, done, client, interrupted, audit))
    else:
        _show(tallies, total, audit)
    if interrupted:
        complain(f"interrupted after {len(done)} of {many(runs * len(places), 'run')}")
        raise typer.Exit(INTERRUPTED)
    if total.failed:
        complain(f"{total.failed} of {many(total.runs, 'run')} failed")
        raise typer.Exit(1)


def _place(name: str) -> str:
    """What `simrt.measure` knows a script by: its name, or where the cassette is. SimrtError: neither."""
    from simrt.scripts import SCRIPTS

    if name in SCRIPTS:
        return name
    try:
        return str(find_cassette(name))
    except SimrtError as error:
        near = difflib.get_close_matches(name, SCRIPTS, n=1, cutoff=0.5)
        meant = f"did you mean {near[0]!r}" if near else f"there are {', '.join(SCRIPTS)}"
        raise SimrtError(f"no script is called {name!r} ({meant}), and no cassette: {error}") from None


def _json(
    tallies: "Sequence[Tally]", total: "Tally", done: "Sequence[Run]", client: str, interrupted: bool, audit: bool
) -> dict[str, Any]:
    return {
        "client": client,
        "interrupted": interrupted,
        "scripts": [_plain(made, audit) for made in tallies],
        "total": _plain(total, audit),
        "runs": [_run(run, audit) for run in done],
    }


def _plain(made: "Tally", audit: bool) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(made)
    cut = plain.pop("cut_ms")
    plain["cut_ms"] = None if cut is None else dict(zip(("median", "min", "max"), cut, strict=True))
    plain["reasons"] = [{"script": script, "seed": seed, "what": what} for script, seed, what in made.reasons]
    return plain if audit else _unaudited(plain)


def _run(run: "Run", audit: bool) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(run)
    return plain if audit else _unaudited(plain)


def _unaudited(plain: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in plain.items() if name != "in_history"}


def _show(tallies: "Sequence[Tally]", total: "Tally", audit: bool) -> None:
    out = console()
    out.print(_table(tallies, total, audit))
    seeds: dict[tuple[str, str], list[int]] = {}
    for script, seed, what in total.reasons:
        seeds.setdefault((script, what), []).append(seed)
    for (script, what), which in list(seeds.items())[:_REASONS]:
        which = sorted(set(which))
        more = f" and {len(which) - _SEEDS} more" if len(which) > _SEEDS else ""
        out.print(f"{script}: {what} (seed {', '.join(map(str, which[:_SEEDS]))}{more})", soft_wrap=True)
    if len(seeds) > _REASONS:
        out.print(f"… and {len(seeds) - _REASONS} more; --json has them all", soft_wrap=True)


def _table(tallies: "Sequence[Tally]", total: "Tally", audit: bool) -> "Table":
    from simrt.cli.result_view import plain_table

    names = list(total.outcomes)
    columns = ["runs", "failed", *names, "cut after", *(["calls in history"] if audit else [])]
    table = plain_table("script", *columns, right=columns)
    for column in (table.columns[0], table.columns[columns.index("cut after") + 1]):
        column.no_wrap = True
    for made in [*tallies, *([total] if len(tallies) > 1 else [])]:
        if made is total:
            table.add_section()
        cut = "–" if made.cut_ms is None else "{:.0f} ms ({:.0f}–{:.0f})".format(*made.cut_ms)
        figures = [str(made.outcomes.get(name, 0)) for name in names]
        audited = [f"{made.in_history} of {made.calls}"] if audit else []
        table.add_row(made.script, str(made.runs), str(made.failed), *figures, cut, *audited)
    return table
