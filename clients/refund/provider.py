"""A stand-in for the payment provider: slow, sometimes down, and careful with what it has been sent before."""

import asyncio
import json
import random
from dataclasses import asdict, dataclass
from pathlib import Path

DELAY_S = 4.0


class ProviderError(Exception):
    """The provider has not confirmed the payment."""


class Cancelled(ProviderError):
    """The submission was cancelled while it was under way; nothing was paid."""


class KeyReused(ProviderError):
    """The idempotency key was used before, with other parameters."""


@dataclass
class Payment:
    """Money that went to a card, and came back if `reversed`."""

    key: str
    refund_id: str
    card: str
    cents: int
    reversed: bool = False


def key_of(refund_id: str, card: str) -> str:
    """The idempotency key of a refund to a card."""
    return f"{refund_id}:{card}"


class Provider:
    """Pays refunds, `delay_s` after they are submitted (more or less up to `jitter_s`, at random).

    A key that was used before gets the answer that it got then, however often and by whomever it is sent: also while
    the first submission is under way. `failing`: nothing is confirmed, and nothing paid. `payments` are all that were
    made. `book`: a file that they are kept in, for desks that are started anew.
    """

    def __init__(self, delay_s: float = DELAY_S, *, jitter_s: float = 0.0, book: str | Path | None = None) -> None:
        self.delay_s = delay_s
        self.jitter_s = jitter_s
        self.failing = False
        self.payments: list[Payment] = []
        self._under_way: dict[str, tuple[Payment, asyncio.Task[None]]] = {}
        self._book = None if book is None else Path(book)
        if self._book is not None and self._book.exists():
            entries = [Payment(**json.loads(line)) for line in self._book.read_text().splitlines()]
            self.payments = list({entry.key: entry for entry in entries}.values())

    @property
    def paid(self) -> list[Payment]:
        """The payments that were not reversed."""
        return [payment for payment in self.payments if not payment.reversed]

    async def submit(self, refund_id: str, card: str, cents: int, *, key: str | None = None) -> Payment:
        """Pay; returns when it has been confirmed. Raises ProviderError when it has not."""
        wanted = Payment(key or key_of(refund_id, card), refund_id, card, cents)
        known, task = self._under_way.get(wanted.key, (self._answered(wanted.key), None))
        if known is not None and known != wanted:
            raise KeyReused(f"the key {wanted.key} was used for {known.cents} cents to the card {known.card}")
        if known is not None and task is None:
            return known
        if task is None:
            task = asyncio.create_task(self._pay(wanted))
            self._under_way[wanted.key] = wanted, task
        # What was sent is processed, whether or not the one who sent it still waits.
        await asyncio.wait([task])
        if task.cancelled():
            raise Cancelled(f"the submission {wanted.key} was cancelled")
        task.result()
        return wanted

    async def cancel(self, refund_id: str, *, keep: str) -> list[str]:
        """Cancel or reverse what this refund has going to any card but `keep`; returns those cards.

        A cancelled key has no answer: it may be submitted again.
        """
        cancelled = []
        for key, (payment, task) in list(self._under_way.items()):
            if payment.refund_id == refund_id and payment.card != keep:
                del self._under_way[key]
                task.cancel()
                cancelled.append(payment.card)
        for payment in self.paid:
            if payment.refund_id == refund_id and payment.card != keep:
                payment.reversed = True
                self._note(payment)
                cancelled.append(payment.card)
        return cancelled

    async def _pay(self, payment: Payment) -> None:
        try:
            await asyncio.sleep(max(self.delay_s + random.uniform(-self.jitter_s, self.jitter_s), 0))
            if self.failing:
                raise ProviderError("the payment provider is not available")
            self.payments.append(payment)
            self._note(payment)
        finally:
            if self._under_way.get(payment.key, (None, None))[1] is asyncio.current_task():
                del self._under_way[payment.key]

    def _answered(self, key: str) -> Payment | None:
        return next((payment for payment in self.paid if payment.key == key), None)

    def _note(self, payment: Payment) -> None:
        if self._book is not None:
            with self._book.open("a") as book:
                book.write(json.dumps(asdict(payment)) + "\n")
