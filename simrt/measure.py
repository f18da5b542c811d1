"""Many seeded runs of a client on some scripts, counted: how often does what go wrong?

A run is one call with the `spread` fault, so that its times vary as live ones do; seed and script give the same run
again, in any process. A client that acts on the world says what it did (simrt.trial); of any other, what can be seen of
any call is counted.
"""

import gc
import multiprocessing
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from concurrent.futures.process import BrokenProcessPool
from functools import cache
from statistics import median
from typing import Any

import msgspec

from simrt.cassette.store import load_cached
from simrt.errors import SimrtError
from simrt.faults.base import Fault
from simrt.faults.spread import Spread
from simrt.replay.build import score_of
from simrt.replay.score import Score
from simrt.result import CallResult
from simrt.scripts import SCRIPTS, authored
from simrt.trial import staged

_CHUNK = 10  # runs that a worker makes before it reports


class Run(msgspec.Struct):
    """One run. `cut_ms`: from the caller's first sound to the end of each reply that it cut off; `in_history` of the
    `calls` that the model made were still in the server's history at the end."""

    script: str
    seed: int
    error: str | None = None
    outcomes: dict[str, Any] = {}
    cut_ms: list[float] = []
    calls: int = 0
    in_history: int = 0


class Tally(msgspec.Struct):
    """Runs, counted. `outcomes`: in how many runs each came about. `cut_ms`: (median, min, max), None: nothing was
    cut off. `reasons`: (seed, what) of the runs that failed, or whose outcome says more."""

    script: str
    runs: int
    failed: int
    outcomes: dict[str, int]
    cut_ms: tuple[float, float, float] | None
    calls: int
    in_history: int
    reasons: list[tuple[str, int, str]]


def tally(script: str, runs: Sequence[Run]) -> Tally:
    """Count the runs."""
    outcomes: dict[str, int] = {}
    reasons = []
    for run in runs:
        for name, value in run.outcomes.items():
            outcomes[name] = outcomes.get(name, 0) + bool(value)
            texts = [value] if isinstance(value, str) else value if isinstance(value, list) else []
            reasons += [(run.script, run.seed, f"{name}: {text}") for text in texts if text]
        if run.error is not None:
            reasons.append((run.script, run.seed, run.error))
    cuts = [ms for run in runs for ms in run.cut_ms]
    return Tally(
        script,
        len(runs),
        sum(run.error is not None for run in runs),
        outcomes,
        (median(cuts), min(cuts), max(cuts)) if cuts else None,
        sum(run.calls for run in runs),
        sum(run.in_history for run in runs),
        reasons,
    )


@cache
def script_score(name: str) -> Score:
    """The score of an authored script of that name, or of the cassette at that path; made once a process."""
    return score_of(authored(name) if name in SCRIPTS else load_cached(name))


def one_run(client: Any, script: str, seed: int, faults: Sequence[Fault | str] = ()) -> Run:
    """One run, with `faults` beside the jitter. Whatever the client does, there is a result: an error is part of it."""
    plan = [Spread(), *faults]
    run = Run(script, seed)
    with staged(client, script, plan, seed=seed, before=plan, find=script_score) as call:
        run.error = call.error
        if call.result is not None:
            run.outcomes = _plain(call.outcomes() or {}) if call.trial is not None else _seen(call.result)
            run.cut_ms = cut_latencies(call.result, script_score(script))
            run.calls = len(call.result.calls)
            run.in_history = sum(made.in_history for made in call.result.calls)
    return run


def _plain(outcomes: Mapping[str, Any]) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, list | tuple) else value for name, value in outcomes.items()}


def _seen(result: CallResult) -> dict[str, Any]:
    """What can be said of any call."""
    return {
        "words lost": any(turn.words_lost for turn in result.caller_turns),
        "last reply cut off": bool(result.replies) and result.replies[-1].cut_off,
        "not as scripted": [] if result.verdict.clean else [str(result.verdict).replace("\n", "; ")],
    }


def cut_latencies(result: CallResult, score: Score) -> list[float]:
    """For each reply that the caller cut off: ms from the first sound of what they said to its `response.done`."""
    turns = {turn.clip: turn for turn in score.turns}
    spoke = []
    for said in result.utterances:
        turn = turns.get(said.clip.name)
        if turn is None or turn.hearing == "turn":
            spoke.append(said.started_us + (turn.onset_us if turn else 0))
    cuts = []
    for opened_ms, trace in zip(result.opened_ms, result.traces, strict=True):
        for frame in trace.frames:
            if frame.sender != "server" or '"turn_detected"' not in str(frame.payload):
                continue
            ended_us = round(opened_ms * 1000) + frame.t_us
            if before := [t_us for t_us in spoke if t_us <= ended_us]:
                cuts.append((ended_us - max(before)) / 1000)
    return cuts


def measure(
    load: Callable[[], Any],
    scripts: Sequence[str],
    runs: int,
    *,
    seed: int = 0,
    faults: Sequence[Fault | str] = (),
    workers: int = 1,
) -> Iterator[Run]:
    """Run each script `runs` times, with the seeds from `seed` on; yields the runs as they are done, in any order.

    `load` makes the client, in each of the `workers` processes (with one: in this one); so it must be picklable.
    SimrtError: a process has died.
    """
    chunks = [
        (script, list(range(first, min(first + _CHUNK, seed + runs))))
        for script in scripts
        for first in range(seed, seed + runs, _CHUNK)
    ]
    if workers <= 1:
        client = load()
        for script, seeds in chunks:
            for number in seeds:
                yield one_run(client, script, number, faults)
    else:
        yield from _in_processes(load, chunks, faults, min(workers, len(chunks)))


def _in_processes(
    load: Callable[[], Any], chunks: Sequence[tuple[str, list[int]]], faults: Sequence[Fault | str], workers: int
) -> Iterator[Run]:
    context = multiprocessing.get_context("spawn")  # a fork would take the parent's threads and clocks along
    pool = ProcessPoolExecutor(workers, mp_context=context, initializer=_begin)
    try:
        left: set[Future[list[Run]]] = {pool.submit(_chunk, load, script, seeds, faults) for script, seeds in chunks}
        while left:
            finished, left = wait(left, return_when=FIRST_COMPLETED)
            for future in finished:
                yield from future.result()
    except BrokenProcessPool:
        raise SimrtError("a process that made calls has died (killed, or out of memory): try fewer --workers") from None
    finally:
        pool.shutdown(cancel_futures=True)


def _begin() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    sys.stdout = sys.stderr  # the parent's output is not for what a client prints


_client: Any = None


def _chunk(load: Callable[[], Any], script: str, seeds: Sequence[int], faults: Sequence[Fault | str]) -> list[Run]:
    """Some runs in a worker, which makes the client once."""
    global _client
    if _client is None:
        _client = load()
    gc.disable()  # a tenth of the time; what the few runs of a chunk leave in cycles is little
    try:
        return [one_run(_client, script, seed, faults) for seed in seeds]
    finally:
        gc.enable()
        gc.collect()
