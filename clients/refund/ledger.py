"""The refunds that were asked for: one row an order, in a SQLite file that several calls and processes may share.

The model may call its tool twice, with another call id each time, and a second call may come in while the first is
on: so the key is the order, and each request is decided in one transaction that holds the write lock from its start.
A row is written before the provider is asked. Whatever is killed when, the row says what is known: `accepted` that
the provider has taken the refund, to this card; `told` that the caller has heard so.
"""

import json
import sqlite3
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple, TypeVar

from ..transaction import transaction
from .store import Order

T = TypeVar("T")

Outcome = Literal["refunded", "already_refunded", "card_changed", "settled"]

SETTLEMENT_DAYS = 3
_TRIES = 12

_SCHEMA = """
CREATE TABLE IF NOT EXISTS refunds (
    order_id TEXT NOT NULL, refund_id TEXT NOT NULL, cents INTEGER NOT NULL, card TEXT NOT NULL,
    status TEXT NOT NULL, session TEXT NOT NULL, call_ids TEXT NOT NULL, accepted INTEGER NOT NULL,
    told INTEGER NOT NULL, asked_at TEXT NOT NULL, settles_on TEXT NOT NULL, PRIMARY KEY ({key})
)
"""


class LedgerError(Exception):
    """The ledger cannot be read or written. Nothing of what was asked has been done."""


@dataclass(frozen=True)
class Row:
    """A refund: `cents` of `order` go to `card`.

    `status` is "pending" until the money has been settled, then "settled". `session` asked first, at `asked_at`
    (ISO 8601, the desk's local time); `call_ids` has every tool call that asked. `settles_on` is a day (ISO 8601).
    """

    order: str
    refund_id: str
    cents: int
    card: str
    status: str
    session: str
    call_ids: tuple[str, ...]
    accepted: bool
    told: bool
    asked_at: str
    settles_on: str


class Decision(NamedTuple):
    """What came of a request, and the order's row after it. `previous_card`: the one that the refund went to before,
    if this request has changed that."""

    outcome: Outcome
    row: Row
    previous_card: str | None = None


def settlement_day(asked: date) -> date:
    """Three business days later."""
    day = asked
    for _ in range(SETTLEMENT_DAYS):
        day += timedelta(days=3 if day.weekday() == 4 else 2 if day.weekday() == 5 else 1)
    return day


