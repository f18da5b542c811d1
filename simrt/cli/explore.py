"""`simrt explore`: search for what breaks a client."""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simrt.cli.console import INTERRUPTED, complain, console, find_cassette, many, print_json, progress_bar

if TYPE_CHECKING:
    from simrt.explore.explore import Failure, Search


def explore_command(
    client: Annotated[str, typer.Argument(metavar="MODULE:CLIENT", help="The client, as in clients.call:Call.")],
    cassettes: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="CASSETTE…",
            help="Cassettes' folders, or names of shipped ones; by default those that the client itself names.",
        ),
    ] = None,
    runs: Annotated[
        int | None, typer.Option("--runs", "-n", min=1, help="Calls to make in all (200; no limit with --time).")
    ] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seeds what is drawn at random.")] = 0,
    seconds: Annotated[
        float | None,
        typer.Option("--time", metavar="SECONDS", min=1, help="Begin no more runs then; what failed is still shrunk."),
    ] = None,
    exit_first: Annotated[bool, typer.Option("--exitfirst", "-x", help="Stop at the first run that fails.")] = False,
    workers: Annotated[int, typer.Option("--workers", min=0, help="Calls made at once; 0: one for each core.")] = 0,
    executor: Annotated[
        str, typer.Option("--executor", metavar="WHERE", help="processes, or dask://HOST:PORT for a cluster.")
    ] = "processes",
    select: Annotated[list[str] | None, typer.Option("--select", metavar="CODE", help="Only these rules.")] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", metavar="CODE", help="Not these rules.")] = None,
    save: Annotated[
        Path | None, typer.Option("--save", metavar="DIR", help="Write each failure as a regression file for pytest.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
) -> None:
    """Search for what breaks a client: faults near interesting moments, alone and together, drawn at random.

    Each failure is shrunk to the shortest plan. The same seed has the same findings. Exit status 1: some were found.
    """
    from simrt.client_loader import cassettes_of, load_client
    from simrt.explore.executors import crew
    from simrt.explore.explore import explore
    from simrt.explore.job import Job
    from simrt.explore.regressions import save as write

    names = list(cassettes or cassettes_of(load_client(client), client))
    for name in names:
        find_cassette(name)
    if runs is None and seconds is None:
        runs = 200
    job = Job(client, names[0], select=tuple(select or ()), ignore=tuple(ignore or ()))
    # what a client prints must not end up in the JSON
    with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext(), progress_bar() as progress:
        calls = progress.add_task("calls", total=runs)
        shrinks = progress.add_task("failures shrunk", total=None, visible=False)
        with crew(executor, workers) as hands:
            found = explore(
                job,
                names,
                hands,
                runs=runs,
                seed=seed,
                time_s=seconds,
                until=lambda outcome: exit_first and outcome.failed,
                on_run=lambda number, outcome: progress.advance(calls),
                on_failure=lambda failure: progress.update(shrinks, advance=1, visible=True),
            )
    files = [] if save is None else [write(failure, save) for failure in found.failures]
    if as_json:
        print_json(_json(found, files))
    else:
        _show(found, files)
    if found.interrupted:
        complain(f"interrupted after {many(found.runs, 'run')}")
        raise typer.Exit(INTERRUPTED)
    if found.failures:
        raise typer.Exit(1)


def _command(failure: "Failure") -> str:
    from simrt.explore.regressions import command

    return command(failure.client, failure.cassette, failure.plan, failure.seed)


def _json(found: "Search", files: list[Path]) -> dict[str, Any]:
    import msgspec

    plain: dict[str, Any] = msgspec.to_builtins(found)
    for failure, made in zip(plain["failures"], found.failures, strict=True):
        failure["command"] = _command(made)
    return {**plain, "files": [str(path) for path in files]}


def _show(found: "Search", files: list[Path]) -> None:
    out = console()
    for failure in found.failures:
        often = many(failure.runs, "run")
        out.print(f"{failure.code} {failure.name}", style="bold", soft_wrap=True)
        out.print(f"  {failure.message}", soft_wrap=True)
        out.print(f"  shortest plan: {' '.join(failure.plan) or 'none: the cassette as it is'}", soft_wrap=True)
        out.print(f"  found in run {failure.found_in} ({often} of {found.runs} show it)", soft_wrap=True)
        out.print(f"  {_command(failure)}", soft_wrap=True)
        out.print(f"  trace_sha256 {failure.trace_sha256}", soft_wrap=True)
        if not failure.same:
            out.print("  the same call was another the second time: the client draws on something else", soft_wrap=True)
        out.print()
    what = many(len(found.failures), "distinct failure") if found.failures else "no failure"
    out.print(f"{found.client}: {what} in {many(found.runs, 'run')} on {', '.join(found.cassettes)}, seed {found.seed}")
    for path in files:
        out.print(f"written: {path}", soft_wrap=True)
