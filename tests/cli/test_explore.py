"""`simrt explore`: what it prints, what it keeps, and that others get the same call."""

import json
import shlex
from pathlib import Path

import pytest

from simrt.explore.regressions import load

from .conftest import Run, message

ONE = ("--workers", "1")
DRAIN = "clients.call:DrainCall"


def test_the_stall_is_found_with_nothing_but_the_plain_cassette(run: Run) -> None:
    result = run("explore", DRAIN, "-n", "8", *ONE)
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert lines[0] == "END401 hung-up-mid-reply"
    assert lines[2].strip().startswith("shortest plan: stall:at=")
    assert " " not in lines[2].partition("plan: ")[2]
    assert lines[3].strip().startswith("found in run 2 ")
    assert "1 distinct failure in 8 runs on front-desk, seed 0" in lines[-1]


def test_the_command_that_is_printed_makes_the_same_call(run: Run) -> None:
    (failure,) = json.loads(run("explore", DRAIN, "-n", "4", "--json", *ONE).stdout)["failures"]
    words = shlex.split(failure["command"])
    assert words[:2] == ["simrt", "call"]
    again = json.loads(run(*words[1:], "--json").stdout)
    assert again["trace_sha256"] == failure["trace_sha256"]


def test_a_client_that_is_right_has_no_failure(run: Run) -> None:
    result = run("explore", "clients.call:Call", "front-desk-short", "-n", "8", *ONE)
    assert result.exit_code == 0
    assert result.stdout == "clients.call:Call: no failure in 8 runs on front-desk-short, seed 0\n"


def test_failures_are_kept_as_files(run: Run, tmp_path: Path) -> None:
    result = run("explore", DRAIN, "front-desk-short", "-n", "4", "--save", tmp_path / "found", *ONE)
    (path,) = (tmp_path / "found").iterdir()
    assert f"written: {path}" in result.stdout
    assert load(path).client == DRAIN


def test_rules_can_be_chosen(run: Run) -> None:
    assert run("explore", DRAIN, "-n", "4", "--ignore", "END401", *ONE).exit_code == 0
    assert run("explore", DRAIN, "-n", "4", "--select", "PRO", *ONE).exit_code == 0


def test_the_first_failure_is_enough(run: Run) -> None:
    found = json.loads(run("explore", DRAIN, "-x", "--json", *ONE).stdout)
    assert (found["runs"], [failure["found_in"] for failure in found["failures"]]) == (2, [2])


def test_json_is_the_same_each_time(run: Run) -> None:
    arguments = ("explore", DRAIN, "front-desk-short", "-n", "10", "--seed", "3", "--json")
    assert run(*arguments, *ONE).stdout == run(*arguments, "--workers", "2").stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("clients.call:Nobody",), "has no 'Nobody'"),
        ((DRAIN, "nonesuch"), "no folder nonesuch here"),
        ((DRAIN, "--ignore", "XYZ"), "no rule's code begins with 'XYZ'"),
        ((DRAIN, "--executor", "carrier-pigeon"), "there is processes, and dask://HOST:PORT"),
        (("simrt.demo_client:none",), "there is no module simrt.demo_client"),
    ],
)
def test_what_is_wrong_is_said(run: Run, arguments: tuple[str, ...], said: str) -> None:
    result = run("explore", *arguments, "-n", "2", *ONE)
    assert result.exit_code == 1
    assert said in message(result)


def test_a_client_that_names_no_cassette_wants_one(run: Run, home: Path) -> None:
    (home / "mine.py").write_text("async def client(line): ...\n")
    result = run("explore", "mine:client", "-n", "2", *ONE)
    assert result.exit_code == 1
    assert "which cassette? mine:client names none of its own" in message(result)
