"""What the caller wants, and whether the agent's words tell a fact."""

import pytest

from clients.parcel.words import Wish, read, says_bye, tells, yes_or_no

KNOWN = ["4711", "4712"]


@pytest.mark.parametrize(
    "said",
    [
        "Yes, please.",
        "Yeah.",
        "Yes, go ahead.",
        "Please do it.",
        "No, wait, yes.",
        "Well, I thought about it for a long time, and yes, please cancel it.",
        "Okay, sure.",
        "Yes, don't worry, do it.",
    ],
)
def test_a_yes(said: str) -> None:
    assert yes_or_no(said) is True


@pytest.mark.parametrize(
    "said",
    [
        "No.",
        "No, leave it.",
        "Yes, I thought about it, but, well, no, keep the order.",
        "Yes, but not today.",
        "Yes, yes, I know, but please don't.",
        "Don't do it!",
        "I'm not sure",
        "Yes it's mine, keep it",
    ],
)
def test_a_no(said: str) -> None:
    assert yes_or_no(said) is False


@pytest.mark.parametrize(
    "said", ["", "Hm.", "When does it arrive?", "Yes, I would like to think about that for another day or two, please."]
)
def test_neither(said: str) -> None:
    """A yes at the beginning may have been taken back by what follows."""
    assert yes_or_no(said) is None


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ("Where is order 47 twelve?", Wish("where", "4712")),
        ("Sorry, it's 47 eleven.", Wish("where", "4711")),
        ("Where is order 4 triple 7?", Wish("where", None, "4777")),
        ("Where is my order?", Wish("where")),
        ("Please cancel order 4711.", Wish("cancel", "4711")),
        ("Please cancel my order.", Wish("cancel")),
        ("Great, thank you. Bye.", Wish("bye")),
        ("Okay, thanks.", Wish("nothing")),
        ("Yes, please.", Wish("unclear")),
        ("Oh, one more thing. Is breakfast included?", Wish("nothing")),
    ],
)
def test_a_wish(said: str, wish: Wish) -> None:
    assert read(said, KNOWN) == wish


@pytest.mark.parametrize(
    ("said", "wish"),
    [
        ("Yes, please.", Wish("yes", "4711")),
        ("Yes, cancel it.", Wish("yes", "4711")),
        ("Yes, cancel 4711.", Wish("yes", "4711")),
        ("No, leave it.", Wish("no", "4711")),
        ("Hm, where is it now?", Wish("where", "4711")),
        ("No, where is order 4712?", Wish("where", "4712")),
        ("Yes, and cancel 4712 too.", Wish("cancel", "4712")),
    ],
)
def test_the_answer_to_a_question(said: str, wish: Wish) -> None:
    assert read(said, KNOWN, asked="4711", last="4711") == wish


def test_it_is_the_order_that_was_spoken_of() -> None:
    assert read("And when does it arrive?", KNOWN, last="4712") == Wish("where", "4712")
    assert read("Then please cancel it.", KNOWN, last="4712") == Wish("cancel", "4712")


def test_goodbyes() -> None:
    assert all(map(says_bye, ["Bye.", "Thank you. Goodbye!", "Bye-bye."]))
    assert not any(map(says_bye, ["It's by the door.", "I'll buy it.", ""]))


@pytest.mark.parametrize(
    ("said", "told"),
    [
        ("Order 4711 shipped yesterday and arrives tomorrow.", True),
        ("It's coming tomorrow, your four seven double one!", True),
        ("Let me check order 4711 for you.", False),
        ("It shipped yesterday.", False),
        ("Order 4712 shipped yesterday.", False),
    ],
)
def test_what_tells_a_fact(said: str, told: bool) -> None:
    assert tells(said, "4711", "Order 4711 shipped yesterday and arrives tomorrow.") is told
