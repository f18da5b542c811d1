"""The ledger's rows against what was heard."""

from dataclasses import replace

import pytest

from clients.refund import Payment, Row, ledger_table, mismatches

VISA, MASTERCARD = "4242", "8812"
STAMPS = ("2026-01-05 09:00:07.812", "2026-01-08")
ROW = Row("4417", "R-4417", 3200, VISA, "pending", "s1", ("c1",), True, True, *STAMPS)
PAID = [Payment("R-4417:4242", "R-4417", VISA, 3200)]
HOLD = ("One moment, sending that to your Visa ending in 4242.", True)
TOLD = ("All done. Your $32 went back to your Visa ending in 4242.", False)
ANSWER = ("It usually takes three to five business days.", False)


def test_books_and_caller_agree() -> None:
    assert mismatches([ROW], PAID, [HOLD, TOLD, ANSWER]) == []
    assert mismatches([], [], [ANSWER]) == []
    assert mismatches([ROW], PAID, [("It went to forty-two forty-two.", False)]) == []


def test_an_order_refunded_twice() -> None:
    twice = [*PAID, Payment("R-4417:8812", "R-4417", MASTERCARD, 3200)]
    [found] = mismatches([ROW], twice, [HOLD, TOLD])
    assert found == "order 4417 was refunded 2 times: $32.00 to 4242, $32.00 to 8812"
    twice[1].reversed = True
    assert mismatches([ROW], twice, [HOLD, TOLD]) == []


def test_an_order_with_two_rows() -> None:
    rows = [replace(ROW, refund_id="R-c1"), replace(ROW, refund_id="R-c2")]
    paid = [replace(PAID[0], refund_id=row.refund_id) for row in rows]
    found = mismatches(rows, paid, [HOLD, TOLD])
    assert found == [
        "order 4417 has 2 refunds: R-c1, R-c2",
        "order 4417 was refunded 2 times: $32.00 to 4242, $32.00 to 4242",
    ]


@pytest.mark.parametrize(
    "replies", [[], [HOLD], [HOLD, ANSWER], [("Your $32 went back to your Visa ending in", False)]]
)
def test_a_card_that_was_never_heard(replies: list[tuple[str, bool]]) -> None:
    untold = replace(ROW, told=False)
    assert mismatches([untold], PAID, replies) == [
        "order 4417: that the refund went to 4242 was never heard by the caller"
    ]
    assert mismatches([untold], PAID, replies, left=True) == []
    [found] = mismatches([ROW], PAID, replies)
    assert "told by the ledger, and the caller never heard it" in found
    assert mismatches([ROW], PAID, replies, left=True) == [found]


def test_heard_and_not_told() -> None:
    [found] = mismatches([replace(ROW, told=False)], PAID, [HOLD, TOLD])
    assert "heard by the caller, and the ledger says untold" in found


def test_a_refund_that_is_not_accepted_is_not_to_be_heard_of() -> None:
    row = replace(ROW, accepted=False, told=False)
    assert mismatches([row], [], [HOLD, ("I cannot confirm it yet.", False)]) == []


def test_the_last_confirmation_names_a_card_that_no_row_goes_to() -> None:
    row = replace(ROW, card=MASTERCARD)
    changed = ("Done. It goes to your Mastercard ending in 8812.", False)
    assert mismatches([row], [], [HOLD, TOLD, changed]) == []
    assert mismatches([row], [], [HOLD, changed, ("Not to 4242 but to 8812.", False)]) == []
    assert mismatches([row], [], [HOLD, changed, TOLD, ANSWER]) == [
        "the caller last heard of 4242, and no refund goes there"
    ]


TABLE = """\
+-------+--------+----------+------+---------+----------+------+-------------------------+------------+-------+
| order | refund | amount   | card | status  | accepted | told | asked at                | settles on | calls |
+-------+--------+----------+------+---------+----------+------+-------------------------+------------+-------+
| 4417  | R-4417 | $32.00   | 4242 | pending | yes      | yes  | 2026-01-05 09:00:07.812 | 2026-01-08 | 1     |
| 44180 | R-4417 | $1234.56 | 4242 | pending | no       | no   | 2026-01-05 09:00:07.812 | 2026-01-08 | 2     |
+-------+--------+----------+------+---------+----------+------+-------------------------+------------+-------+"""


def test_table() -> None:
    unnoted = replace(ROW, order="44180", cents=123456, accepted=False, told=False, call_ids=("c1", "c2"))
    assert ledger_table([ROW, unnoted]) == TABLE
    assert len(ledger_table([]).splitlines()) == 4
