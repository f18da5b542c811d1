"""Failures that were found once, as files: each holds the call that shows it and the rule that it broke. pytest picks
them up (simrt.pytest_plugin.regressions), and they fail until the client is mended."""

import os.path
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

import msgspec

from simrt.errors import SimrtError
from simrt.explore.executors import crew
from simrt.explore.explore import Failure, said
from simrt.explore.job import Job, Outcome, run_job

SUFFIX = ".simrt.json"
FORMAT = 1


class Regression(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """One failure on disk. `cassette` is the name of a shipped one, or a path that counts from the file's folder.

    `code`, `name` and `message` are what the rule said; `trace_sha256` is that of the call which it said it of, so it
    holds for the client as it was. `limits`: the rules' limits that were not the default.
    """

    client: str
    cassette: str
    plan: tuple[str, ...]
    seed: int
    code: str
    name: str
    message: str
    trace_sha256: str | None
    limits: dict[str, float] = {}
    format: int = FORMAT

    def job(self, folder: Path) -> Job:
        """The call. `folder` is that of the file."""
        place = folder / self.cassette
        cassette = str(place) if place.exists() else self.cassette
        return Job(self.client, cassette, self.plan, self.seed, limits=self.limits)


def command(client: str, cassette: str, plan: tuple[str, ...], seed: int = 0) -> str:
    """The command that makes the call."""
    faults = [part for fault in plan for part in ("--fault", fault)]
    seeded = ["--seed", str(seed)] if seed else []
    return shlex.join(["simrt", "call", client, cassette, *faults, *seeded])


def save(failure: Failure, folder: Path, limits: Mapping[str, float] = {}) -> Path:
    """Write a failure into `folder`, which is made; one of the same rule and client that is there is replaced.

    SimrtError: it cannot be written.
    """
    cassette = failure.cassette
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise SimrtError(f"nothing can be written to {folder}: {error.strerror}") from None
    if Path(cassette).exists():
        cassette = Path(os.path.relpath(cassette, folder)).as_posix()
    kept = Regression(
        failure.client,
        cassette,
        failure.plan,
        failure.seed,
        failure.code,
        failure.name,
        failure.message,
        failure.trace_sha256,
        dict(limits),
    )
    name = re.sub(r"[^\w.-]", ".", f"{failure.client}-{failure.code}")
    path = folder / f"{name}{SUFFIX}"
    try:
        path.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=2) + b"\n")
    except OSError as error:
        raise SimrtError(f"{path} cannot be written: {error.strerror}") from None
    return path


def load(path: Path) -> Regression:
    """Read one back. SimrtError: it is no such file, or of another format."""
    try:
        data = path.read_bytes()
        kept = msgspec.json.decode(data, type=Regression)
    except OSError as error:
        raise SimrtError(f"{path} cannot be read: {error.strerror}") from None
    except msgspec.DecodeError as error:
        raise SimrtError(f"{path} holds no regression of simrt explore: {error}") from None
    if kept.format != FORMAT:
        raise SimrtError(f"{path} has format {kept.format}, this simrt reads {FORMAT}: search again, or update simrt")
    return kept


def play(regression: Regression, folder: Path) -> str | None:
    """Make the call again: what the rule says of it, None when it has nothing to say any more.

    SimrtError: the call cannot be made as it was.
    """
    job = regression.job(folder)
    if regression.code in ("hung", "died"):  # it would take this process along
        with crew(workers=1) as one:
            outcome: Outcome = one.submit(job).result()
    else:
        outcome = run_job(job)
    if outcome.status in ("impossible", "broken"):
        raise SimrtError(f"{outcome.error}; the plan does not fit the cassette any more: search again")
    if regression.code not in outcome.codes:
        return None
    return said(outcome, regression.code)[1]
