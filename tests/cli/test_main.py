"""What holds for all commands."""

import re
import subprocess
import sys

import pytest

from simrt.cli import app
from simrt.cli.console import complain, find_cassette
from simrt.errors import SimrtError

from .conftest import Run, message

COMMANDS = (
    *("demo", "record", "serve", "call", "measure", "lint", "rule", "sweep", "explore"),
    *("show", "import", "recover", "verify"),
)
HEAVY = ("numpy", "websockets", "freezegun", "soundfile", "soxr", "yaml")


def test_every_command_is_in_the_help(run: Run) -> None:
    result = run("--help")
    assert result.exit_code == 0
    assert [name for name in COMMANDS if re.search(rf"\b{name}\b", result.stdout)] == list(COMMANDS)
    assert sorted(command.name or "" for command in app.registered_commands) == sorted(COMMANDS)


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_explains_itself(run: Run, command: str) -> None:
    result = run(command, "--help")
    assert result.exit_code == 0
    assert f"Usage: simrt {command}" in result.stdout


@pytest.mark.parametrize("arguments", [["--help"], ["call", "--help"], ["demo", "--help"], ["record", "--help"]])
def test_help_loads_nothing_heavy(arguments: list[str]) -> None:
    code = (
        "import sys; from simrt.cli import app\n"
        f"try: app({arguments!r})\n"
        "except SystemExit: pass\n"
        f"print('LOADED', [name for name in {HEAVY!r} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "LOADED []"


def test_version(run: Run) -> None:
    assert re.fullmatch(r"simrt \d+\.\d+\.\d+\S*\n", run("--version").stdout)


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonesuch"],
        ["show"],
        ["call", "clients.call:Call"],
        ["serve", "x", "--port", "70000"],
        ["import", "x"],
    ],
)
def test_wrong_usage_is_status_2(run: Run, arguments: list[str]) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert "Usage: simrt" in result.stderr
    assert result.stdout == ""


def test_an_unknown_cassette_is_told_with_those_there_are(run: Run) -> None:
    told = message(run("show", "front-dsk"))
    assert "no folder front-dsk here" in told
    assert "front-desk, front-desk-authored" in told


def test_a_path_that_is_not_there_is_no_name(run: Run) -> None:
    assert message(run("show", "some/where")) == "simrt: there is no cassette at some/where; check the path"


def test_a_folder_here_comes_before_a_shipped_cassette(home: object) -> None:
    from pathlib import Path

    assert find_cassette("front-desk").name == "front-desk"
    Path("front-desk").mkdir()
    assert find_cassette("front-desk") == Path("front-desk")


def test_messages_hold_no_keys(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_API_KEY", "very-secret-value-1")
    complain("it said very-secret-value-1, and Authorization: Bearer other-secret-2")
    told = capsys.readouterr().err
    assert told.startswith("simrt: it said <redacted>")
    assert "secret" not in told


def test_ctrl_c_is_status_130(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("simrt.cassette.store.load", interrupted)
    result = run("show", "front-desk")
    assert result.exit_code == 130
    assert "Traceback" not in result.output


def test_an_error_on_purpose_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object) -> None:
        raise SimrtError("this and that")

    monkeypatch.setattr("simrt.cassette.store.load", broken)
    assert message(run("show", "front-desk")) == "simrt: this and that"


def test_a_pipe_gets_no_escape_codes_and_whole_lines() -> None:
    code = "from simrt.cli import main; main()"
    arguments = ["call", "clients.call:NaiveCall", "front-desk-short"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=True)
    assert "\x1b" not in done.stdout + done.stderr
    assert "agent: Thanks, Ms Okafor. You're in room two fourteen on Friday, two nights, with breakfast" in done.stdout


def test_a_terminal_without_unicode_is_no_reason_to_stop() -> None:
    code = "from simrt.cli import main; main()"
    arguments = ["call", "clients.call:NaiveCall", "front-desk-short"]
    environment = {"PYTHONIOENCODING": "ascii", "PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stderr
    assert "goodbye played:" in done.stdout
