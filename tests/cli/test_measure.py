"""`simrt measure`: the table, the JSON, the audit, and Ctrl-C."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from simrt.shipped import cassette

from .conftest import Process, Run, message
from .test_call import client

ONE = ("--workers", "1")
OUTCOMES = ["more than one call", "refunded twice", "no refund", "never told", "any mismatch"]


def test_people_get_a_table_and_the_reasons(run: Run) -> None:
    result = run("measure", "clients.refund:BeforeDesk", "did-it-go-through", "tv", "--runs", "2", *ONE)
    assert result.exit_code == 0
    rows = {line.split("│")[1].strip(): line for line in result.stdout.splitlines() if line.startswith("│")}
    assert set(rows) == {"did-it-go-through", "tv", "total"}
    assert [cell.strip() for cell in rows["did-it-go-through"].split("│")][2:9] == ["2", "0", "0", "0", "0", "2", "2"]
    assert "ms (7" in rows["did-it-go-through"]
    assert "calls in history" not in result.stdout.replace("\n", " ")
    assert "did-it-go-through: any mismatch: order 4417" in result.stdout
    assert "(seed 0, 1)" in result.stdout


def test_json_is_one_object_with_each_run_in_it(run: Run) -> None:
    told = json.loads(run("measure", "clients.refund:RefundDesk", "wrong-card", "--json", "-n", "2", *ONE).stdout)
    assert (told["client"], told["interrupted"]) == ("clients.refund:RefundDesk", False)
    assert [(entry["script"], entry["seed"]) for entry in told["runs"]] == [("wrong-card", 0), ("wrong-card", 1)]
    (made,) = told["scripts"]
    assert list(made["outcomes"]) == OUTCOMES
    assert list(made["outcomes"].values()) == [2, 0, 0, 0, 0]
    assert set(made["cut_ms"]) == {"median", "min", "max"}
    assert "in_history" not in made
    assert told["total"]["runs"] == 2


def test_the_audit_finds_the_calls_whose_line_was_cut(run: Run) -> None:
    result = run("measure", "clients.refund:RefundDesk", "wrong-card", "--audit", "--json", "-n", "1", *ONE)
    (made,) = json.loads(result.stdout)["scripts"]
    assert (made["calls"], made["in_history"]) == (3, 3)
    shown = run("measure", "clients.refund:RefundDesk", "wrong-card", "--audit", "-n", "1", *ONE).stdout
    assert "3 of 3" in shown


def test_a_cassette_by_path_and_a_fault(run: Run) -> None:
    folder = cassette("front-desk-short")
    stall = "stall:reply=-1,at=1500ms,for=500ms"
    result = run("measure", "clients.call:DrainCall", folder, "--fault", stall, "--json", "-n", "1", *ONE)
    (made,) = json.loads(result.stdout)["scripts"]
    assert made["script"] == str(folder)
    assert made["outcomes"]["last reply cut off"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("clients.refund:RefundDesk", "wrong-cart"), "did you mean 'wrong-card'"),
        (("clients.refund:RefundDesk", "tv", "--fault", "stall:reply=9"), "can never fire"),
        (("clients.refund:Nobody", "tv"), "has no 'Nobody'"),
    ],
)
def test_what_cannot_be_measured_is_said_before_any_call(run: Run, arguments: tuple[str, ...], said: str) -> None:
    result = run("measure", *arguments)
    assert result.exit_code == 1
    assert said in message(result)


def test_failed_runs_are_counted_and_reported(run: Run, home: Path) -> None:
    name = client(home, "async def client(line):\n    print('noise')\n    raise ValueError('no')\n")
    result = run("measure", name, "tv", "--json", "-n", "2", *ONE)
    assert result.exit_code == 1
    told = json.loads(result.stdout)
    assert told["total"]["failed"] == 2
    assert "ValueError: no" in told["runs"][0]["error"]
    assert "2 of 2 runs failed" in result.stderr


@pytest.mark.parametrize("workers", ["1", "2"])
def test_ctrl_c_prints_what_there_is(process: Callable[..., Process], home: Path, workers: str) -> None:
    body = """
    import os
    from clients.call import Call as Inner
    from simrt.shipped import folder
    async def client(line):
        print("calling", file=sys.stderr, flush=True)
        await Inner(line).run()
    """
    name = client(home, body)
    started = process("measure", name, "front-desk-short", "--runs", "100000", "--json", "--workers", workers)
    for _ in range(25):
        started.line_with("calling", "stderr")
    status, out, err = started.interrupt()
    assert status == 130
    told = json.loads(out)
    assert told["interrupted"]
    assert 0 < told["total"]["runs"] < 100_000
    assert "interrupted after" in err
