"""The order book: who asked, what was cancelled with which words, what was told."""

import sqlite3
import threading
from pathlib import Path

import pytest

from clients.parcel import BookError, OrderBook, book_table
from clients.parcel.book import STOCK


@pytest.fixture
def book(tmp_path: Path) -> OrderBook:
    return OrderBook(tmp_path / "book.sqlite")


def test_a_new_book_holds_the_stock(book: OrderBook) -> None:
    assert tuple(book.orders()) == STOCK
    assert OrderBook(book.path).order("4711") == STOCK[0]


def test_who_asked_is_kept_in_order(book: OrderBook) -> None:
    book.asked("4711", "live_1 item_1")
    order = book.asked("4711", "live_2 item_1", verified=True)
    assert order.asked_by == ("live_1 item_1", "live_2 item_1")
    assert order.verified
    assert book.asked("4711", "live_3 item_1").verified  # once known, for good


def test_an_order_is_cancelled_once_and_with_the_callers_words(book: OrderBook) -> None:
    outcome, order = book.cancel("4711", "Yes, please.")
    assert (outcome, order.status, order.confirmed) == ("cancelled", "cancelled", "Yes, please.")
    assert order.facts == "Order 4711 is cancelled."
    assert book.cancel("4711", "Yes!") == ("already_cancelled", order)


def test_what_was_delivered_cannot_be_cancelled(book: OrderBook) -> None:
    book.report("4713", "delivered", "Order 4713 has been delivered.")
    outcome, order = book.cancel("4713", "Yes.")
    assert (outcome, order.status, order.confirmed) == ("delivered", "delivered", "")


def test_the_carrier_revives_no_cancelled_order(book: OrderBook) -> None:
    book.cancel("4712", "Yes.")
    assert book.report("4712", "in transit", "Order 4712 arrives on Friday.").status == "cancelled"


def test_told_is_a_status(book: OrderBook) -> None:
    book.told("4711", "shipped")
    assert book.cancel("4711", "Yes.")[1].told == "shipped"  # of the cancellation nobody has heard


def test_many_hands_lose_nothing(book: OrderBook) -> None:
    hands = [threading.Thread(target=book.asked, args=("4711", f"live_{n} item")) for n in range(8)]
    outcomes: list[str] = []
    hands += [threading.Thread(target=lambda: outcomes.append(book.cancel("4712", "Yes.")[0])) for _ in range(4)]
    for hand in hands:
        hand.start()
    for hand in hands:
        hand.join()
    assert sorted(book.order("4711").asked_by) == [f"live_{n} item" for n in range(8)]
    assert sorted(outcomes) == ["already_cancelled"] * 3 + ["cancelled"]


def test_a_file_that_is_no_book_is_named(tmp_path: Path) -> None:
    path = tmp_path / "book.sqlite"
    path.write_text("This is no database, and it is long enough not to be taken for an empty one." * 20)
    with pytest.raises(BookError, match=r"book\.sqlite cannot be used .*: check the file"):
        OrderBook(path).orders()


def test_a_change_that_fails_is_none(book: OrderBook, monkeypatch: pytest.MonkeyPatch) -> None:
    before = book.orders()

    def broken(db: sqlite3.Connection) -> None:
        db.execute("UPDATE orders SET status = 'lost'")
        raise sqlite3.OperationalError("disk I/O error")

    with pytest.raises(BookError, match="disk I/O error"):
        book._change("4711", broken)
    assert book.orders() == before


def test_no_such_order(book: OrderBook) -> None:
    with pytest.raises(KeyError, match="no order 4999"):
        book.order("4999")


def test_the_table_has_those_that_were_asked_for(book: OrderBook) -> None:
    book.asked("4711", "live_1 item_1")
    assert book_table(book.orders()).splitlines()[1:4:2] == [
        "| order | status  | told    | verified | confirmed with | asked for |",
        "| 4711  | shipped | nothing | no       | -              | 1 ×       |",
    ]
