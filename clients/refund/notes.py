"""What the model is told of a refund, worded from the ledger's row: it says to the caller what it reads here."""

from datetime import date
from typing import Any

from .ledger import Decision, Row
from .store import card_name, dollars

REMINDERS = 2  # of one refund; whoever has not heard of it by then gets a message


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


def superseded(order: str, card: str) -> dict[str, Any]:
    """The output for a call whose refund another call has since moved to another card."""
    said = f"Nothing goes to the {card_name(card)}: the refund of order {order} was moved to another card meanwhile."
    return {"status": "superseded", "order_id": order, "message": said}


def reminder(row: Row) -> str:
    """For the model, when it has not said it, or not so that the caller heard it."""
    to = card_name(row.card)
    return (
        f"The caller has not heard yet that the refund of {dollars(row.cents)} for order {row.order} went to the {to}. "
        f"Tell them now, in one sentence, and name the {to}."
    )


NOT_WRITTEN = (
    "Our refund records cannot be written just now, so no refund was made and nothing was paid. Tell the caller that "
    "it has not been done, and that they can try again in a few minutes."
)
NOT_NOTED = (
    "Our refund records failed while the refund was being made: do not say that it is done. Tell the caller that it is "
    "not confirmed yet and that a message will follow. It will not be paid twice."
)


def _facts(row: Row) -> dict[str, Any]:
    return {"order_id": row.order, "refund_id": row.refund_id, "card_last4": row.card, "amount": dollars(row.cents)}


def _day(iso: str) -> str:
    day = date.fromisoformat(iso)
    return f"{day:%A}, {day:%B} {day.day}"
