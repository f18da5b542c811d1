"""Fixtures for all tests."""

import os
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
