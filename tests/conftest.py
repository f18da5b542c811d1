"""Fixtures for all tests."""

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def recordings() -> Path:
    """The folder of recordings that others made (`../shared/recordings` from the project's root, or
    $SIMRT_RECORDINGS). None of them is part of the project, so tests that need them are skipped where it is absent."""
    default = Path(__file__).resolve().parents[2] / "shared" / "recordings"
    folder = Path(os.environ.get("SIMRT_RECORDINGS", default))
    if not folder.is_dir():
        pytest.skip(f"no recordings at {folder}; set SIMRT_RECORDINGS to the folder that holds them")
    return folder


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """An empty current directory; what is imported from it is forgotten afterwards."""
    before = set(sys.modules)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", list(sys.path))
    yield tmp_path
    for name in set(sys.modules) - before:
        if (getattr(sys.modules[name], "__file__", None) or "").startswith(str(tmp_path)):
            del sys.modules[name]
