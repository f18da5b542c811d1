"""The refund desk on the cassettes that were recorded of it: the same outcomes as on the scripts."""

from pathlib import Path
from typing import Any

import pytest

from clients.refund import Ledger, RefundDesk, mismatches
from clients.refund.trial import RefundTrial
from simrt import CallResult, run_call, shipped
from simrt.cassette.store import load_cached
from simrt.cues import says_of
from simrt.replay.build import score_of
from simrt.replay.fidelity import check_fidelity
from simrt.scripts import authored
from simrt.scripts.refund import REFUND


@pytest.mark.parametrize("name", REFUND)
def test_the_recording_comes_back_frame_by_frame(name: str) -> None:
    fidelity = check_fidelity(load_cached(shipped.cassette(name)), name)
    assert fidelity.ok, fidelity.difference
    assert fidelity.frames > 40


@pytest.mark.parametrize("name", REFUND)
def test_the_desk_does_on_the_recording_what_it_does_on_the_script(name: str, tmp_path: Path) -> None:
    # what the server took no notice of is not on the recording, so the script's caller speaks
    says = [say for _, say in says_of(score_of(authored(name)))]
    trial = RefundTrial(RefundDesk, name, tmp_path)
    trial.provider.jitter_s = 0.0

    def before(client: Any, script: str, **options: Any) -> CallResult:
        return run_call(client, authored(script), **options)

    trial.prepare(before)
    result = run_call(trial.client, shipped.cassette(name), says=says)
    rows = Ledger(trial.path).rows()
    assert len(rows) == 1
    assert mismatches(rows, trial.provider.payments, result) == []
    assert len(trial.provider.paid) == (0 if name == "provider-down" else 1)
    assert result.verdict.unsaid == []
