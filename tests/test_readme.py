"""The README says what there is: its tables of faults and rules, its examples, its links."""

import re
from pathlib import Path
from typing import Any

import pytest

from simrt.call import run_call
from simrt.checks import all_rules
from simrt.cli import app
from simrt.faults import FAULTS, parse_fault

ROOT = Path(__file__).resolve().parent.parent
README = (ROOT / "README.md").read_text()


def rows(heading: str) -> list[list[str]]:
    """The cells of the tables under a heading, those of their own headings left out."""
    section = README.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    lines = re.findall(r"^\| (.*) \|$", section, re.MULTILINE)
    return [cells for line in lines if "`" in (cells := line.split(" | "))[0] or "`" in cells[1]]


def blocks(language: str) -> list[str]:
    """The examples in that language."""
    return re.findall(rf"```{language}\n(.*?)```", README, re.DOTALL)


def test_every_rule_stands_in_the_table_as_simrt_rule_has_it() -> None:
    told = sorted(cells[:3] for cells in rows("Rules"))
    assert told == [[rule.code, f"`{rule.name}`", rule.summary] for rule in all_rules()]


def test_every_fault_stands_in_a_table_once_with_the_harm_that_its_example_does() -> None:
    found = [(parse_fault(cells[0].strip("`")), cells[2]) for cells in rows("Faults")]
    assert sorted(fault.name for fault, _ in found) == sorted(FAULTS)
    for fault, harm in found:
        assert fault.harm() in harm, fault


def commands() -> set[str]:
    """What stands behind `simrt` in a console, or in the text."""
    text = "\n".join([*blocks("console"), *re.findall(r"`([^`\n]+)`", README)])
    return {*re.findall(r"^(?:\$ |.* && )?simrt ([a-z]+)", text, re.MULTILINE)}


@pytest.mark.parametrize("command", sorted(commands()))
def test_each_command_is_one(command: str) -> None:
    assert command in {info.name for info in app.registered_commands}


def test_links_lead_somewhere() -> None:
    anchors = {
        re.sub(r"[^\w -]", "", line.lower()).replace(" ", "-") for line in re.findall(r"^## (.*)$", README, re.M)
    }
    for target in re.findall(r"\]\(([^)]+)\)", README):
        assert target.removeprefix("#") in anchors if target.startswith("#") else (ROOT / target).exists(), target


def test_the_live_client_takes_its_call() -> None:
    source = next(block for block in blocks("python") if block.startswith("# my_parcel.py"))
    module: dict[str, Any] = {}
    exec(source, module)
    result = run_call(module["answer"], "parcel-status")
    assert result.replies[1].heard_text == "Order 4711 shipped yesterday and arrives tomorrow."
    assert str(result.verdict) == "clean"
    result.check()
