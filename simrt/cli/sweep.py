"""`simrt sweep`: calls over a grid of faults, and maps of where the client fails."""

import contextlib
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simrt.cli.console import (
    CASSETTE_HELP,
    INTERRUPTED,
    complain,
    console,
    find_cassette,
    many,
    print_json,
    progress_bar,
)

if TYPE_CHECKING:
    from simrt.explore.sweep import Point, Sweep

_FAULT_HELP = "A fault with ranges and lists, as in stall:at=0..5s/100ms,for=200|500ms; may be given more than once."
_FIGURE_HELP = "What to draw, as in goodbye_heard_ms; may be given more than once. A wrong one names all there are."


def sweep_command(
    client: Annotated[str, typer.Argument(metavar="MODULE:CLIENT", help="The client, as in clients.call:Call.")],
    cassette: Annotated[str, typer.Argument(metavar="CASSETTE", help=CASSETTE_HELP)],
    fault: Annotated[list[str], typer.Option("--fault", "-f", metavar="FAULT", help=_FAULT_HELP)],
    figure: Annotated[list[str] | None, typer.Option("--figure", metavar="FIGURE", help=_FIGURE_HELP)] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seeds what is drawn at random, the same at each point.")] = 0,
    select: Annotated[list[str] | None, typer.Option("--select", metavar="CODE", help="Only these rules.")] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", metavar="CODE", help="Not these rules.")] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="NAME", help="Write NAME.json and NAME.png (sweep-CLIENT-CASSETTE)."),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object; without --out no files.")] = False,
    workers: Annotated[int, typer.Option("--workers", min=0, help="Calls made at once; 0: one for each core.")] = 0,
    executor: Annotated[
        str, typer.Option("--executor", metavar="WHERE", help="processes, or dask://HOST:PORT for a cluster.")
    ] = "processes",
) -> None:
    """Call a client with each fault of a grid, and map where it fails.

    Prints maps; writes all that was found as JSON, and the maps as a picture. Ctrl-C shows what has been found so far.
    Exit status 1: the client failed somewhere.
    """
    from simrt.client_loader import load_client
    from simrt.explore.executors import crew
    from simrt.explore.grid import parse_grid
    from simrt.explore.sweep import begin, check_figures, run

    check_figures(figure or [])
    load_client(client)  # what is wrong with it is said before any process is started
    find_cassette(cassette)
    sweep = begin(client, cassette, parse_grid(fault), seed)
    interrupted = False
    # what a client prints must not end up in the JSON
    with (
        contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext(),
        crew(executor, workers) as hands,
        progress_bar() as progress,
    ):
        task = progress.add_task("calls", total=len(sweep.points))
        try:
            for _ in run(sweep, hands, select or (), ignore or ()):
                progress.advance(task)
        except KeyboardInterrupt:
            interrupted = True
    shown = list(figure or sweep.telling())
    files = [] if as_json and out is None else _write(sweep, shown, out or Path(_name(sweep)))
    if as_json:
        print_json(_json(sweep, interrupted, files))
    else:
        _show(sweep, shown, files)
    if interrupted:
        complain(f"interrupted after {len(sweep.done)} of {many(len(sweep.points), 'call')}")
        raise typer.Exit(INTERRUPTED)
    if sweep.failed:
        raise typer.Exit(1)


def _name(sweep: "Sweep") -> str:
    return f"sweep-{sweep.client.rpartition(':')[2]}-{Path(sweep.cassette).resolve().name}"


def _write(sweep: "Sweep", figures: list[str], name: Path) -> list[Path]:
    from simrt.explore.picture import can_draw, draw
    from simrt.explore.sweep import save_json

    files = [name.with_name(f"{name.name}.json")]
    save_json(sweep, files[0])
    if sweep.axes and can_draw():
        files.append(name.with_name(f"{name.name}.png"))
        draw(sweep, figures, files[1])
    return files


def _json(sweep: "Sweep", interrupted: bool, files: list[Path]) -> dict[str, Any]:
    import msgspec

    summary = {
        "points": len(sweep.points),
        "done": len(sweep.done),
        "failed": len(sweep.failed),
        "impossible": len(sweep.impossible),
        "codes": {code: len(points) for code, points in sweep.by_code().items()},
        "interrupted": interrupted,
        "files": [str(path) for path in files],
    }
    return {"summary": summary, **msgspec.to_builtins(sweep)}


def _show(sweep: "Sweep", figures: list[str], files: list[Path]) -> None:
    from simrt.cli.heatmap import lines
    from simrt.explore.picture import can_draw
    from simrt.explore.sweep import maps

    out = console()
    for figure in figures:
        for one in maps(sweep, figure):
            for line in lines(one, out.width):
                out.print(line, no_wrap=True, overflow="crop")
            out.print()
    for code, points in sweep.by_code().items():
        out.print(f"{code} {_said(points[0], code)}", soft_wrap=True)
        out.print(f"  at {many(len(points), 'point')}, first: {_command(sweep, points[0])}", soft_wrap=True)
    counts = [f"{len(sweep.failed)} failed", f"{len(sweep.done) - len(sweep.failed) - len(sweep.impossible)} went well"]
    if sweep.impossible:
        counts.append(f"{len(sweep.impossible)} with a fault that can never fire")
    out.print(f"{many(len(sweep.done), 'point')}: {', '.join(counts)}", soft_wrap=True)
    for path in files:
        out.print(f"written: {path}", soft_wrap=True)
    if files and sweep.axes and not can_draw():
        out.print("for a picture of the maps: pip install 'simrt[report]'")


def _said(point: "Point", code: str) -> str:
    from simrt.explore.explore import said

    assert point.outcome is not None
    name, message = said(point.outcome, code)
    return f"{name}: {message}"


def _command(sweep: "Sweep", point: "Point") -> str:
    from simrt.explore.regressions import command

    return command(sweep.client, sweep.cassette, point.plan, sweep.seed)
