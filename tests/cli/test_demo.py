"""`simrt demo`: its table, its exit status, and the whole of it."""

from collections.abc import Callable
from pathlib import Path

import pytest
from typer.testing import Result

from simrt.cli import demo
from simrt.cli.demo_judge import Played
from simrt.shipped import cassette

from .conftest import Process, Run


@pytest.fixture
def recorded(monkeypatch: pytest.MonkeyPatch) -> None:
    """A shipped cassette in place of a new recording."""

    async def ready(*_: object) -> Path:
        return cassette("front-desk-short")

    monkeypatch.setattr(demo, "_record", ready)


def rows(result: Result) -> list[list[str]]:
    """The table's rows, cell by cell."""
    lines = [line for line in result.stdout.splitlines() if line.startswith("│")]
    return [[cell.strip() for cell in line.strip("│").split("│")] for line in lines]


@pytest.mark.usefixtures("recorded")
def test_the_table_shows_what_the_three_clients_are_known_for(run: Run) -> None:
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert [row[:3] for row in rows(result)] == [
        ["Call", "none", "0 of 12"],
        ["Call", "500 ms", "0 of 12"],
        ["NaiveCall", "none", "1 of 12"],
        ["NaiveCall", "500 ms", "1 of 12"],
        ["DrainCall", "none", "0 of 12"],
        ["DrainCall", "500 ms", "0 of 12"],
    ]
    goodbyes = [row[4] for row in rows(result)]
    assert goodbyes[:2] == ["3.00 of 3.00 s"] * 2
    assert goodbyes[5] == "1.50 of 3.00 s"
    assert "caller: Yes, I'm calling about my booking" in result.stdout
    assert "As it should be" in result.stdout


@pytest.mark.usefixtures("recorded")
def test_the_table_fits_a_terminal_of_80_columns(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert [row[0] for row in rows(run("demo"))] == ["Call", "Call", "NaiveCall", "NaiveCall", "DrainCall", "DrainCall"]


@pytest.mark.usefixtures("recorded")
def test_a_wrong_outcome_is_named_and_is_status_1(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    right = demo.play

    def swapped(name: str, stalled: bool, path: Path) -> tuple[Played, float]:
        played, ms = right("DrainCall" if name == "Call" else name, stalled, path)
        return Played(name, stalled, played.head, played.heard, played.transcript, played.ended), ms

    monkeypatch.setattr(demo, "play", swapped)
    result = run("demo")
    assert result.exit_code == 1
    assert "simrt: Call with the stall: played 1.50 of 3.00 s of the goodbye, it should be all of it" in result.stderr
    assert "run it again when it is quieter" in result.stderr
    assert "As it should be" not in result.stdout
    assert len(rows(result)) == 6  # the table is shown all the same


def test_a_client_that_fails_is_part_of_the_outcome(monkeypatch: pytest.MonkeyPatch) -> None:
    from simrt.shipped import client_module

    async def broken(line: object) -> None:
        raise ValueError("no idea")

    monkeypatch.setattr(client_module("clients.call"), "Call", broken)
    played, _ = demo.play("Call", False, cassette("front-desk-short"))
    assert played.error is not None
    assert "ValueError: no idea" in played.error


@pytest.mark.slow
def test_the_whole_demo(run: Run) -> None:
    result = run("demo")
    assert result.exit_code == 0, result.output
    assert len(rows(result)) == 6
    assert "s  agent: You're all set for Friday." in result.stdout  # the call, as it went


def test_ctrl_c_ends_it_and_leaves_nothing(
    process: Callable[..., Process], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    running = process("demo")
    running.line_with("session ready")
    status, _, err = running.interrupt()
    assert status == 130
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []
