"""What simrt is told of a parcel service: what the order book says, and what the caller heard."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from .book import OrderBook
from .carrier import Carrier
from .reconcile import mismatches

if TYPE_CHECKING:
    from simrt import CallResult, Line

    from .parcel import Parcel


class ParcelTrial:
    """One run of a desk with an order book of its own."""

    def __init__(self, desk: "type[Parcel]", script: str, folder: Path) -> None:
        self.desk, self.script = desk, Path(script).name
        self.book = OrderBook(folder / "book.sqlite")
        self.carrier = Carrier()
        self.invariants = [self.reconciled]

    async def client(self, line: "Line") -> None:
        """A desk that takes the call."""
        await self.desk(line, self.book, self.carrier).run()

    def reconciled(self, result: "CallResult") -> list[str]:
        """What must hold after each call: the book and what the caller heard agree."""
        return mismatches(self.book.orders(), result)

    def judge(self, result: "CallResult") -> dict[str, Any]:
        """The outcomes, by name."""
        asked = [order for order in self.book.orders() if order.asked_by]
        return {
            "nothing asked": not asked,
            "not told": [f"order {order.number}" for order in asked if order.told != order.status],
            "cancelled": any(order.status == "cancelled" for order in asked),
            "any mismatch": [broken.message for broken in result.broken],
        }
