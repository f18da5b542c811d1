from .live import LiveTalk

LONG = "fact " * 700


def test_a_text_of_too_many_tokens() -> None:
    (found,) = LiveTalk().started().delegation(1000).tell(1100, "commentary", LONG).refused(1150).find("LIV606")
    assert found.evidence["tokens"] > 500


def test_one_that_is_sent_again_shorter() -> None:
    talk = LiveTalk().started().delegation(1000).tell(1100, "commentary", LONG).refused(1150)
    assert talk.tell(1200, "commentary", "It is on its way.").placed(1900, "commentary").find("LIV606") == []


def test_an_unknown_delegation() -> None:
    talk = LiveTalk().started().tell(1100, "commentary", "It is on its way.", "d9").refused(1150, param="delegation_id")
    (found,) = talk.find("LIV606")
    assert found.evidence["error"] == "invalid_value"


def test_what_is_placed_is_fine() -> None:
    talk = LiveTalk().started().delegation(1000).tell(1100, "commentary", "It is on its way.")
    assert talk.placed(1900, "commentary").find("LIV606") == []
