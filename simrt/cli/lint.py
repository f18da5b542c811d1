"""`simrt lint`: what the rules find in recordings."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer

from simrt.cli.console import complain, console, many, print_json
from simrt.cli.recordings import PATHS_HELP, SUFFIXES, read, recordings
from simrt.errors import SimrtError

if TYPE_CHECKING:
    from simrt.checks import Finding, Limits

SELECT_HELP = "Only rules whose code begins so, as in AGT or AGT201,CLR; may be given more than once."
IGNORE_HELP = "Not the rules whose code begins so; the longer prefix counts."
LIMIT_HELP = "Another threshold, as in hold=3s or barge_in=500ms; may be given more than once."

_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s)")


class Linted(msgspec.Struct, frozen=True):
    """What came of one recording: `status` is "judged", "authored" (it holds no call), or "unreadable"."""

    path: str
    status: str
    findings: "list[Finding]" = []
    remark: str = ""


def lint_command(
    paths: Annotated[list[str], typer.Argument(metavar="PATH…", help=PATHS_HELP)],
    select: Annotated[list[str] | None, typer.Option("--select", metavar="CODE", help=SELECT_HELP)] = None,
    ignore: Annotated[list[str] | None, typer.Option("--ignore", metavar="CODE", help=IGNORE_HELP)] = None,
    limit: Annotated[list[str] | None, typer.Option("--limit", metavar="NAME=TIME", help=LIMIT_HELP)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object and nothing else.")] = False,
    sarif: Annotated[
        Path | None, typer.Option("--sarif", metavar="FILE", help="Write SARIF 2.1.0 as well; - is standard output.")
    ] = None,
) -> None:
    """Judge recordings by rules: what a client did wrong in a real call.

    Exit status 0: nothing was found (notes blame nobody), 1: something was, 2: a recording could not be judged.
    """
    wanted, unwanted = prefixes(select), prefixes(ignore)
    try:
        limits = limits_of(limit or [])
        linted = [lint(path, wanted, unwanted, limits) for name in paths for path in recordings(name)]
        if not linted:
            raise SimrtError(f"nothing to lint in {', '.join(paths)}: no cassette, no *{', *'.join(SUFFIXES)} file")
        if sarif is not None:
            _write_sarif(sarif, linted, wanted, unwanted)
    except SimrtError as error:
        complain(str(error))
        raise typer.Exit(2) from None
    if as_json:
        print_json(_summary(linted))
    elif sarif != Path("-"):
        _show(linted)
    for one in linted:
        if one.status == "unreadable":
            complain(one.remark)
    if any(one.status == "unreadable" for one in linted):
        raise typer.Exit(2)
    if blamed(linted):
        raise typer.Exit(1)


def lint(path: Path, select: Sequence[str], ignore: Sequence[str], limits: "Limits") -> Linted:
    """Judge one recording. SimrtError: a prefix that no rule has; a recording that cannot be read has a status."""
    from simrt.checks import Case, chosen, judge

    chosen(select, ignore)
    try:
        cassette = read(path)
    except SimrtError as error:
        return Linted(str(path), "unreadable", remark=str(error))
    if cassette.script is not None:
        return Linted(str(path), "authored", remark="authored: it holds no call; judge what a client makes of it")
    case = Case.of_trace(cassette.trace, cassette.header)
    return Linted(str(path), "judged", judge(case, select, ignore, limits))


def prefixes(given: Sequence[str] | None) -> list[str]:
    """What stands behind --select or --ignore, with commas taken apart."""
    return [part.strip() for one in given or () for part in one.split(",") if part.strip()]


def limits_of(given: Sequence[str]) -> "Limits":
    """The limits with those changed that are given as NAME=TIME. SimrtError names those that there are."""
    from simrt.checks import Limits

    names = {field.removesuffix("_ms"): field for field in Limits.__struct_fields__}
    values: dict[str, float] = {}
    for one in given:
        name, _, value = one.partition("=")
        match = _DURATION.fullmatch(value.strip())
        field = names.get(name.strip().removesuffix("_ms"))
        if field is None:
            raise SimrtError(f"there is no limit {name!r}; there are: {', '.join(names)}")
        if match is None:
            raise SimrtError(f"limit {one!r}: {value!r} is no duration; write {name}=500ms or {name}=1.5s")
        values[field] = float(match[1]) * (1000 if match[2] == "s" else 1)
    return Limits(**values)


def blamed(linted: Sequence[Linted]) -> int:
    """How many findings there are that blame a client."""
    return sum(finding.severity == "error" for one in linted for finding in one.findings)


def _summary(linted: Sequence[Linted]) -> dict[str, Any]:
    notes = sum(len(one.findings) for one in linted) - blamed(linted)
    return {"findings": blamed(linted), "notes": notes, "recordings": [msgspec.to_builtins(one) for one in linted]}


def _show(linted: Sequence[Linted]) -> None:
    out = console()
    for one in linted:
        if not one.findings:
            continue
        out.print(one.path, style="bold", soft_wrap=True)
        for finding in one.findings:
            out.print(f"  {finding}", soft_wrap=True)
    out.print(_total(linted), soft_wrap=True)


def _total(linted: Sequence[Linted]) -> str:
    """The last line."""
    judged = sum(one.status == "judged" for one in linted)
    summary = _summary(linted)
    parts = [f"{many(summary['findings'], 'finding')} in {many(judged, 'recording')}"]
    if summary["notes"]:
        parts.append(many(summary["notes"], "note"))
    for status, said in (("authored", "authored, not judged"), ("unreadable", "unreadable")):
        count = sum(one.status == status for one in linted)
        if count:
            parts.append(f"{count} {said}")
    return ", ".join(parts)


def _write_sarif(file: Path, linted: Sequence[Linted], select: Sequence[str], ignore: Sequence[str]) -> None:
    from importlib.metadata import version

    from simrt.checks import chosen
    from simrt.checks.sarif import sarif

    log = sarif([(Path(one.path), one.findings) for one in linted], chosen(select, ignore), version("simrt"))
    if file == Path("-"):
        print_json(log)
        return
    try:
        file.write_bytes(msgspec.json.format(msgspec.json.encode(log), indent=2) + b"\n")
    except OSError as error:
        raise SimrtError(f"{file}: cannot be written ({error.strerror}); check folder and name") from None
