"""Numbers said in any mix of words and digits."""

import pytest

from clients.refund.digits import names_card, numbers
from clients.refund.store import ORDERS, dollars, find_card, find_order


@pytest.mark.parametrize(
    "said",
    [
        "4242",
        "forty-two forty-two",
        "forty two forty two",
        "four two four two",
        "4 2 4 2",
        "42 42",
        "four 2 forty-two",
        "Forty-Two, 42",
        "4, 2, 4, 2",
        "four thousand two hundred forty-two",
        "four thousand two hundred and forty-two",
        "forty-two hundred forty-two",
        "**** **** **** 4242",
        "ending in 4242",
        "Visa, 4242.",
    ],
)
def test_the_visa_in_words_and_digits(said: str) -> None:
    assert numbers(said) == ["4242"]
    assert find_card(ORDERS["4417"], said) == "4242"
    assert names_card(f"It went to your Visa ending in {said} just now.", "4242")


@pytest.mark.parametrize(
    "said", ["8812", "eight eight one two", "double eight one two", "eighty-eight twelve", "88 12"]
)
def test_the_mastercard_in_words_and_digits(said: str) -> None:
    assert find_card(ORDERS["4417"], said) == "8812"


@pytest.mark.parametrize(
    "said", ["4417", "forty-four seventeen", "four four one seven", "44 seventeen", "order #4417", "R-4417", "-4417"]
)
def test_the_order_in_words_and_digits(said: str) -> None:
    assert find_order(said) == ORDERS["4417"]


@pytest.mark.parametrize("said", ["", "4418", "44170", "my order", "4417 or 4417", "forty-four", "one", "0x4417 nine"])
def test_what_is_no_order_number(said: str) -> None:
    assert (find_order(said) is None) == (said != "4417 or 4417")


@pytest.mark.parametrize("said", ["", "1234", "42", "4242 or 8812", "Visa", "forty-two", "242"])
def test_what_is_no_card_of_the_order(said: str) -> None:
    assert find_card(ORDERS["4417"], said) is None


def test_a_sentence_parts_numbers_and_a_word_does() -> None:
    assert numbers("Order 4417. 4242") == ["4417", "4242"]
    assert numbers("order 4417 on card 4242, please") == ["4417", "4242"]
    assert numbers("twenty oh five, oh, the one") == ["20050", "1"]
    assert numbers("nothing at all") == []


def test_a_price_names_no_card() -> None:
    assert not names_card("Your $32.00 went back to your Visa ending in", "4242")
    assert not names_card("Your Visa ending in forty-two", "4242")


def test_dollars() -> None:
    assert [dollars(cents) for cents in (3200, 5, 123456)] == ["$32.00", "$0.05", "$1234.56"]
