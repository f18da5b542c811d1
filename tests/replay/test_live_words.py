"""Which answer belongs to which commentary."""

import pytest

from simrt.replay.live_words import ENOUGH, fit, same_words, spoken


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("4711", "four seven one one"),
        ("four seven double one", "four seven one one"),
        ("4 seven 1-1", "four seven one one"),
        ("triple oh", "zero zero zero"),
        ("It's HERE, now.", "it's here now"),
        ("a double room", "a double room"),
        ("", ""),
    ],
)
def test_digits_are_words(text: str, words: str) -> None:
    assert " ".join(spoken(text)) == words


def test_word_for_word() -> None:
    assert same_words("Shall I cancel 4711?", "shall I cancel four seven one one")
    assert not same_words("Shall I cancel it?", "Shall I cancel it now?")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Order 4711 shipped yesterday and arrives tomorrow.", "Your order four seven double one shipped yesterday."),
        ("Staging is healthy: all services are up.", "Staging is healthy, all services are up."),
        ("There is no order with that number.", "I cannot find an order with that number."),
    ],
)
def test_an_answer_that_fits(content: str, said: str) -> None:
    assert fit(content, said) >= ENOUGH


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("Order 4711 shipped yesterday.", "Order 4712 shipped yesterday."),
        ("Order 4711 was cancelled.", "Order 4711 was not cancelled."),
        ("Order 4711 was not cancelled.", "Order 4711 was cancelled."),
        ("The parcel is at the depot in Leeds.", "Your booking is confirmed."),
        ("", "Hello"),
    ],
)
def test_an_answer_that_does_not_fit(content: str, said: str) -> None:
    assert fit(content, said) < ENOUGH
