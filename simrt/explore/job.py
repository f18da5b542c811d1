"""One call as a job: what to call with which faults, all of it text, so that any process can run it; and what came of
it."""

from time import process_time
from typing import Literal

import msgspec

from simrt.call import describe_error
from simrt.client_loader import load_client
from simrt.errors import PlanError
from simrt.explore.figures import figures_of
from simrt.faults.plan import check_plan, parse_plan
from simrt.replay.build import score_of
from simrt.trial import staged

Status = Literal["ended", "failed", "impossible", "hung", "died", "broken"]


class Job(msgspec.Struct, frozen=True):
    """One call to make and to judge.

    `client`: "module:Name". `cassette`: a folder, or the name of a shipped one. `plan`: faults in their compact form.
    `select` and `ignore`: rules by code or prefix. `limits`: those of simrt.checks.Limits that are not the default.
    """

    client: str
    cassette: str
    plan: tuple[str, ...] = ()
    seed: int = 0
    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    limits: dict[str, float] = {}


class Outcome(msgspec.Struct, frozen=True):
    """What came of a job.

    `status`: the call "ended" as a call should; it "failed" (the client raised, never connected, never hung up, waits
    for ever); a fault of the plan is "impossible", since it can never fire on that cassette, and no call was made; the
    client "hung" in a loop that gives nothing else a turn; the process "died" of it, time and again; or simrt itself is
    "broken". `error` says more of each but the first. `verdict`: its lines (simrt.replay.session). `outcomes`: what the
    client's trial says (simrt.trial). `cpu_ms`: processor time, the one field that is not the same each time.
    `figures`: by the names of simrt.explore.figures.
    """

    status: Status
    error: str | None = None
    trace_sha256: str | None = None
    verdict: tuple[str, ...] = ()
    outcomes: dict[str, object] = {}
    virtual_ms: float = 0.0
    cpu_ms: float = 0.0
    figures: dict[str, float] = {}

    @property
    def failed(self) -> bool:
        """Whether the client did something wrong."""
        return self.status not in ("ended", "impossible")


def run_job(job: Job) -> Outcome:
    """Make the call and judge it, in this process. Whatever the client does, there is an outcome; but one that never
    gives control back is only stopped from outside (simrt.explore.crew).

    SimrtError: there is no such client or cassette, or a fault is misspelt.
    """
    client = load_client(job.client)
    score = score_of(job.cassette)
    plan = parse_plan(job.plan)
    try:
        check_plan(plan, score)
    except PlanError as error:
        return Outcome("impossible", str(error))
    begin = process_time()
    try:
        with staged(client, job.cassette, plan, seed=job.seed) as call:
            result = call.result
            status: Status = "ended" if call.error is None else "failed"
            if result is None:
                return _finished(Outcome(status, call.error, cpu_ms=1000 * (process_time() - begin)))
            made = Outcome(
                status,
                call.error,
                result.trace_sha256,
                tuple(str(result.verdict).splitlines()) if not result.verdict.clean else (),
                call.outcomes() or {},
                result.virtual_ms,
                figures=figures_of(result),
            )
    except Exception as error:
        made = Outcome("broken", f"simrt itself failed: {describe_error(error)}")
    return _finished(msgspec.structs.replace(made, cpu_ms=1000 * (process_time() - begin)))


def lost(status: Status, error: str) -> Outcome:
    """The outcome of a job whose process could not give one."""
    return _finished(Outcome(status, error))


def _finished(outcome: Outcome) -> Outcome:
    figures = {**outcome.figures, "failed": float(outcome.failed)}
    return msgspec.structs.replace(outcome, figures=figures)
