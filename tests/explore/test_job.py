"""One job: what it says of calls that go well, badly, and not at all."""

import json
import pickle
from pathlib import Path

import msgspec
import pytest
from typer.testing import CliRunner

from simrt.call import run_call
from simrt.cli import app
from simrt.client_loader import load_client
from simrt.errors import SimrtError
from simrt.explore import Job, Outcome, run_job
from simrt.explore.figures import FIGURES

SHORT = "front-desk-short"
DRAIN = Job("clients.call:DrainCall", SHORT, ("stall:at=1500ms,for=500ms",))


def timeless(outcome: Outcome) -> Outcome:
    return msgspec.structs.replace(outcome, cpu_ms=0.0)


def module(home: Path, body: str, name: str) -> str:
    (home / f"{name}.py").write_text(body)
    return f"{name}:client"


def test_a_job_is_the_same_call_that_anyone_can_make() -> None:
    outcome = run_job(DRAIN)
    result = run_call(load_client(DRAIN.client), SHORT, DRAIN.plan)
    assert outcome.trace_sha256 == result.trace_sha256
    assert (outcome.virtual_ms, outcome.status) == (result.virtual_ms, "ended")
    assert outcome.figures["goodbye_heard_ms"] == result.replies[-1].heard_ms
    assert outcome.figures["replies_cut"] == 1
    assert outcome.verdict[0].startswith("unplayed: ")
    assert outcome.cpu_ms > 0


def test_every_figure_is_explained() -> None:
    assert set(run_job(DRAIN).figures) <= set(FIGURES)
    assert run_job(msgspec.structs.replace(DRAIN, plan=())).figures["goodbye_heard_percent"] == 100


def test_jobs_and_outcomes_travel_in_any_way() -> None:
    outcome = run_job(DRAIN)
    for thing in (DRAIN, outcome):
        assert pickle.loads(pickle.dumps(thing)) == thing
        assert msgspec.json.decode(msgspec.json.encode(thing), type=type(thing)) == thing


def test_the_seed_decides_what_is_drawn() -> None:
    jobs = [msgspec.structs.replace(DRAIN, plan=("spread",), seed=seed) for seed in (1, 1, 2)]
    first, again, other = (run_job(job).trace_sha256 for job in jobs)
    assert first == again != other


def test_a_client_with_a_store_gets_a_fresh_one_each_time() -> None:
    job = Job("clients.refund:RefundDesk", "refund")
    first, again = run_job(job), run_job(job)
    assert first.outcomes["refunded twice"] is False
    assert timeless(first) == timeless(again)


def test_a_fault_that_can_never_fire_is_no_failure() -> None:
    outcome = run_job(msgspec.structs.replace(DRAIN, plan=("stall:at=3600s",)))
    assert (outcome.status, outcome.failed, outcome.trace_sha256) == ("impossible", False, None)
    assert "can never fire" in str(outcome.error)


@pytest.mark.parametrize(
    ("status", "name", "body", "said"),
    [
        ("raised", "raising", "raise ValueError('no')", "the client raised ValueError: no"),
        ("raised", "absent", "pass", "without ever connecting"),
        ("raised", "leaving", "sys.exit(3)", "SystemExit(3)"),
        ("stuck", "waiting", "await asyncio.get_running_loop().create_future()", "never ended the call"),
        ("stuck", "spinning", "while True: await asyncio.sleep(0)", "never"),
    ],
)
def test_whatever_a_client_does_there_is_an_outcome(home: Path, status: str, name: str, body: str, said: str) -> None:
    body = f"import asyncio, sys\nasync def client(line):\n    {body}\n"
    outcome = run_job(Job(module(home, body, name), SHORT))
    assert (outcome.status, outcome.failed) == (status, True)
    assert said in str(outcome.error)
    assert outcome.figures["failed"] == 1


@pytest.mark.parametrize(
    ("job", "said"),
    [
        (Job("clients.call:Nobody", SHORT), "has no 'Nobody'"),
        (Job("clients.call:Call", "nonesuch"), "no shipped cassette of that name"),
        (Job("clients.call:Call", SHORT, ("stal",)), "did you mean 'stall'"),
        (Job("clients.call:Call", SHORT, select=("XYZ",)), "no rule's code begins with 'XYZ'"),
        (Job("clients.call:Call", SHORT, limits={"hold": 1.0}), "there are hold_ms, "),
    ],
)
def test_a_job_that_nobody_can_do_is_an_error(job: Job, said: str) -> None:
    with pytest.raises(SimrtError, match=said):
        run_job(job)


def test_simrt_call_makes_the_same_call() -> None:
    job = Job("clients.refund:RefundDesk", "wrong-card", ("spread",), seed=7)
    command = ["call", job.client, job.cassette, "--fault", *job.plan, "--seed", "7", "--json"]
    assert json.loads(CliRunner().invoke(app, command).stdout)["trace_sha256"] == run_job(job).trace_sha256
