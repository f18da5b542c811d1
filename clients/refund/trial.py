"""What `simrt measure` is told of a refund desk: what the ledger did, and what the caller heard."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .digits import names_card
from .ledger import Ledger
from .provider import Provider
from .reconcile import Heard, beyond_telling, mismatches, paid_twice, replies_of

if TYPE_CHECKING:
    from simrt import CallResult, Line

    from .refund_desk import RefundDesk

JITTER_S = 0.2
NOISE_MS = 500  # of a reply that nobody could make out
DAY_BEFORE = "2026-01-04T09:00:00+00:00"  # run_call's own day is the 5th


class RefundTrial:
    """One run of a desk with a ledger of its own, and a provider whose delay varies.

    The provider is down in the script that says so; whoever calls back tomorrow has called the day before.
    """

    def __init__(self, desk: "type[RefundDesk]", script: str, folder: Path) -> None:
        self.desk, self.script = desk, Path(script).name  # a cassette's folder is called after its script
        self.path = folder / "ledger.sqlite"
        self.provider = Provider(jitter_s=JITTER_S)
        self.provider.failing = self.script == "provider-down"
        self.invariants = [self.reconciled]
        self.before: list[Heard] = []

    async def client(self, line: "Line") -> None:
        """A desk that takes the call."""
        await self.desk(line, self.path, self.provider).run()

    def prepare(self, call: "Callable[..., CallResult]") -> None:
        """The call of the day before, where there was one."""
        if self.script == "calls-back-tomorrow":
            self.before = replies_of(call(self.client, "refund", start=DAY_BEFORE))

    def reconciled(self, result: "CallResult") -> list[str]:
        """What must hold after each call: the books, the money and what the caller heard agree."""
        rows, payments = Ledger(self.path).rows(), self.provider.payments
        if any(reply.sent_ms > NOISE_MS and not reply.heard_ms for reply in result.replies):
            return paid_twice(rows, payments)  # noise, in a format that was not agreed on: the desk cannot know
        heard = [*self.before, *replies_of(result)]
        return mismatches(rows, payments, heard, left=beyond_telling(result))

    def judge(self, result: "CallResult") -> dict[str, Any]:
        """The outcomes, by name."""
        rows, paid = Ledger(self.path).rows(), self.provider.paid
        told = [text for text, is_holding_line in replies_of(result) if not is_holding_line]
        return {
            "more than one call": sum(call.name == "issue_refund" for call in result.calls) > 1,
            "refunded twice": len(paid) > 1,
            "no refund": not paid,
            "never told": not any(names_card(text, row.card) for text in told for row in rows),
            "any mismatch": [broken.message for broken in result.broken],
        }
