"""What the model is told of a refund, worded from the ledger's row: it says to the caller what it reads here."""

from datetime import date
from typing import Any

from .ledger import Decision, Row
from .store import card_name, dollars


def note(decision: Decision, session: str) -> dict[str, Any]:
    """The tool's output for a refund that the provider has accepted; `session` is the one that asks."""
    row = decision.row
    refund = f"The refund of {dollars(row.cents)} for order {row.order} ({row.refund_id})"
    when = "on an earlier call" if row.session != session else "earlier on this call"
    to = f"to the {card_name(row.card)}"
    match decision.outcome:
        case "refunded":
            said = f"{refund} {to} is confirmed."
        case "already_refunded":
            said = f"{refund} was made {when}, {to}. It is confirmed; nothing more was paid now."
        case "card_changed":
            previous = card_name(decision.previous_card or "")
            said = f"{refund} now goes {to}, not to the {previous}; that is confirmed. Nothing goes to the {previous}."
        case "settled":
            said = f"{refund} was made {when}, {to}, and is paid out: it cannot go to another card any more."
    said += f" Tell the caller now, and name the {card_name(row.card)}."
    if row.status == "pending":
        said += f" It shows up within three business days, by {_day(row.settles_on)}."
    return {"status": decision.outcome, **_facts(row), "message": said}


def not_confirmed(row: Row) -> dict[str, Any]:
    """The output for a refund that is written down, and that the provider has not accepted."""
    said = (
        f"The payment provider has not confirmed the refund of {dollars(row.cents)} for order {row.order} "
        f"({row.refund_id}). It is noted and will be submitted again. Tell the caller that it is not confirmed yet and "
        "that a message will follow; do not say that it is done."
    )
    return {"status": "not_confirmed", **_facts(row), "message": said}


def superseded(row: Row) -> dict[str, Any]:
    """The output for a call whose refund another call has since moved to another card."""
    to = card_name(row.card)
    said = f"Nothing goes to that card: the refund for order {row.order} was moved to the {to} meanwhile."
    return {"status": "superseded", **_facts(row), "message": said}


def reminder(row_card: str, cents: int, order: str) -> str:
    """For the model, when it has not said it, or not so that the caller heard it."""
    return (
        f"The caller has not heard yet that the refund of {dollars(cents)} for order {order} went to the "
        f"{card_name(row_card)}. Tell them now, in one sentence, and name the {card_name(row_card)}."
    )


NOT_WRITTEN = (
    "Our refund records cannot be written just now, so no refund was made and nothing was paid. Tell the caller that "
    "it has not been done, and that they can try again in a few minutes."
)
NOT_NOTED = (
    "The payment provider has taken the refund, but our records could not be updated: do not say that it is done. Tell "
    "the caller that it is not confirmed yet and that a message will follow. It will not be paid twice."
)


def _facts(row: Row) -> dict[str, Any]:
    return {"order_id": row.order, "refund_id": row.refund_id, "card_last4": row.card, "amount": dollars(row.cents)}


def _day(iso: str) -> str:
    day = date.fromisoformat(iso)
    return f"{day:%A}, {day:%B} {day.day}"
