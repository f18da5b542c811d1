"""A built wheel in an empty environment: all that the demo needs is inside, and nothing is planted beside it."""

import json
import os
import subprocess
import sys
import venv
from pathlib import Path

import pytest

from simrt import shipped

ROOT = Path(__file__).resolve().parent.parent
STALL = "stall:reply=-1,at=1500ms,for=500ms"


def test_the_shipped_things_are_found_in_a_checkout() -> None:
    assert {path.parent.name for path in shipped.folder("cassettes").glob("*/cassette.jsonl")} >= {
        "front-desk",
        "front-desk-short",
        "talk-over",
        "late-ready",
        "no-done",
    }
    assert shipped.client_module("clients.call").DrainCall.__name__ == "DrainCall"


def test_the_recorded_cassettes_say_what_they_are() -> None:
    headers = [
        json.loads(path.read_text().splitlines()[0]) for path in shipped.folder("cassettes").glob("*/cassette.jsonl")
    ]
    assert {header["how"] for header in headers} == {"stand-in", "authored"}


@pytest.mark.slow
def test_a_wheel_runs_in_an_empty_environment_from_any_folder(tmp_path: Path) -> None:
    def run(*command: str | Path) -> subprocess.CompletedProcess[str]:
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        return subprocess.run(
            [str(part) for part in command], cwd=tmp_path, env=environment, check=True, capture_output=True, text=True
        )

    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "--wheel-dir", tmp_path, ROOT)
    wheel = next(tmp_path.glob("simrt-*.whl"))
    venv.create(tmp_path / "empty", with_pip=True)
    python = tmp_path / "empty" / "bin" / "python"
    run(python, "-m", "pip", "install", "--quiet", wheel)
    simrt = python.parent / "simrt"
    assert "Replay a cassette" in run(simrt, "--help").stdout
    called = run(simrt, "call", "clients.call:DrainCall", "front-desk-short", "--fault", STALL, "--json").stdout
    assert json.loads(called)["replies"][-1]["heard_ms"] == 1500
    assert run(simrt, "demo").returncode == 0
    planted = run(python, "-c", "import importlib.util as u; print(u.find_spec('clients'), u.find_spec('fixtures'))")
    assert planted.stdout.split() == ["None", "None"]
