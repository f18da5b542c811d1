"""How many calls a search makes: per second, in virtual hours per hour of processor time, and with two workers beside
one.

The calls are the first ones that `simrt explore` makes of two of the shipped clients. One and two workers take turns,
so that a noisy machine is noisy for both; the best rounds count. Processes are started, and cassettes loaded, before
the clock is.
"""

import argparse
import json
import os
import resource
import time
from itertools import islice
from typing import Any

from simrt.explore.executors import LocalCrew
from simrt.explore.explore import runs_of
from simrt.explore.job import Job, Outcome

CLIENTS = {
    "clients.call:Call": ("front-desk", "front-desk-short", "talk-over"),
    "clients.refund:RefundDesk": ("refund", "wrong-card", "missed-confirmation"),
}
CALLS = 60
ROUNDS = 3


def jobs(calls: int) -> list[Job]:
    """So many jobs of each client."""
    found = []
    for client, cassettes in CLIENTS.items():
        runs = runs_of(Job(client, cassettes[0]), cassettes, 0)
        found += [run.job for run in islice(runs, calls)]
    return found


def warm_up(crew: LocalCrew) -> None:
    """Have each process load all cassettes: it gets more jobs than it can hand on."""
    plain = [Job(client, name) for client, names in CLIENTS.items() for name in names]
    crew.run_all(plain * 2 * crew.workers)


def one_round(crew: LocalCrew, work: list[Job]) -> tuple[float, float, list[Outcome]]:
    """Seconds of real time, seconds of this process's own processor time, and what came of the calls."""
    begin, own = time.perf_counter(), time.process_time()
    outcomes = crew.run_all(work)
    return time.perf_counter() - begin, time.process_time() - own, outcomes


def measure(calls: int = CALLS, rounds: int = ROUNDS) -> dict[str, Any]:
    """The report."""
    work = jobs(calls)
    load = os.getloadavg()[0]
    took: dict[int, list[float]] = {1: [], 2: []}
    own: list[float] = []
    found: dict[int, list[str | None]] = {}
    last: list[Outcome] = []
    with LocalCrew(1) as one, LocalCrew(2) as two:
        for crew in (one, two):
            warm_up(crew)
        for _ in range(rounds):
            for crew in (one, two):
                seconds, parent, last = one_round(crew, work)
                took[crew.workers].append(seconds)
                own.append(parent)
                found[crew.workers] = [outcome.trace_sha256 for outcome in last]
    if found[1] != found[2]:
        raise SystemExit("the benchmark went wrong: two workers made other calls than one")
    virtual_s = sum(outcome.virtual_ms for outcome in last) / 1000
    cpu_s = sum(outcome.cpu_ms for outcome in last) / 1000
    return {
        "calls": len(work),
        "rounds": rounds,
        "cores": os.cpu_count(),
        "load_before": round(load, 2),
        "calls_per_second": {str(workers): round(len(work) / min(times), 1) for workers, times in took.items()},
        "two_workers_over_one": round(min(took[1]) / min(took[2]), 2),
        "virtual_hours_per_cpu_hour": round(virtual_s / (cpu_s + min(own)), 1),
        "virtual_seconds_per_call": round(virtual_s / len(work), 1),
        "cpu_ms_per_call": round(1000 * cpu_s / len(work), 1),
        "dispatch_ms_per_call": round(1000 * min(own) / len(work), 2),
        "largest_process_mb": round(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024),
        "statuses": {status: sum(o.status == status for o in last) for status in sorted({o.status for o in last})},
    }


def main(arguments: list[str]) -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=CALLS, help="of each client")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", action="store_true", help="one JSON object")
    options = parser.parse_args(arguments)
    report = measure(options.calls, options.rounds)
    if options.json:
        print(json.dumps(report))
    else:
        for name, value in report.items():
            print(f"{name:28} {value}")
    return 0
