"""Which words were heard, for a client that does not know when they are said."""

import pytest

from clients.refund.digits import names_card
from clients.refund.hearing import heard_text
from clients.refund.store import CARDS
from simrt.caller import Clip, fixture_clip
from simrt.shipped import folder

NAMES_A_CARD = [
    clip
    for path in sorted((folder("fixtures") / "agent").glob("*.json"))
    if any(names_card((clip := fixture_clip(path.stem)).text, card) for card in CARDS)
]


def test_a_reply_played_to_its_end_was_heard_whole() -> None:
    assert heard_text("All done.", 900.0, 900.4, True) == "All done."


def test_nothing_was_heard_of_a_reply_that_was_not_played() -> None:
    assert heard_text("All done.", 0.0, 900.0, True) == ""
    assert heard_text("", 100.0, 900.0, False) == ""


def test_a_reply_that_ran_dry_before_its_end_was_not_heard_whole() -> None:
    assert (
        heard_text("It went to your Visa ending in 4242.", 900.0, 900.0, False)
        != "It went to your Visa ending in 4242."
    )


@pytest.mark.parametrize("clip", NAMES_A_CARD, ids=lambda clip: clip.name)
def test_no_card_counts_as_heard_before_it_was(clip: Clip) -> None:
    """Held against the true times of the words, wherever the reply is cut, with and without the rest received."""
    for heard_ms in range(0, round(clip.duration_ms), 20):
        truly = " ".join(word.text for word in clip.words if word.end_ms <= heard_ms)
        received = " ".join(word.text for word in clip.words if word.start_ms < heard_ms + 300)
        for sure in (
            heard_text(clip.text, heard_ms, clip.duration_ms, True),
            heard_text(clip.text, heard_ms, heard_ms + 300, False),
            heard_text(received, heard_ms, heard_ms + 300, False),
        ):
            for card in CARDS:
                assert names_card(truly, card) or not names_card(sure, card)


def test_a_card_counts_as_heard_when_the_reply_is_cut_well_after_it() -> None:
    clip = fixture_clip("refunded-visa")
    said_ms = next(word.end_ms for word in clip.words if word.text.startswith("4242"))
    assert names_card(heard_text(clip.text, said_ms + 700, clip.duration_ms, True), "4242")
