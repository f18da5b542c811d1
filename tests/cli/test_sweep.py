"""`simrt sweep`: maps, files, JSON, and Ctrl-C."""

import importlib.util
import json
from collections.abc import Callable
from pathlib import Path

import pytest

from .conftest import Process, Run, message
from .test_call import client

DRAIN = ("sweep", "clients.call:DrainCall", "front-desk-short")
FAULT = ("--fault", "stall:at=0|1500ms|20s,for=200|500ms")
ONE = ("--workers", "1")


def test_maps_findings_the_command_and_the_files(run: Run, home: Path) -> None:
    result = run(*DRAIN, *FAULT, *ONE)
    assert result.exit_code == 1
    shown = result.stdout
    assert "    500ms ..XX//" in shown
    assert "    200ms ....//" in shown
    assert "goodbye_heard_percent: " in shown
    assert "END401" in shown
    replay = "simrt call clients.call:DrainCall front-desk-short --fault stall:at=1500ms,for=500ms"
    assert f"at 1 point, first: {replay}" in shown
    assert "6 points: 1 failed, 3 went well, 2 with a fault that can never fire" in shown
    saved = json.loads((home / "sweep-DrainCall-front-desk-short.json").read_text())
    assert len(saved["points"]) == 6
    drawn = home / "sweep-DrainCall-front-desk-short.png"
    assert drawn.exists() == (importlib.util.find_spec("matplotlib") is not None)


def test_the_command_it_prints_makes_the_same_call(run: Run, home: Path) -> None:
    told = json.loads(run(*DRAIN, *FAULT, *ONE, "--json").stdout)
    (failed,) = [point for point in told["points"] if point["outcome"]["findings"]]
    call = run("call", *DRAIN[1:], "--fault", failed["plan"][0], "--json")
    assert json.loads(call.stdout)["trace_sha256"] == failed["outcome"]["trace_sha256"]


def test_json_is_one_object_and_writes_files_only_when_told(run: Run, home: Path) -> None:
    result = run(*DRAIN, *FAULT, *ONE, "--json")
    assert result.exit_code == 1
    summary = json.loads(result.stdout)["summary"]
    assert summary["codes"] == {"END401": 1}
    assert [summary[name] for name in ("points", "done", "failed", "impossible")] == [6, 6, 1, 2]
    assert list(home.iterdir()) == []
    told = json.loads(run(*DRAIN, "--fault", "stall:for=0|100ms", *ONE, "--json", "--out", "mine").stdout)
    assert told["summary"]["files"][0] == "mine.json"
    assert (home / "mine.json").exists()


def test_a_figure_by_name_and_one_axis(run: Run, home: Path) -> None:
    fault = ("--fault", "late-ready:at=500ms|3s")
    result = run("sweep", "clients.call:NaiveCall", "front-desk-short", *fault, "--figure", "words_lost", *ONE)
    assert result.exit_code == 1
    assert "goodbye_heard_percent: " not in result.stdout
    bars = [line for line in result.stdout.splitlines() if "█" in line]
    assert [line.split()[0] for line in bars] == ["500ms", "3s"]


def test_a_client_that_fails_nowhere_is_exit_status_0(run: Run, home: Path) -> None:
    result = run("sweep", "clients.call:Call", "front-desk-short", "--fault", "stall:at=1500ms,for=200|500ms", *ONE)
    assert result.exit_code == 0, result.stdout
    assert "2 points: 0 failed, 2 went well" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("clients.call:Nobody", "front-desk", "--fault", "stall"), "has no 'Nobody'"),
        (("clients.call:Call", "nonesuch", "--fault", "stall"), "no shipped cassette"),
        (("clients.call:Call", "front-desk", "--fault", "stall:at=0..5s"), "has no step"),
        (("clients.call:Call", "front-desk", "--fault", "stall:ta=0|5s"), "did you mean 'at'"),
        (("clients.call:Call", "front-desk", "--fault", "stall", "--figure", "words"), "there is no figure 'words'"),
        (("clients.call:Call", "front-desk", "--fault", "stall", "--executor", "threads"), "dask://HOST:PORT"),
        (("clients.call:Call", "front-desk", "--fault", "stall:at=20s|30s", *ONE), "at no point"),
    ],
)
def test_what_cannot_be_swept_is_told(run: Run, home: Path, arguments: tuple[str, ...], said: str) -> None:
    assert said in message(run("sweep", *arguments))


def test_ctrl_c_shows_what_there_is(process: Callable[..., Process], home: Path) -> None:
    body = """
    from clients.call import Call as Inner
    async def client(line):
        with open("calls", "a") as calls:
            calls.write("x")
        await Inner(line).run()
    """
    name = client(home, body)
    started = process(
        "sweep", name, "front-desk-short", "--fault", "stall:at=0..4000ms/1ms", "--json", "--workers", "1"
    )
    while not (home / "calls").exists() or len((home / "calls").read_text()) < 5:
        assert started.child.poll() is None
    status, out, err = started.interrupt()
    assert status == 130
    summary = json.loads(out)["summary"]
    assert summary["interrupted"]
    assert 0 < summary["done"] < summary["points"] == 4001
    assert "interrupted after" in err
