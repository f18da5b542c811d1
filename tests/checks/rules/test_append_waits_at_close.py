from .live import LiveTalk


def told(kind: str = "commentary") -> LiveTalk:
    return LiveTalk().started().speech(500, 1000).tell(1000, kind, "It is on its way.", None)


def test_a_commentary_that_was_not_placed() -> None:
    talk = told()
    talk.client(1500, "session.close").server(1520, "error", error={"code": "context_injection_incomplete"})
    (found,) = talk.find("LIV605")
    assert "500 ms later" in found.message


def test_one_that_was_placed_one_for_the_agent_alone_and_a_close_of_the_servers() -> None:
    placed = told().placed(1400, "commentary")
    placed.client(1500, "session.close")
    assert placed.find("LIV605") == []
    thinking = told("thinking")
    thinking.client(1500, "session.close")
    assert thinking.find("LIV605") == []
    expired = told()
    expired.server(1500, "session.closed", reason="expired").close(1510, "server")
    assert expired.find("LIV605") == []
