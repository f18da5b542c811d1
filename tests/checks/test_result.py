"""Findings at a call's result, and in the command and the report that show it."""

import json

import pytest
from typer.testing import CliRunner

from clients.call import Call, NaiveCall
from simrt import run_call
from simrt.checks import Flagged
from simrt.cli import app
from simrt.errors import SimrtError
from simrt.result import CallResult


@pytest.fixture(scope="module")
def naive() -> CallResult:
    return run_call(NaiveCall, "front-desk")


def test_a_result_has_its_findings(naive: CallResult) -> None:
    assert {found.code for found in naive.findings} >= {"CLR101", "AGT201"}
    assert naive.findings is naive.findings
    assert run_call(Call, "front-desk").findings == []


def test_check_raises_what_pytest_shows(naive: CallResult) -> None:
    with pytest.raises(AssertionError, match="AGT201 goodbye-not-heard") as caught:
        naive.check()
    assert isinstance(caught.value, Flagged)
    assert caught.value.findings == naive.findings
    with pytest.raises(AssertionError) as caught:
        naive.check(select=["CLR"])
    assert "AGT201" not in str(caught.value)
    assert run_call(Call, "front-desk").check() == []
    with pytest.raises(SimrtError, match="XYZ"):
        naive.check(ignore=["XYZ"])


def test_the_command_shows_them_and_minds_them_when_asked() -> None:
    arguments = ["call", "clients.call:NaiveCall", "front-desk"]
    plain = CliRunner().invoke(app, arguments)
    assert plain.exit_code == 0
    assert "CLR101 words-lost-at-pickup" in plain.stdout
    assert CliRunner().invoke(app, [*arguments, "--check"]).exit_code == 1
    assert CliRunner().invoke(app, ["call", "clients.call:Call", "front-desk", "--check"]).exit_code == 0
    told = json.loads(CliRunner().invoke(app, [*arguments, "--json"]).stdout)
    assert "AGT201" in {found["code"] for found in told["findings"]}
    many = CliRunner().invoke(app, [*arguments, "--runs", "2", "--check"])
    assert many.exit_code == 1
    assert "CLR101" in many.stdout
