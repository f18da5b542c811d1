"""The order book: one row an order, in a SQLite file that several calls and processes may share."""

import json
import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from dataclasses import astuple, dataclass
from pathlib import Path
from typing import Literal, TypeVar

from ..tables import table
from ..transaction import transaction

T = TypeVar("T")

Outcome = Literal["cancelled", "already_cancelled", "delivered"]

_SCHEMA = """
CREATE TABLE IF NOT EXISTS orders (
    number TEXT PRIMARY KEY, status TEXT NOT NULL, facts TEXT NOT NULL, address TEXT NOT NULL, postcode TEXT NOT NULL,
    asked_by TEXT NOT NULL, verified INTEGER NOT NULL, confirmed TEXT NOT NULL, told TEXT NOT NULL
)
"""


class BookError(Exception):
    """The order book cannot be read or written. Nothing of what was asked has been done."""


@dataclass(frozen=True)
class Order:
    """An order as it stands.

    `facts` is what there is to tell; empty: only the carrier knows. `asked_by` has each "session delegation" that
    asked for it. `verified`: somebody gave its postcode. `confirmed` are the words that a cancellation was confirmed
    with. `told` is the status that a caller has *heard*, last.
    """

    number: str
    status: str
    facts: str
    address: str
    postcode: str
    asked_by: tuple[str, ...] = ()
    verified: bool = False
    confirmed: str = ""
    told: str = ""


STOCK = (
    Order("4711", "shipped", "Order 4711 shipped yesterday and arrives tomorrow.", "12 Mill Lane", "9021"),
    Order("4712", "with the carrier", "", "3 Harbour Road", "9040"),
    Order("4713", "on its way", "Order 4713 is out for delivery.", "12 Mill Lane", "9021"),
)


class OrderBook:
    """The file at `path`; made, with STOCK in it, when it is first opened. Every method opens it anew, so that any
    thread may call. All of them raise BookError when the file cannot be used."""

    def __init__(self, path: str | Path) -> None:
        self.path = Path(path)

    def orders(self) -> list[Order]:
        """All orders, by number."""
        return self._do(lambda db: _select(db, "ORDER BY number"))

    def order(self, number: str) -> Order:
        """This order; KeyError: there is none."""
        return self._do(lambda db: _one(db, number))

    def asked(self, number: str, asker: str, *, verified: bool = False) -> Order:
        """Note who asked for an order; returns it."""

        def note(db: sqlite3.Connection) -> None:
            order = _one(db, number)
            values = (json.dumps([*order.asked_by, asker]), order.verified or verified, number)
            db.execute("UPDATE orders SET asked_by = ?, verified = ? WHERE number = ?", values)

        return self._change(number, note)

    def report(self, number: str, status: str, facts: str) -> Order:
        """What the carrier says of an order. A cancelled one stays cancelled."""
        change = "UPDATE orders SET status = ?, facts = ? WHERE number = ? AND status != 'cancelled'"
        return self._change(number, lambda db: db.execute(change, (status, facts, number)))

    def cancel(self, number: str, confirmed: str) -> tuple[Outcome, Order]:
        """Cancel an order; `confirmed` are the caller's words."""

        def cancel(db: sqlite3.Connection) -> tuple[Outcome, Order]:
            order = _one(db, number)
            if order.status in ("cancelled", "delivered"):
                return ("delivered" if order.status == "delivered" else "already_cancelled"), order
            change = "UPDATE orders SET status = 'cancelled', facts = ?, confirmed = ? WHERE number = ?"
            db.execute(change, (f"Order {number} is cancelled.", confirmed, number))
            return "cancelled", _one(db, number)

        return self._do(cancel)

    def told(self, number: str, status: str) -> Order:
        """A caller has heard that this is the order's status."""
        change = "UPDATE orders SET told = ? WHERE number = ?"
        return self._change(number, lambda db: db.execute(change, (status, number)))

    def _change(self, number: str, work: Callable[[sqlite3.Connection], object]) -> Order:
        def change(db: sqlite3.Connection) -> Order:
            work(db)
            return _one(db, number)

        return self._do(change)

    def _do(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            # Transactions are begun and ended here, not by the module.
            with closing(sqlite3.connect(self.path, timeout=5, isolation_level=None)) as db, transaction(db):
                db.execute(_SCHEMA)
                if not db.execute("SELECT 1 FROM orders").fetchone():
                    db.executemany("INSERT INTO orders VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", map(_row, STOCK))
                return work(db)
        except sqlite3.Error as error:
            raise BookError(f"the order book {self.path} cannot be used ({error}): check the file") from error


def _row(order: Order) -> tuple[object, ...]:
    values = list(astuple(order))
    values[5] = json.dumps(order.asked_by)
    return tuple(values)


def _select(db: sqlite3.Connection, rest: str, *values: str) -> list[Order]:
    orders = []
    for row in db.execute(f"SELECT * FROM orders {rest}", values):
        number, status, facts, address, postcode, asked_by, verified, confirmed, told = row
        asked = tuple(json.loads(asked_by))
        orders.append(Order(number, status, facts, address, postcode, asked, bool(verified), confirmed, told))
    return orders


def _one(db: sqlite3.Connection, number: str) -> Order:
    found = _select(db, "WHERE number = ?", number)
    if not found:
        raise KeyError(f"no order {number}")
    return found[0]


_HEADS = ("order", "status", "told", "verified", "confirmed with", "asked for")


def book_table(orders: Iterable[Order]) -> str:
    """The orders that somebody asked for, as a table of plain characters."""
    cells = [
        (
            order.number,
            order.status,
            order.told or "nothing",
            "yes" if order.verified else "no",
            order.confirmed or "-",
            f"{len(order.asked_by)} ×",
        )
        for order in orders
        if order.asked_by
    ]
    return table(_HEADS, cells)
