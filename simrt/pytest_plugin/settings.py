"""What the marker, the options and the environment say about a test."""

import os
from pathlib import Path
from typing import Any, Literal, cast

import pytest

Mode = Literal["none", "once", "rewrite"]

MARKER = (
    "simrt(cassette=..., faults=[...], seed=..., upstream=...): defaults for simrt_call and its kin (any argument of "
    "run_call; to record, upstream and profile, and then says and headers are for the recording). An asynchronous test "
    "with it runs in virtual time."
)

RUN = frozenset(
    {"cassette", "faults", "says", "seed", "url", "headers", "format", "cap_ms", "vad", "start", "invariants"}
)
RECORD = frozenset({"upstream", "profile"})
FOR_THE_RECORDING = frozenset({"says", "headers"})
"""What a marker with an upstream means for the recording alone: on the cassette the caller is known, keys are not."""


def settings_of(item: pytest.Item) -> dict[str, Any]:
    """The arguments of all `simrt` markers on a test; the closest wins. UsageError for one that there is not."""
    found: dict[str, Any] = {}
    for marker in item.iter_markers("simrt"):
        unknown = sorted(set(marker.kwargs) - RUN - RECORD)
        if marker.args or unknown:
            what = ", ".join(unknown) or "an argument without a name"
            raise pytest.UsageError(
                f"{item.nodeid}: the marker simrt does not take {what}; it takes {', '.join(sorted(RUN | RECORD))}"
            )
        found = {**marker.kwargs, **found}
    return found


def mode_of(config: pytest.Config) -> Mode:
    """What is recorded: as `--simrt-record` says, nothing where CI is set."""
    return "none" if in_ci() else cast(Mode, config.getoption("--simrt-record"))


def in_ci() -> bool:
    """Whether the environment variable CI says so."""
    return os.environ.get("CI", "").strip().lower() not in ("", "0", "false")


def folders_of(item: pytest.Item) -> list[Path]:
    """Where the cassettes of a test are looked for: beside its file, then in the root folder."""
    places = [item.path.parent / "cassettes", item.config.rootpath / "cassettes"]
    return list(dict.fromkeys(places))
