"""A desk killed with SIGKILL at any point of a refund: the row says what is known, and a repeat does not pay twice."""

import multiprocessing
import os
import signal
import sqlite3
from pathlib import Path
from typing import Any

import pytest

from clients.refund import Ledger, Payment, Provider, RefundDesk, mismatches
from simrt import run_call
from simrt.scripts import authored

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="starts its desks by forking")

POINTS = ["before write", "write", "submit", "before accept", "accept", "before told", "told"]


def die() -> None:
    os.kill(os.getpid(), signal.SIGKILL)


class MortalLedger(Ledger):
    """Dies before or after one of its steps, or before its nth SQL statement; counts these."""

    point = ""
    last_statement = 0
    statements = 0

    def request(self, *args: Any) -> Any:
        return self._step("write", super().request, *args)

    def accept(self, *args: Any) -> Any:
        return self._step("accept", super().accept, *args)

    def told(self, *args: Any) -> Any:
        return self._step("told", super().told, *args)

    def _step(self, name: str, step: Any, *args: Any) -> Any:
        if self.point == f"before {name}":
            die()
        done = step(*args)
        if self.point == name:
            die()
        return done

    def _open(self) -> sqlite3.Connection:
        db = super()._open()
        db.set_trace_callback(self._statement)
        return db

    def _statement(self, _: str) -> None:
        self.statements += 1
        if self.statements == self.last_statement:
            die()


class MortalProvider(Provider):
    """Has paid, and the one who asked dies before they hear of it."""

    point = ""

    def _note(self, payment: Payment) -> None:
        super()._note(payment)
        if self.point == "submit":
            die()


def first_call(folder: Path, point: str = "", last_statement: int = 0) -> int:
    ledger, provider = MortalLedger(folder / "ledger.sqlite"), MortalProvider(book=folder / "book")
    ledger.point = provider.point = point
    ledger.last_statement = last_statement
    run_call(lambda line: RefundDesk(line, ledger, provider), authored("refund"))
    return ledger.statements


def killed(folder: Path, **how: Any) -> None:
    process = multiprocessing.get_context("fork").Process(target=first_call, args=(folder,), kwargs=how)
    process.start()
    process.join()
    assert process.exitcode == -signal.SIGKILL


def call_again(folder: Path) -> None:
    """The same refund, asked for by another call to another desk, the day after."""
    ledger, provider = Ledger(folder / "ledger.sqlite"), Provider(book=folder / "book")
    start = "2026-01-06T09:00:00+00:00"
    script = authored("calls-back-tomorrow")
    result = run_call(lambda line: RefundDesk(line, ledger, provider), script, start=start)
    assert [payment.cents for payment in provider.payments] == [3200]
    [row] = ledger.rows()
    assert (row.card, row.accepted, row.told) == ("4242", True, True)
    assert mismatches(ledger.rows(), provider.payments, result) == []


def known(folder: Path) -> tuple[int, int, int, int]:
    """Rows, payments, accepted, told."""
    rows, payments = Ledger(folder / "ledger.sqlite").rows(), Provider(book=folder / "book").payments
    return len(rows), len(payments), sum(row.accepted for row in rows), sum(row.told for row in rows)


@pytest.mark.parametrize("point", POINTS)
def test_killed_at_a_named_point(point: str, tmp_path: Path) -> None:
    killed(tmp_path, point=point)
    ledger = Ledger(tmp_path / "ledger.sqlite")
    expected = {
        "before write": (0, 0, 0, 0),
        "write": (1, 0, 0, 0),
        "submit": (1, 1, 0, 0),
        "before accept": (1, 1, 0, 0),
        "accept": (1, 1, 1, 0),
        "before told": (1, 1, 1, 0),
        "told": (1, 1, 1, 1),
    }
    assert known(tmp_path) == expected[point]
    assert len(ledger.unaccepted()) == (1 if point in ("write", "submit", "before accept") else 0)
    assert len(ledger.untold()) == (1 if point in ("accept", "before told") else 0)
    call_again(tmp_path)


def test_killed_before_any_statement(tmp_path: Path) -> None:
    (tmp_path / "whole").mkdir()
    statements = first_call(tmp_path / "whole")
    assert statements >= 12
    seen = set()
    for last in range(1, statements + 1):
        folder = tmp_path / str(last)
        folder.mkdir()
        killed(folder, last_statement=last)
        rows, payments, accepted, told = known(folder)
        assert rows >= payments >= accepted >= told  # nothing is said that was not done first
        seen.add((rows, payments, accepted, told))
        call_again(folder)
    assert seen == {(0, 0, 0, 0), (1, 1, 0, 0), (1, 1, 1, 0)}
