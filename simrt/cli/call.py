"""`simrt call`: one call in the World, or many."""

import contextlib
import sys
from collections.abc import Sequence
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from simrt.cli.console import CASSETTE_HELP, FAULT_HELP, complain, console, find_cassette, print_json, scrubbed
from simrt.errors import SimrtError

if TYPE_CHECKING:
    from simrt.result import CallResult

    Outcome = tuple[CallResult | None, str | None]


_NO_CALL: dict[str, Any] = {
    "ready_ms": None,
    "caller_turns": [],
    "replies": [],
    "closed_by": None,
    "virtual_ms": None,
    "trace_sha256": None,
    "verdict": None,
    "transcript": "",
    "findings": [],
    "log": [],
}


class VadChoice(StrEnum):
    """Which voice detection finds the speech in authored turns."""

    energy = "energy"
    silero = "silero"


def call_command(
    client: Annotated[str, typer.Argument(metavar="MODULE:CLIENT", help="The client, as in clients.call:Call.")],
    cassette: Annotated[str, typer.Argument(metavar="CASSETTE", help=CASSETTE_HELP)],
    fault: Annotated[list[str] | None, typer.Option("--fault", "-f", metavar="FAULT", help=FAULT_HELP)] = None,
    seed: Annotated[int, typer.Option("--seed", help="Seeds what is drawn at random.")] = 0,
    runs: Annotated[int, typer.Option("--runs", min=1, help="Call that often, each time with the next seed.")] = 1,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    wav: Annotated[
        Path | None,
        typer.Option("--wav", metavar="FILE", help="Write the call: the caller left, what was heard right."),
    ] = None,
    check: Annotated[
        bool, typer.Option("--check", help="Exit with status 1 when a rule finds something (see simrt rule).")
    ] = False,
    vad: Annotated[VadChoice, typer.Option("--vad", help="What finds the voice in authored turns.")] = VadChoice.energy,
) -> None:
    """Call a client in virtual time, and judge what the caller heard."""
    if wav is not None and runs > 1:
        raise typer.BadParameter("holds one call; leave out --runs", param_hint="--wav")
    # what a client prints must not end up in the JSON
    with contextlib.redirect_stdout(sys.stderr) if as_json else contextlib.nullcontext():
        outcomes = _run(client, cassette, fault or [], range(seed, seed + runs), vad.value)
    result, error = outcomes[0]
    if as_json:
        print_json(_one(result, error, seed) if runs == 1 else _all(outcomes, seed))
    else:
        _show(outcomes, seed)
    if wav is not None:
        _write_wav(wav, result)
    errors = dict.fromkeys(error for _, error in outcomes if error is not None)
    for message in errors:
        complain(message)
    if errors or (check and any(_blamed(result) for result, _ in outcomes)):
        raise typer.Exit(1)


def _blamed(result: "CallResult | None") -> bool:
    return result is not None and any(finding.severity == "error" for finding in result.findings)


def _run(client: str, cassette: str, faults: list[str], seeds: Sequence[int], vad: Any) -> "list[Outcome]":
    from simrt.client_loader import load_client
    from simrt.faults.plan import check_plan, parse_plan
    from simrt.replay.build import score_of
    from simrt.trial import staged

    path = find_cassette(cassette)
    plan = parse_plan(faults)
    find = partial(score_of, vad=vad)
    check_plan(plan, find(path))
    loaded = load_client(client)
    outcomes: list[Outcome] = []
    for seed in seeds:
        with staged(loaded, str(path), plan, seed=seed, find=find) as call:
            outcomes.append((call.result, call.error))
    return outcomes


def _one(result: "CallResult | None", error: str | None, seed: int) -> dict[str, Any]:
    """The JSON of one run; of a call that left no result, the same keys without content."""
    made = _NO_CALL if result is None else result.to_dict()
    return {**made, "error": error, "seed": seed}


def _all(outcomes: "list[Outcome]", seed: int) -> dict[str, Any]:
    from simrt.cli.headline import headline, summary_of

    heads = [headline(result) for result, _ in outcomes if result is not None]
    summary = summary_of(heads) | {"runs": len(outcomes), "failed": sum(error is not None for _, error in outcomes)}
    rows = [_one(result, error, seed + number) for number, (result, error) in enumerate(outcomes)]
    return {"summary": summary, "runs": rows}


def _show(outcomes: "list[Outcome]", seed: int) -> None:
    from simrt.cli.headline import headline, of_many
    from simrt.cli.result_view import print_result, runs_table

    out = console()
    if len(outcomes) == 1:
        result, _ = outcomes[0]
        if result is not None:
            print_result(result, out)
        return
    heads = [headline(result) if result is not None else None for result, _ in outcomes]
    out.print(runs_table([(seed + number, head, outcomes[number][0]) for number, head in enumerate(heads)]))
    for line in of_many([head for head in heads if head is not None]):
        out.print(line, soft_wrap=True)


def _write_wav(path: Path, result: "CallResult | None") -> None:
    from simrt.caller import write_wav

    if result is None or result.line is None:
        return
    try:
        write_wav(path, result.audio())
    except (OSError, RuntimeError) as error:  # soundfile's errors are RuntimeErrors
        raise SimrtError(
            f"the audio cannot be written to {path}: {scrubbed(str(error))}; check folder and name"
        ) from None
