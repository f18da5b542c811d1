from .live import LiveTalk, in_parcel


def asked(words: str = "Where is order 4711?") -> LiveTalk:
    talk = LiveTalk().started().speech(500, 2000)
    if words:
        talk.server(1990, "session.input_transcript.delta", delta=words, start_ms=500, end_ms=1500)
    return talk.delegation(2000)


def test_a_delegation_that_nobody_answers() -> None:
    (found,) = asked().speech(2000, 14_000).find("LIV603")
    assert "was never answered" in found.message


def test_thinking_is_no_answer() -> None:
    (found,) = asked().tell(2100, "thinking", "It is being looked up.").speech(2100, 14_000).find("LIV603")
    assert "never a commentary" in found.message


def test_where_nothing_was_asked_thinking_is_enough() -> None:
    assert asked("").tell(2100, "thinking", "This is being dealt with.").speech(2100, 14_000).find("LIV603") == []


def test_for_a_goodbye_that_asks_for_nothing_thinking_is_enough() -> None:
    def findings(words: str) -> int:
        told = asked(words).tell(2100, "thinking", "There is nothing to be done.").speech(2100, 14_000)
        return len(told.find("LIV603"))

    assert [findings(words) for words in ("Great, thank you. Bye.", "And where is 4712? Bye.")] == [0, 1]


def test_what_is_delegated_within_a_turn_is_about_the_whole_of_it() -> None:
    def findings(rest: str) -> int:
        talk = asked("Great, thank you.")
        talk.server(
            2200, "kugel.input_transcript.committed", text=f"Great, thank you. {rest}", start_ms=500, end_ms=2100
        )
        told = talk.tell(2300, "thinking", "There is nothing to be done.").speech(2300, 14_000)
        return len(told.find("LIV603"))

    assert [findings(rest) for rest in ("Bye.", "Where is order 4712? Bye.")] == [0, 1]


def test_a_commentary_is_one_with_its_id_or_for_the_agent_at_large() -> None:
    for name in ("d1", None):
        talk = asked().tell(9000, "commentary", "It is on its way.", name).placed(9500, "commentary")
        assert talk.speech(9500, 14_000).find("LIV603") == []


def test_a_session_that_ends_before_there_was_time() -> None:
    assert asked().speech(2000, 5000).find("LIV603") == []
    ended = asked().speech(2000, 5000)
    ended.client(5000, "session.close")
    assert len(ended.find("LIV603")) == 1


def test_a_client_that_drops_its_work_when_it_is_interrupted() -> None:
    assert in_parcel("LIV603", "ForgetfulParcel", "late-result")
    assert in_parcel("LIV603", "Parcel", "late-result") == []


def test_a_client_that_hangs_up_over_its_work() -> None:
    assert in_parcel("LIV603", "HastyParcel", "one-more")
    assert in_parcel("LIV603", "Parcel", "one-more") == []
