"""Search the whole zoo and print what found which bug: `python -m tests.zoo`, from the top of the repository."""

import argparse
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.table import Table

from simrt.explore.executors import crew
from simrt.explore.explore import Failure
from tests.zoo.exhibit import name_of
from tests.zoo.exhibits import EXHIBITS
from tests.zoo.search import Seen, clear, markdown, search, twins

TWIN_RUNS = 1000


def main() -> int:
    """The command; its exit status: 1 where a bug was not found, or a twin was blamed."""
    parser = argparse.ArgumentParser(prog="python -m tests.zoo", description="Search the zoo's clients for their bugs.")
    parser.add_argument("rows", nargs="*", metavar="ROW", help="only these exhibits, say B07")
    parser.add_argument("--runs", type=int, default=200, help="runs of each bug at most (200); 0: twins only")
    parser.add_argument("--twin-runs", type=int, default=TWIN_RUNS, help=f"runs of each twin ({TWIN_RUNS}); 0: none")
    parser.add_argument("--seed", type=int, default=0, help="the same for all (0)")
    parser.add_argument("--workers", type=int, default=0, help="calls made at once; 0: one for each core")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the table there too, as Markdown")
    options = parser.parse_args()
    chosen = [exhibit for exhibit in EXHIBITS if not options.rows or exhibit.row in options.rows]
    if unknown := set(options.rows) - {exhibit.row for exhibit in EXHIBITS}:
        parser.error(f"no such row: {', '.join(sorted(unknown))}; there are {', '.join(map(str, EXHIBITS))}")
    console = Console()
    seen: list[Seen] = []
    blamed: dict[str, list[Failure]] = {}
    begin = time.monotonic()
    with crew(workers=options.workers) as hands, console.status("") as status:
        for exhibit in chosen if options.runs else ():
            status.update(f"{exhibit.row} {exhibit.met}")
            seen.append(search(exhibit, hands, runs=options.runs, seed=options.seed))
            if not seen[-1].flagged:
                console.print(f"{exhibit.row} is not found: {exhibit.met}", soft_wrap=True)
        for twin, cassettes in twins(chosen).items() if options.twin_runs else ():
            status.update(f"{twin} on {', '.join(cassettes)}")
            blamed[twin] = clear(twin, cassettes, hands, runs=options.twin_runs, seed=options.seed)
            for failure in blamed[twin]:
                console.print(f"{twin} is blamed: {told(failure)}", soft_wrap=True)
    console.print(table(seen, blamed))
    lost = [one.exhibit.row for one in seen if not one.flagged]
    wrong = [twin for twin, failures in blamed.items() if failures]
    console.print(f"{len(seen)} exhibits, seed {options.seed}, {time.monotonic() - begin:.0f} s")
    console.print(f"not found: {', '.join(lost) or 'none'}")
    twins_made = f"{len(blamed)} twins, {options.twin_runs} runs each"
    console.print(f"{twins_made}; blamed: {', '.join(wrong) or 'none'}", soft_wrap=True)
    if options.markdown:
        options.markdown.write_text("\n".join(markdown(seen)) + "\n")
    return 1 if lost or wrong else 0


def table(seen: list[Seen], blamed: dict[str, list[Failure]]) -> Table:
    """What found which bug."""
    made = Table("row", "what people met", "rule", "shortest plan", "runs", "twin")
    for one in seen:
        first, twin = one.first, name_of(one.exhibit.mended)
        right = "" if twin not in blamed else f"{len(blamed[twin])} wrong" if blamed[twin] else "clean"
        rule = f"{first.code} {first.name}" if first else "not found"
        plan, runs = (" ".join(first.plan) or "none", str(first.found_in)) if first else ("", "")
        made.add_row(one.exhibit.row, one.exhibit.met, rule, plan, runs, right)
    return made


def told(failure: Failure) -> str:
    """A failure in one line."""
    seed = f", seed {failure.seed}" if failure.seed else ""
    plan = " ".join(failure.plan) or "as it is"
    runs = f"run {failure.found_in}, {failure.runs} in all"
    return f"{failure.code} {failure.name}, {failure.cassette} {plan}{seed} ({runs}): {failure.message}"


if __name__ == "__main__":
    sys.exit(main())
