import pytest

from .live import LiveTalk, in_parcel

FACT = "Order 4711 arrives on Friday."


@pytest.mark.parametrize(
    ("first", "flagged"),
    [
        ("The carrier is being asked about order 4711.", 1),
        ("I am still checking.", 1),
        ("One moment, please.", 1),
        ("Order 4710 arrives tomorrow.", 0),
        ("Ask the caller to repeat the number.", 0),
    ],
)
def test_a_commentary_about_work_under_way(first: str, flagged: int) -> None:
    talk = LiveTalk().started().delegation(1000).tell(1100, "commentary", first).tell(5000, "commentary", FACT)
    assert len(talk.find("LIV604")) == flagged


def test_thinking_is_the_place_for_it() -> None:
    talk = LiveTalk().started().delegation(1000).tell(1100, "thinking", "It is being checked.")
    assert talk.tell(5000, "commentary", FACT).find("LIV604") == []


def test_what_belongs_to_another_delegation_is_no_progress() -> None:
    talk = LiveTalk().started().delegation(1000).delegation(1000, "d2").tell(1100, "commentary", "I am checking.")
    assert talk.tell(5000, "commentary", FACT, "d2").find("LIV604") == []


def test_a_client_that_tells_the_caller() -> None:
    assert in_parcel("LIV604", "LoudParcel", "slow-lookup")
    assert in_parcel("LIV604", "Parcel", "slow-lookup") == []
