"""The refund ledger: a real SQLite file, raced for by threads and processes, locked, unreadable, and dated."""

import multiprocessing
import os
import sqlite3
import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from datetime import date
from pathlib import Path

import pytest
from freezegun import freeze_time

from clients.refund.ledger import Decision, Ledger, LedgerError, Row, settlement_day
from clients.refund.store import ORDERS, Order

SKILLET = ORDERS["4417"]
VISA, MASTERCARD = SKILLET.cards


@pytest.fixture
def ledger(tmp_path: Path) -> Ledger:
    return Ledger(tmp_path / "ledger.sqlite", patience_s=0.12)


def ask(ledger: Ledger, card: str = VISA, call_id: str = "c1", session: str = "s1") -> Decision:
    return ledger.request(SKILLET, card, session, call_id)


@freeze_time("2026-01-05 09:00:07.812")
def test_the_first_request_writes_the_row(ledger: Ledger) -> None:
    outcome, row, previous = ask(ledger)
    assert (outcome, previous) == ("refunded", None)
    stamps = ("2026-01-05 09:00:07.812", "2026-01-08")
    assert row == Row("4417", "R-4417", 3200, VISA, "pending", "s1", ("c1",), False, False, *stamps)
    assert ledger.rows() == [row]
    assert ledger.row("4417") == row
    assert ledger.row("4418") is None


def test_the_primary_key_is_the_order(ledger: Ledger) -> None:
    ask(ledger)
    with closing(sqlite3.connect(ledger.path)) as db:
        tables = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        keys = [name for _, name, *_, key in db.execute("PRAGMA table_info(refunds)") if key]
    assert tables == [("refunds",)]
    assert keys == ["order_id"]


def test_a_repeat_is_no_second_refund(ledger: Ledger) -> None:
    ask(ledger)
    ledger.accept("4417", VISA)
    outcome, row, _ = ask(ledger, call_id="c2", session="s2")
    assert outcome == "already_refunded"
    assert row.accepted
    assert row.session == "s1"
    assert row.call_ids == ("c1", "c2")
    assert len(ledger.rows()) == 1


def test_another_card_is_a_change_and_nothing_is_known_of_it_yet(ledger: Ledger) -> None:
    with freeze_time("2026-01-05 09:00"):
        ask(ledger)
    assert ledger.accept("4417", VISA)
    assert ledger.told("4417", VISA)
    with freeze_time("2026-01-06 09:00"):
        outcome, row, previous = ask(ledger, MASTERCARD, "c2")
    assert (outcome, previous) == ("card_changed", VISA)
    assert (row.card, row.accepted, row.told) == (MASTERCARD, False, False)
    assert (row.asked_at[:10], row.settles_on) == ("2026-01-05", "2026-01-09")
    assert not ledger.accept("4417", VISA)
    assert not ledger.told("4417", VISA)
    assert ledger.rows() == [row]


def test_told_needs_a_refund_that_was_accepted(ledger: Ledger) -> None:
    ask(ledger)
    assert not ledger.told("4417", VISA)
    assert not ledger.accept("9999", VISA)
    ledger.accept("4417", VISA)
    assert ledger.told("4417", VISA)


def test_actionable_rows(ledger: Ledger) -> None:
    assert ledger.unaccepted() == ledger.untold() == []
    ask(ledger)
    assert [row.order for row in ledger.unaccepted()] == ["4417"]
    assert ledger.untold() == []
    ledger.accept("4417", VISA)
    assert ledger.unaccepted() == []
    assert [row.order for row in ledger.untold()] == ["4417"]
    ledger.told("4417", VISA)
    assert ledger.untold() == []


def test_a_settled_refund_does_not_move(ledger: Ledger) -> None:
    with freeze_time("2026-01-05 09:00"):
        ask(ledger)
        ledger.accept("4417", VISA)
        assert ledger.settle() == []
    with freeze_time("2026-01-08 09:00"):
        [settled] = ledger.settle()
        assert ledger.settle() == []
        outcome, row, previous = ask(ledger, MASTERCARD, "c2")
    assert settled.order == "4417"
    assert (outcome, previous) == ("settled", None)
    assert (row.card, row.status, row.accepted) == (VISA, "settled", True)
    assert ask(ledger, VISA, "c3").outcome == "already_refunded"


def test_a_refund_whose_day_has_come_does_not_move_either(ledger: Ledger) -> None:
    with freeze_time("2026-01-05 09:00"):
        ask(ledger)
        ledger.accept("4417", VISA)
    with freeze_time("2026-01-08 09:00"):
        assert ask(ledger, MASTERCARD).outcome == "settled"


def test_what_was_never_accepted_is_never_settled(ledger: Ledger) -> None:
    with freeze_time("2026-01-05 09:00"):
        ask(ledger)
    with freeze_time("2026-02-05 09:00"):
        assert ledger.settle() == []
        assert ask(ledger, MASTERCARD).outcome == "card_changed"


@pytest.mark.parametrize(
    ("asked", "settles"),
    [("2026-01-05", "2026-01-08"), ("2026-01-07", "2026-01-12"), ("2026-01-09", "2026-01-14"),
     ("2026-01-10", "2026-01-14"), ("2026-01-11", "2026-01-14"), ("2026-12-30", "2027-01-04")],
)  # fmt: skip
def test_settlement_takes_three_business_days(asked: str, settles: str) -> None:
    assert settlement_day(date.fromisoformat(asked)) == date.fromisoformat(settles)


