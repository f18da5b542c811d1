"""One call as a job: what to call with which faults, all of it text, so that any process can run it; and what came of
it."""

from time import process_time
from typing import Literal

import msgspec

from simrt.call import describe_error
from simrt.checks import Case, Finding, Limits, chosen, find_rule, judge
from simrt.client_loader import load_client
from simrt.errors import PlanError, SimrtError
from simrt.explore.figures import figures_of
from simrt.explore.space import rank, worst_of
from simrt.faults.draw import Harm
from simrt.faults.plan import check_plan, parse_plan
from simrt.replay.build import score_of
from simrt.trial import Staged, staged

CRASHED = "END409"

Status = Literal["ended", "raised", "stuck", "impossible", "hung", "died", "broken"]


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

    `status`: the call "ended" as a call should; the client "raised", or never connected; it is "stuck": it never hung
    up, or waits for what never comes; a fault of the plan is "impossible", since it can never fire on that cassette,
    and no call was made; the client "hung" in a loop that gives nothing else a turn; the process "died" of it, time and
    again; or simrt itself is "broken". `error` says more of each but the first.

    `findings`: what the rules found, but for those that blame nobody where the plan does as much `harm` as this one.
    `verdict`: its lines (simrt.replay.session). `outcomes`: what the client's trial says (simrt.trial). `figures`: by
    the names of simrt.explore.figures. `cpu_ms`: processor time, the one field that is not the same each time.
    """

    status: Status
    error: str | None = None
    findings: tuple[Finding, ...] = ()
    trace_sha256: str | None = None
    verdict: tuple[str, ...] = ()
    outcomes: dict[str, object] = {}
    harm: Harm = "legal"
    virtual_ms: float = 0.0
    cpu_ms: float = 0.0
    figures: dict[str, float] = {}

    @property
    def codes(self) -> tuple[str, ...]:
        """What the client did wrong, each once: the codes of the findings that are no notes, sorted, and the status
        where that is a failure.

        A client that raises is right to where the plan is fatal; elsewhere it fails, if only by that. Whether one that
        was stuck in a call should have ended it is for the rules to say.
        """
        found = sorted({finding.code for finding in self.findings if finding.severity == "error"})
        right = {"ended", "impossible"}
        if self.harm == "fatal" or CRASHED in found:
            right.add("raised")
        if self.trace_sha256 is not None:
            right.add("stuck")
        return (*found, *([] if self.status in right else [self.status]))

    @property
    def failed(self) -> bool:
        """Whether the client did something wrong."""
        return bool(self.codes)


def run_job(job: Job) -> Outcome:
    """Make the call and judge it, in this process. Whatever the client does, there is an outcome; but one that never
    gives control back is only stopped from outside (simrt.explore.processes).

    SimrtError: there is no such client, cassette, rule or limit, or a fault is misspelt.
    """
    client = load_client(job.client)
    score = score_of(job.cassette)
    plan = parse_plan(job.plan)
    limits = limits_of(job)
    chosen(job.select, job.ignore)
    try:
        check_plan(plan, score)
    except PlanError as error:
        return Outcome("impossible", str(error))
    begin = process_time()
    try:
        with staged(client, job.cassette, plan, seed=job.seed) as call:
            made = _judged(job, call, worst_of(plan), limits)
    except Exception as error:
        made = Outcome("broken", f"simrt itself failed: {describe_error(error)}")
    return _finished(msgspec.structs.replace(made, cpu_ms=1000 * (process_time() - begin)))


def limits_of(job: Job) -> Limits:
    """The limits that a job's call is judged by. SimrtError: there is no such limit."""
    try:
        return msgspec.convert(job.limits, Limits)
    except msgspec.ValidationError as error:
        names = ", ".join(Limits.__struct_fields__)
        raise SimrtError(f"limits: {error}; there are {names}") from None


def _judged(job: Job, call: Staged, harm: Harm, limits: Limits) -> Outcome:
    result = call.result
    if result is None:
        return Outcome("stuck", call.error, harm=harm)
    status: Status = "ended"
    if call.error is not None:
        status = "stuck" if result.closed_by == "cap" else "raised"
    findings = judge(Case.of_result(result, limits), job.select, job.ignore)
    return Outcome(
        status,
        call.error,
        tuple(found for found in findings if rank(find_rule(found.code).harm) >= rank(harm)),
        result.trace_sha256,
        () if result.verdict.clean else tuple(str(result.verdict).splitlines()),
        call.outcomes() or {},
        harm,
        result.virtual_ms,
        figures=figures_of(result),
    )


def lost(status: Status, error: str) -> Outcome:
    """The outcome of a job whose process could not give one."""
    return _finished(Outcome(status, error))


def _finished(outcome: Outcome) -> Outcome:
    errors = sum(finding.severity == "error" for finding in outcome.findings)
    figures = {**outcome.figures, "findings": float(errors), "failed": float(outcome.failed)}
    return msgspec.structs.replace(outcome, figures=figures)
