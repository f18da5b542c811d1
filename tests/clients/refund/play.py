"""One script, one desk, one ledger: what came of the call, of the books and of the money."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from clients.refund import Ledger, Payment, Provider, RefundDesk, Row, ledger_table, mismatches
from simrt import CallResult, Line, run_call
from simrt.scripts import authored

TODAY = "2026-01-05T09:00:00+00:00"
TOMORROW = "2026-01-06T17:30:00+00:00"


class Play(NamedTuple):
    """A call, and what the ledger and the provider hold after it."""

    result: CallResult
    rows: list[Row]
    payments: list[Payment]

    @property
    def mismatches(self) -> list[str]:
        return mismatches(self.rows, self.payments, self.result)

    @property
    def paid(self) -> list[str]:
        """The cards that money went to and stayed on."""
        return [payment.card for payment in self.payments if not payment.reversed]

    @property
    def heard(self) -> str:
        return " ".join(reply.heard_text for reply in self.result.replies)

    @property
    def reviewed(self) -> tuple[CallResult, dict[str, Any]]:
        """For a snapshot: words and money side by side."""
        payments = [f"{p.refund_id} ${p.cents / 100:.2f} to {p.card}{' reversed' * p.reversed}" for p in self.payments]
        ledger = {"ledger": ledger_table(self.rows), "payments": payments, "mismatches": self.mismatches}
        return self.result, ledger


def play(
    folder: Path,
    script: str,
    desk: type[RefundDesk] = RefundDesk,
    faults: Sequence[str] = (),
    **options: Any,
) -> Play:
    """A call on the ledger in `folder`. The provider is down, and somebody has called before, where the script says
    so."""
    provider = Provider(book=folder / "book.jsonl")
    provider.failing = script == "provider-down"
    ledger = folder / "ledger.sqlite"

    async def client(line: Line) -> None:
        await desk(line, ledger, provider).run()

    if script == "calls-back-tomorrow":
        run_call(client, authored("refund"), start=TODAY)
        options = {"start": TOMORROW} | options
    result = run_call(client, authored(script), list(faults), **options)
    return Play(result, Ledger(ledger).rows(), list(provider.payments))
