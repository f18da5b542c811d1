"""Many runs of one script: what is counted of each, and that a run is the same one anywhere."""

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from clients.call import Call, NaiveCall
from clients.refund import BeforeDesk, RefundDesk
from simrt import CallResult, Line
from simrt.client_loader import load_client
from simrt.measure import Run, measure, one_run, script_score, tally

SHORT = "front-desk-short"


def runs_of(client: Any, scripts: Sequence[str], runs: int, **options: Any) -> list[Run]:
    return list(measure(lambda: client, scripts, runs, **options))


def test_a_client_without_a_hook_is_counted_by_what_any_call_shows() -> None:
    run = one_run(NaiveCall, SHORT, 1)
    assert run.error is None
    assert run.outcomes["words lost"]
    assert run.outcomes["last reply cut off"]
    assert run.outcomes["not as scripted"][0].startswith("unplayed: ")
    assert (run.calls, run.in_history) == (2, 2)


def test_the_right_client_has_nothing_to_count() -> None:
    assert not any(one_run(Call, SHORT, 1).outcomes.values())


def test_a_hook_is_asked_for_each_run_with_an_empty_folder_and_may_call_before() -> None:
    seen: list[Any] = []

    class Trial:
        def __init__(self, script: str, folder: Path) -> None:
            seen.append((script, list(folder.iterdir()), folder))

        async def client(self, line: Line) -> None:
            await Call(line).run()

        def prepare(self, call: Any) -> None:
            seen.append(call(self.client, SHORT, start="2026-01-04T09:00:00+00:00").closed_by)

        def judge(self, result: CallResult) -> dict[str, Any]:
            return {"good": result.verdict.clean, "bad": ("never",) if not result.verdict.clean else ()}

    class Client:
        trial = Trial

    runs = runs_of(Client, [SHORT], 2)
    assert [run.outcomes for run in runs] == [{"good": True, "bad": []}] * 2
    assert [entry[:2] if isinstance(entry, tuple) else entry for entry in seen] == [(SHORT, []), "client"] * 2
    assert not any(entry[2].exists() for entry in seen if isinstance(entry, tuple))


def test_a_trial_has_invariants_of_its_store() -> None:
    class Trial:
        def __init__(self, script: str, folder: Path) -> None:
            self.invariants = [lambda result: ["paid twice"]]

        async def client(self, line: Line) -> None:
            await Call(line).run()

        def judge(self, result: CallResult) -> dict[str, Any]:
            return {"broken": [broken.message for broken in result.broken]}

    class Client:
        trial = Trial

    assert [run.outcomes for run in runs_of(Client, [SHORT], 1)] == [{"broken": ["paid twice"]}]


def test_runs_differ_by_their_seeds_and_repeat_by_them() -> None:
    first, again = (runs_of(RefundDesk, ["missed-confirmation"], 3, seed=5) for _ in range(2))
    assert [run.seed for run in first] == [5, 6, 7]
    assert first == again
    assert len({run.cut_ms[0] for run in first}) == 3


def test_processes_find_what_one_finds() -> None:
    alone = runs_of(BeforeDesk, ["did-it-go-through", "tv"], 2)
    load = partial(load_client, "clients.refund:BeforeDesk")
    shared = list(measure(load, ["did-it-go-through", "tv"], 2, workers=2))
    assert sorted(shared, key=lambda run: (run.script, run.seed)) == alone
    assert [bool(run.outcomes["any mismatch"]) for run in alone] == [True, True, False, False]


def test_a_cut_is_measured_from_the_callers_first_sound() -> None:
    runs = runs_of(RefundDesk, ["wrong-card"], 3)
    assert all(740 <= ms <= 790 for run in runs for ms in run.cut_ms)
    assert [len(run.cut_ms) for run in runs] == [1, 1, 1]


def test_a_client_that_raises_is_a_failed_run_and_the_others_go_on() -> None:
    calls = iter(range(3))

    async def client(line: Line) -> None:
        if next(calls) == 1:
            raise ValueError("the second time")
        await Call(line).run()

    runs = runs_of(client, [SHORT], 3)
    assert [bool(run.error) for run in runs] == [False, True, False]
    assert "the second time" in str(runs[1].error)


def test_a_client_that_ends_the_program_does_not_end_the_others() -> None:
    async def client(line: Line) -> None:
        raise SystemExit(3)

    (run,) = runs_of(client, [SHORT], 1)
    assert "SystemExit(3)" in str(run.error)


def test_faults_come_on_top_of_the_jitter() -> None:
    assert one_run(RefundDesk, "missed-confirmation", 0).cut_ms
    assert one_run(RefundDesk, "missed-confirmation", 0, ["burst:reply=1"]).cut_ms == []  # nothing is active any more


def test_a_tally_counts_and_keeps_the_reasons() -> None:
    runs = [
        Run("tv", 0, None, {"late": False, "wrong": []}, [750.0], 2, 2),
        Run("tv", 1, None, {"late": True, "wrong": ["this", "that"]}, [770.0, 790.0], 2, 1),
        Run("tv", 2, "it broke"),
    ]
    made = tally("tv", runs)
    assert (made.runs, made.failed, made.outcomes) == (3, 1, {"late": 1, "wrong": 1})
    assert made.cut_ms == (770, 750, 790)
    assert (made.calls, made.in_history) == (4, 3)
    assert made.reasons == [("tv", 1, "wrong: this"), ("tv", 1, "wrong: that"), ("tv", 2, "it broke")]
    assert tally("tv", []).cut_ms is None


@pytest.mark.parametrize("script", ["tv", "front-desk"])
def test_a_score_is_made_once(script: str) -> None:
    assert script_score(script) is script_score(script)
