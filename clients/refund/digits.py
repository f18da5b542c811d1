"""Cards as people name them: by their last four digits, said in any way."""

from ..numbers import numbers

__all__ = ["names_card", "numbers"]


def names_card(text: str, card: str) -> bool:
    """Whether the text says the last four digits of this card."""
    return any(card in number for number in numbers(text))