# Races


def test_two_connections_race_for_one_row(ledger: Ledger) -> None:
    racers = 8
    barrier = threading.Barrier(racers)
    patient = Ledger(ledger.path)

    def race(number: int) -> str:
        barrier.wait()
        return ask(patient, call_id=f"c{number}").outcome

    with ThreadPoolExecutor(racers) as pool:
        outcomes = Counter(pool.map(race, range(racers)))
    assert outcomes == {"refunded": 1, "already_refunded": racers - 1}
    [row] = ledger.rows()
    assert sorted(row.call_ids) == sorted(f"c{number}" for number in range(racers))


def _work(path: Path, who: str, requests: int, outcomes: "multiprocessing.SimpleQueue[Counter[str]]") -> None:
    ledger = Ledger(path, patience_s=60)
    done: Counter[str] = Counter()
    for number in range(requests):
        order = Order(str(4400 + number % 50), "skillet", 3200, (VISA, MASTERCARD))
        try:
            done[ledger.request(order, order.cards[number % 3 == 0], who, f"{who}-{number}").outcome] += 1
        except LedgerError as error:
            done[str(error)] += 1
    outcomes.put(done)


@pytest.mark.parametrize("requests", [100, pytest.param(1000, marks=pytest.mark.slow)])
def test_two_processes_with_many_requests_each_for_fifty_orders(tmp_path: Path, requests: int) -> None:
    path = tmp_path / "ledger.sqlite"
    context = multiprocessing.get_context("spawn")
    outcomes = context.SimpleQueue()
    workers = [context.Process(target=_work, args=(path, who, requests, outcomes)) for who in ("a", "b")]
    for worker in workers:
        worker.start()
    done = outcomes.get() + outcomes.get()
    for worker in workers:
        worker.join()
    assert set(done) == {"refunded", "already_refunded", "card_changed"}  # and no error
    assert done["refunded"] == 50
    rows = Ledger(path).rows()
    assert sorted(row.order for row in rows) == [str(number) for number in range(4400, 4450)]
    call_ids = sorted(call_id for row in rows for call_id in row.call_ids)
    assert call_ids == sorted(f"{who}-{number}" for who in "ab" for number in range(requests))


# Trouble


def test_a_file_locked_for_long_is_an_error_that_says_so(ledger: Ledger) -> None:
    ask(ledger)
    with closing(sqlite3.connect(ledger.path, isolation_level=None)) as other:
        other.execute("BEGIN EXCLUSIVE")
        for use in (lambda: ask(ledger), ledger.rows, lambda: ledger.accept("4417", VISA), ledger.settle):
            with pytest.raises(LedgerError, match=r"ledger\.sqlite.*another process holds it"):
                use()
        other.execute("ROLLBACK")
    assert ledger.rows()[0].call_ids == ("c1",)


def test_a_file_locked_for_a_moment_is_waited_for(ledger: Ledger) -> None:
    ask(ledger)
    patient = Ledger(ledger.path, patience_s=30)
    with closing(sqlite3.connect(ledger.path, isolation_level=None, check_same_thread=False)) as other:
        other.execute("BEGIN EXCLUSIVE")
        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(ask, patient, VISA, "c2")
            threading.Timer(0.05, other.execute, ("ROLLBACK",)).start()
            assert waiting.result().row.call_ids == ("c1", "c2")


def test_a_read_only_file_is_an_error_that_says_so(ledger: Ledger) -> None:
    ask(ledger)
    ledger.path.chmod(0o444)
    ledger.path.parent.chmod(0o555)
    try:
        if os.access(ledger.path, os.W_OK):
            pytest.skip("this user may write anything")
        with pytest.raises(LedgerError, match="readonly"):
            ask(ledger)
        assert len(ledger.rows()) == 1
    finally:
        ledger.path.parent.chmod(0o755)


class ReadOnly(Ledger):
    """A ledger whose file may be read only, whoever runs the test."""

    def _open(self) -> sqlite3.Connection:
        return sqlite3.connect(f"file:{self.path}?mode=ro", uri=True, isolation_level=None)


def test_a_ledger_that_can_only_be_read_is_an_error_that_says_so(ledger: Ledger) -> None:
    ask(ledger)
    with pytest.raises(LedgerError, match=r"readonly.*check the file"):
        ask(ReadOnly(ledger.path))
    assert ReadOnly(ledger.path).rows() == ledger.rows()


def test_a_file_that_is_no_database_is_an_error_and_left_alone(ledger: Ledger) -> None:
    ledger.path.write_text("groceries: flour, eggs\n" * 100)
    for use in (lambda: ask(ledger), ledger.rows):
        with pytest.raises(LedgerError, match="not a database"):
            use()
    assert ledger.path.read_text().startswith("groceries")


def test_a_folder_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    ledger = Ledger(tmp_path / "nowhere" / "ledger.sqlite")
    assert ledger.rows() == []
    with pytest.raises(LedgerError, match="nowhere"):
        ask(ledger)
