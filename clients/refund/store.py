"""Copperline Kitchen Supply: its orders and the cards they were paid with. No other amounts count than these."""

from dataclasses import dataclass

from .digits import numbers

CARDS = {"4242": "Visa", "8812": "Mastercard"}


@dataclass(frozen=True)
class Order:
    """An order that was paid: `cents` is what a refund of it comes to, `cards` the last four digits of each card."""

    number: str
    item: str
    cents: int
    cards: tuple[str, ...]


ORDERS = {"4417": Order("4417", "cast iron skillet", 3200, ("4242", "8812"))}


def find_order(said: str) -> Order | None:
    """The order that was meant, its number said in digits or words; None: no such order, or more than one."""
    found = {number for number in numbers(said) if number in ORDERS}
    return ORDERS[found.pop()] if len(found) == 1 else None


def find_card(order: Order, said: str) -> str | None:
    """Which of the order's cards was meant, as its last four digits; None: none of them, or more than one."""
    found = {card for number in numbers(said) for card in order.cards if number.endswith(card)}
    return found.pop() if len(found) == 1 else None


def card_name(card: str) -> str:
    """How a card is spoken of."""
    return f"{CARDS.get(card, 'card')} ending in {card}"


def dollars(cents: int) -> str:
    """An amount as it is written."""
    return f"${cents // 100}.{cents % 100:02d}"
