"""Findings as SARIF 2.1.0, which code hosts and editors show beside the files (OASIS SARIF v2.1.0)."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import msgspec

from simrt.cassette.writer import LINES
from simrt.checks.base import Finding, Rule

_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"


class _Line(msgspec.Struct):
    sender: str | None = msgspec.field(default=None, name="from")


_decode = msgspec.json.Decoder(_Line).decode


def sarif(found: Iterable[tuple[Path, Sequence[Finding]]], rules: Sequence[Rule], version: str) -> dict[str, Any]:
    """One SARIF log: `found` has the findings of each recording, `rules` those that were asked."""
    numbers = {known.code: number for number, known in enumerate(rules)}
    results = [_result(path, finding, numbers) for path, findings in found for finding in findings]
    driver = {"name": "simrt", "version": version, "rules": [_rule(known) for known in rules]}
    run = {"tool": {"driver": driver}, "columnKind": "unicodeCodePoints", "results": results}
    return {"$schema": _SCHEMA, "version": "2.1.0", "runs": [run]}


def line_of(path: Path, frame: int | None) -> int | None:
    """The line of a cassette on which that frame stands; None where it is no cassette, or no frame is known."""
    if frame is None or not (path / LINES).is_file():
        return None
    lines = (path / LINES).read_bytes().split(b"\n")
    seen = -1
    for number, line in enumerate(lines[1:], 2):
        if line.strip() and _decode(line).sender is not None:
            seen += 1
            if seen == frame:
                return number
    return None


def _rule(known: Rule) -> dict[str, Any]:
    return {
        "id": known.code,
        "name": "".join(part.capitalize() for part in known.name.split("-")),
        "shortDescription": {"text": known.summary},
        "fullDescription": {"text": known.explanation.split("\n\n")[0].replace("\n", " ")},
        "help": {"text": known.explanation, "markdown": known.explanation},
        "defaultConfiguration": {"level": "error"},
    }


def _result(path: Path, finding: Finding, numbers: dict[str, int]) -> dict[str, Any]:
    file = path / LINES if (path / LINES).is_file() else path
    place: dict[str, Any] = {"artifactLocation": {"uri": file.as_posix()}}
    line = line_of(path, finding.frame)
    if line is not None:
        place["region"] = {"startLine": line}
    where = {"t_ms": finding.t_ms, "connection": finding.connection, "frame": finding.frame}
    return {
        "ruleId": finding.code,
        "ruleIndex": numbers[finding.code],
        "level": finding.severity,
        "message": {"text": f"{finding.t_ms / 1000:.2f} s: {finding.message}"},
        "locations": [{"physicalLocation": place}],
        "properties": {**where, "evidence": finding.evidence},
    }