class Ledger:
    """The file at `path`; made when it is first written to. Every method opens it anew, so that any thread may call.

    All of them raise LedgerError when the file cannot be used, or is locked for longer than `patience_s`.
    """

    key: ClassVar[str] = "order_id"

    def __init__(self, path: str | Path, *, patience_s: float = 6.0) -> None:
        self.path = Path(path)
        self.patience_s = patience_s

    def request(self, order: Order, card: str, session: str, call_id: str) -> Decision:
        """Decide on a refund of `order` to `card`, and write it down. What comes back may still have to be submitted:
        `row.accepted` says so."""

        def decide(db: sqlite3.Connection) -> Decision:
            known = {"order_id": order.number, "refund_id": self._refund_id(order, call_id)}
            row = _one(db, f"WHERE {self.key} = ?", known[self.key])
            now = datetime.now()
            settles_on = settlement_day(now.date()).isoformat()
            if row is None:
                asked_at = now.isoformat(sep=" ", timespec="milliseconds")
                values = (known["refund_id"], order.cents, card, "pending", session, "[]", 0, 0, asked_at, settles_on)
                db.execute("INSERT INTO refunds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", (order.number, *values))
            at = (known[self.key],)
            every = json.dumps([*(row.call_ids if row else ()), call_id])
            db.execute(f"UPDATE refunds SET call_ids = ? WHERE {self.key} = ?", (every, *at))
            if row is None:
                outcome: Outcome = "refunded"
            elif card == row.card:
                outcome = "already_refunded"
            elif row.status == "settled" or _due(row, now.date()):
                outcome = "settled"
            else:
                outcome = "card_changed"
                change = "UPDATE refunds SET card = ?, settles_on = ?, accepted = 0, told = 0"
                db.execute(f"{change} WHERE {self.key} = ?", (card, settles_on, *at))
            after = _one(db, f"WHERE {self.key} = ?", *at)
            assert after is not None, "just written"
            return Decision(outcome, after, row.card if row and outcome == "card_changed" else None)

        return self._write(decide)

    def accept(self, order: str, card: str) -> bool:
        """The provider has accepted the refund to this card. False: it goes to another card by now."""
        return self._mark("accepted = 1", "card = ?", order, card)

    def told(self, order: str, card: str) -> bool:
        """The caller has heard that the refund went to this card. False: that is not what the row says."""
        return self._mark("told = 1", "card = ? AND accepted = 1", order, card)

    def settle(self) -> list[Row]:
        """Close the rows whose settlement day has come (accepted ones: no other has been paid); returns them."""

        def close(db: sqlite3.Connection) -> list[Row]:
            due = [row for row in _select(db, "WHERE status = 'pending'") if _due(row, datetime.now().date())]
            db.executemany("UPDATE refunds SET status = 'settled' WHERE refund_id = ?", [(r.refund_id,) for r in due])
            return due

        return self._write(close)

    def row(self, order: str) -> Row | None:
        """The row of this order."""
        return next((row for row in self.rows() if row.order == order), None)

    def rows(self) -> list[Row]:
        """All rows, the oldest first."""
        return self._patiently(self._read) if self.path.exists() else []

    def unaccepted(self) -> list[Row]:
        """Rows that the provider may not know of: to be submitted again (the same refund and card are paid once)."""
        return [row for row in self.rows() if not row.accepted]

    def untold(self) -> list[Row]:
        """Refunds that were made and that the caller has not heard of: to be told in a message."""
        return [row for row in self.rows() if row.accepted and not row.told]

    def _refund_id(self, order: Order, call_id: str) -> str:
        return f"R-{order.number}"

    def _mark(self, change: str, condition: str, *values: str) -> bool:
        def mark(db: sqlite3.Connection) -> bool:
            return db.execute(f"UPDATE refunds SET {change} WHERE order_id = ? AND {condition}", values).rowcount > 0

        return self._write(mark)

    def _read(self) -> list[Row]:
        with closing(self._open()) as db:
            if not db.execute("SELECT 1 FROM sqlite_master WHERE name = 'refunds'").fetchone():
                return []
            return _select(db, "ORDER BY rowid")

    def _write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        def attempt() -> T:
            with closing(self._open()) as db, transaction(db):
                db.execute(_SCHEMA.format(key=self.key))
                return work(db)

        return self._patiently(attempt)

    def _open(self) -> sqlite3.Connection:
        # Transactions are begun and ended here, not by the module; SQLite itself waits for a lock.
        return sqlite3.connect(self.path, timeout=self.patience_s / _TRIES, isolation_level=None)

    def _patiently(self, attempt: Callable[[], T]) -> T:
        for tries in range(1, _TRIES + 1):
            try:
                return attempt()
            except sqlite3.Error as error:
                # There are locks that SQLite does not wait for: of a file that another is just recovering, say.
                locked = getattr(error, "sqlite_errorcode", 0) & 0xFF in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED)
                if locked and tries < _TRIES:
                    continue
                advice = "another process holds it" if locked else "check the file and its folder"
                raise LedgerError(f"the ledger {self.path} cannot be used ({error}): {advice}") from error
        raise AssertionError("not reached")


def _select(db: sqlite3.Connection, rest: str, *values: Any) -> list[Row]:
    rows = []
    for found in db.execute(f"SELECT * FROM refunds {rest}", values):
        order, refund_id, cents, card, status, session, call_ids, accepted, told, asked_at, settles_on = found
        calls = tuple(json.loads(call_ids))
        known = (calls, bool(accepted), bool(told))
        rows.append(Row(order, refund_id, cents, card, status, session, *known, asked_at, settles_on))
    return rows


def _one(db: sqlite3.Connection, where: str, value: str) -> Row | None:
    return next(iter(_select(db, where, value)), None)


def _due(row: Row, today: date) -> bool:
    return row.accepted and row.settles_on <= today.isoformat()
