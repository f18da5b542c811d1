"""Order numbers as callers say them, in words, in digits, and in any mix."""

import pytest

from clients.numbers import numbers
from clients.parcel.words import find_order

KNOWN = ["4711", "4712", "0815", "4777"]


@pytest.mark.parametrize(
    "said",
    [
        "4711",
        "47 11",
        "4 7 1 1",
        "4-7-1-1",
        "4,711",
        "47 eleven",
        "forty-seven 11",
        "forty-seven eleven",
        "forty seven eleven",
        "four seven double one",
        "four 7 double 1",
        "Four, seven, double one.",
        "four seven one one",
        "four, seven, um, one, er, one",
        "four seventy-one one",
        "four thousand seven hundred eleven",
        "four thousand seven hundred and eleven",
        "forty-seven hundred eleven",
        "forty seven double one",
    ],
)
def test_one_order_in_many_ways(said: str) -> None:
    assert numbers(said) == ["4711"]
    assert find_order(f"Hi, where is my order? It's {said}", KNOWN) == "4711"


@pytest.mark.parametrize(
    ("said", "number"),
    [
        ("four triple seven", "4777"),
        ("4 treble 7", "4777"),
        ("nought eight one five", "0815"),
        ("zero eight fifteen", "0815"),
        ("double oh seven", "007"),
        ("nine oh two one", "9021"),
        ("one double oh one", "1001"),
        ("seven hundred double one", "70011"),
        ("twenty double one", "2011"),
    ],
)
def test_repeats_and_zeros(said: str, number: str) -> None:
    assert numbers(said) == [number]


@pytest.mark.parametrize(
    ("said", "order"),
    [
        ("Four. Seven. Double one.", "4711"),  # a transcript that hears sentences
        ("It's forty-seven. Eleven, I think.", "4711"),
        ("Not 4712... no, 4711.", "4712"),  # the first that there is; the caller is told which
        ("My postcode is 9021, the order is 4711", "4711"),
        ("the one from the shop, 4712", "4712"),
        ("Order 4711? My postcode is nine oh two one.", "4711"),
    ],
)
def test_the_order_is_found_among_other_numbers(said: str, order: str) -> None:
    assert find_order(said, KNOWN) == order


@pytest.mark.parametrize("said", ["", "my order", "four seven", "47110", "471 one one", "oh, the one", "four eleven"])
def test_what_is_no_order(said: str) -> None:
    assert find_order(said, KNOWN) is None
