"""The search for what breaks a client: first the cassettes as they are, then one fault at an interesting moment, then
some faults together; and for each way in which the client fails, the shortest plan that shows it.

Run k is the same call whatever the number of runs, of workers and the time: plans are drawn by seed and number, and a
plan's call is the same everywhere. So the same seed has the same findings.
"""

import math
import random
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from itertools import count

import msgspec

from simrt.checks import find_rule
from simrt.explore.executors import Crew
from simrt.explore.job import Job, Outcome
from simrt.explore.shrink import Plan, Shrinker, faults_of
from simrt.explore.space import Space, rank, space_of, worst_of
from simrt.faults.base import Fault
from simrt.faults.draw import Harm

ROUNDS = 2
"""How often each class of faults has its turn alone, before faults come together as well."""


class Run(msgspec.Struct, frozen=True):
    """One call of the search: `job`, and the faults of its plan as they were drawn."""

    job: Job
    space: Space
    plan: Plan = ()


class Failure(msgspec.Struct, frozen=True):
    """One way in which the client fails: the rule `code` (or the status of the outcome), what it says of the call with
    the shortest plan, and what makes that call: `client`, `cassette`, `plan`, `seed`.

    `found_in`: the first run that showed it, counted from 1; `runs`: how many did; `calls`: made to shrink the plan.
    `same`: whether the call with that plan was the same twice; if not, the client depends on more than the call.
    """

    code: str
    name: str
    message: str
    client: str
    cassette: str
    plan: tuple[str, ...]
    seed: int
    trace_sha256: str | None
    harm: Harm
    found_in: int
    runs: int
    calls: int
    same: bool = True


class Search(msgspec.Struct):
    """What a search came to. `runs`: calls that were made, the shrinking left out; `statuses`: how they ended."""

    client: str
    cassettes: tuple[str, ...]
    seed: int
    runs: int = 0
    failures: list[Failure] = []
    statuses: dict[str, int] = {}
    interrupted: bool = False


def runs_of(job: Job, cassettes: Sequence[str], seed: int) -> Iterator[Run]:
    """All runs of a search, without end; the cassettes take turns. `job` is the pattern for each."""
    turns = []
    for number, name in enumerate(cassettes):
        space = space_of(name)
        start = number * len(space.kinds) // len(cassettes)
        turns.append(_runs_on(msgspec.structs.replace(job, cassette=name, seed=seed), space, start, seed))
    while turns:
        yield from (next(turn) for turn in turns)


def _runs_on(job: Job, space: Space, start: int, seed: int) -> Iterator[Run]:
    yield Run(job, space)
    singles = space.singles(start)
    alone = ROUNDS * len(space.kinds)
    for number in count():
        if number < alone or number % 2:
            single = next(singles, None)
            if single is not None:
                yield _with(job, space, (single,), seed)
                continue
        plan = space.swarm(random.Random(f"{seed}:{job.cassette}:{number}"))
        yield _with(job, space, plan, seed + number)


def _with(job: Job, space: Space, plan: Plan, seed: int) -> Run:
    return Run(msgspec.structs.replace(job, plan=_texts(faults_of(plan)), seed=seed), space, plan)


def _texts(faults: Sequence[Fault]) -> tuple[str, ...]:
    return tuple(str(fault) for fault in faults)


def explore(
    job: Job,
    cassettes: Sequence[str],
    crew: Crew,
    *,
    runs: int | None = 200,
    seed: int = 0,
    time_s: float | None = None,
    until: Callable[[Outcome], bool] = lambda outcome: False,
    on_run: Callable[[int, Outcome], None] = lambda number, outcome: None,
    on_failure: Callable[[Failure], None] = lambda failure: None,
) -> Search:
    """Make `runs` calls of `job.client` on the cassettes, as many as begin within `time_s` seconds of real time, and
    shrink what fails.

    `job` says the client, the rules and the limits. The first run of which `until` is true is the last. `on_run` and
    `on_failure` are told as things are done. A Ctrl-C while the calls are made ends that; what was found is shrunk all
    the same. SimrtError: no such client or cassette.
    """
    found = Search(job.client, tuple(cassettes), seed)
    made: dict[int, Run] = {}
    ended: dict[int, tuple[str, tuple[str, ...]]] = {}  # status and codes
    end = None if time_s is None else time.monotonic() + time_s
    last = math.inf if runs is None else runs - 1

    def jobs() -> Iterator[Job]:
        for number, run in enumerate(runs_of(job, cassettes, seed)):
            if number > last or (end is not None and time.monotonic() >= end):
                return
            made[number] = run
            yield run.job

    try:
        for number, outcome in crew.run(jobs()):
            ended[number] = outcome.status, outcome.codes
            on_run(number, outcome)
            if until(outcome):
                last = min(last, number)
    except KeyboardInterrupt:
        found.interrupted = True
    ended = {number: what for number, what in ended.items() if number <= last}  # whoever was quicker than it
    found.runs = len(ended)
    seen: dict[str, list[int]] = {}
    for number, (status, codes) in sorted(ended.items()):
        found.statuses[status] = found.statuses.get(status, 0) + 1
        for code in codes:
            seen.setdefault(code, []).append(number)

    def shortest(code: str) -> Failure:
        numbers = seen[code]
        run = made[min(numbers, key=lambda number: (*_size(made[number].plan), number))]
        failure = _shrunk(crew, code, run, numbers[0] + 1, len(numbers))
        on_failure(failure)
        return failure

    with ThreadPoolExecutor(max(1, crew.workers)) as pool:
        found.failures = list(pool.map(shortest, sorted(seen)))
    return found


def _size(plan: Plan) -> tuple[int, int]:
    return len(plan), rank(worst_of(faults_of(plan)))


def _shrunk(crew: Crew, code: str, run: Run, found_in: int, runs: int) -> Failure:
    """The failure that `run` shows, with the shortest plan for it."""
    calls = 0

    def outcome_of(job: Job) -> Outcome:
        nonlocal calls
        calls += 1
        return crew.submit(job).result()

    def fails(faults: tuple[Fault, ...]) -> bool:
        return code in outcome_of(msgspec.structs.replace(run.job, plan=_texts(faults))).codes

    plan = Shrinker(run.space, fails).shrink(run.plan)
    job = msgspec.structs.replace(run.job, plan=_texts(faults_of(plan)))
    if job.seed and code in outcome_of(plain := msgspec.structs.replace(job, seed=0)).codes:
        job = plain
    outcome, again = outcome_of(job), outcome_of(job)
    name, message = said(outcome, code)
    return Failure(
        code,
        name,
        message,
        job.client,
        job.cassette,
        job.plan,
        job.seed,
        outcome.trace_sha256,
        worst_of(faults_of(plan)),
        found_in,
        runs,
        calls,
        outcome.trace_sha256 == again.trace_sha256 and code in outcome.codes,
    )


def said(outcome: Outcome, code: str) -> tuple[str, str]:
    """The name of a rule (or a status), and what it says of a call; "" if nothing."""
    for finding in outcome.findings:
        if finding.code == code and finding.severity == "error":
            return finding.name, f"{finding.t_ms / 1000:.2f} s: {finding.message}"
    if outcome.status == code:
        return f"the client {code}", outcome.error or ""
    return find_rule(code).name if code.isupper() else code, ""
