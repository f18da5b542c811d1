"""Each wrong desk is wrong on the call that was made for it, by its books and ears; the right one is right on all."""

from pathlib import Path

import pytest

from clients.refund import (
    BeforeDesk,
    CallIdDesk,
    HoldingDesk,
    Ledger,
    PassiveDesk,
    Provider,
    RefundDesk,
    SentDesk,
    mismatches,
    replies_of,
)
from simrt import CallResult, run_call
from simrt.scripts import authored

BURST = ("burst:reply=1,within=300ms",)


def call(
    desk: type[RefundDesk], script: str, path: Path, faults: tuple[str, ...] = (), seed: int = 0
) -> tuple[Ledger, Provider, CallResult]:
    ledger, provider = Ledger(path / "ledger.sqlite"), Provider()
    result = run_call(lambda line: desk(line, ledger, provider), authored(script), faults, seed=seed)
    return ledger, provider, result


@pytest.mark.parametrize(
    ("desk", "script", "faults", "complaint"),
    [
        (BeforeDesk, "did-it-go-through", (), "never heard by the caller"),
        (CallIdDesk, "wrong-card", (), "refunded 2 times"),
        (CallIdDesk, "repeat-call", (), "refunded 2 times"),
        (PassiveDesk, "missed-confirmation", (), "never heard by the caller"),
        (HoldingDesk, "missed-confirmation", (), "the caller never heard it"),
        (SentDesk, "missed-confirmation", BURST, "the caller never heard it"),
    ],
)
def test_a_wrong_desk_does_not_reconcile(
    desk: type[RefundDesk], script: str, faults: tuple[str, ...], complaint: str, tmp_path: Path
) -> None:
    ledger, provider, result = call(desk, script, tmp_path, faults)
    assert complaint in "\n".join(mismatches(ledger.rows(), provider.payments, result))
    (tmp_path / "right").mkdir()
    ledger, provider, result = call(RefundDesk, script, tmp_path / "right", faults)
    assert mismatches(ledger.rows(), provider.payments, result) == []
    assert [row.told for row in ledger.rows()] == [True]


def test_holding_lines_are_known_by_their_calls(tmp_path: Path) -> None:
    _, _, result = call(RefundDesk, "wrong-card", tmp_path)
    assert [is_holding for _, is_holding in replies_of(result)] == [True, True, False, False]
    assert replies_of(result)[2][0] == "Done. The $32 now goes to your Mastercard ending in 8812 instead."


def test_a_caller_who_left_is_for_a_message_and_no_mismatch(tmp_path: Path) -> None:
    ledger, provider, result = call(RefundDesk, "hangs-up-untold", tmp_path)
    assert [row.order for row in ledger.untold()] == ["4417"]
    assert mismatches(ledger.rows(), provider.payments, result) == []


def test_the_same_seed_is_the_same_call_and_the_same_rows(tmp_path: Path) -> None:
    calls = []
    for number in range(2):
        (tmp_path / str(number)).mkdir()
        ledger, provider, result = call(
            RefundDesk, "did-it-go-through", tmp_path / str(number), ("latency:jitter=40ms",), 7
        )
        calls.append((result.trace_sha256, ledger.rows(), provider.payments, result.log))
    assert calls[0] == calls[1]
