"""The caller's turns from hand-fed events."""

from clients.parcel.transcript import Transcript


def test_deltas_make_a_turn() -> None:
    transcript = Transcript()
    transcript.delta("Where", 600, 800)
    transcript.delta(" is it?", 800, 1000)
    assert [(turn.text, turn.start_ms, turn.end_ms) for turn in transcript.turns] == [("Where is it?", 600, 1000)]


def test_a_pause_in_a_sentence_ends_no_turn_and_a_long_one_does() -> None:
    transcript = Transcript()
    transcript.delta("Where", 600, 800)
    transcript.delta(" is it?", 1600, 1800)
    transcript.delta("Hello?", 4000, 4200)
    assert [turn.text for turn in transcript.turns] == ["Where is it?", "Hello?"]


def test_what_is_committed_is_the_whole_turn() -> None:
    transcript = Transcript()
    transcript.delta("Wear is", 600, 800)
    transcript.commit("Where is it?", 600, 1000)
    transcript.delta(" it?", 800, 1000)  # late
    transcript.delta("Thanks.", 1200, 1400)
    assert [turn.text for turn in transcript.turns] == ["Where is it?", "Thanks."]


def test_a_commit_without_deltas_is_a_turn() -> None:
    transcript = Transcript()
    transcript.commit("Bye.", 600, 800)
    assert [(turn.text, turn.committed) for turn in transcript.turns] == [("Bye.", True)]


def test_a_commit_of_nothing_leaves_what_was_heard() -> None:
    transcript = Transcript()
    transcript.delta("Where is it?", 600, 800)
    transcript.commit("", 600, 1000)
    assert [(turn.text, turn.committed) for turn in transcript.turns] == [("Where is it?", True)]


def test_a_delegation_takes_the_turn_once() -> None:
    transcript = Transcript()
    assert transcript.delegate(0) is None
    transcript.delta("Where is it?", 600, 800)
    turn = transcript.delegate(600)
    assert turn is not None
    assert turn.text == "Where is it?"
    assert transcript.delegate(600) is None


def test_a_late_delegation_is_about_the_turn_at_its_position() -> None:
    transcript = Transcript()
    transcript.commit("Where is order 4712?", 600, 2000)
    transcript.commit("Sorry, are you still there?", 3600, 5000)
    turn = transcript.delegate(2400)
    assert turn is not None
    assert turn.text == "Where is order 4712?"
    assert transcript.delegate(2400) is None


def test_a_delegation_whose_words_have_not_come_is_about_no_earlier_turn() -> None:
    transcript = Transcript()
    transcript.commit("Thanks.", 600, 1000)
    assert transcript.delegate(4800) is None
    transcript.commit("And where is order 4712?", 3000, 4600)
    turn = transcript.delegate(4800)
    assert turn is not None
    assert turn.text.endswith("4712?")


def test_the_last_words_may_come_behind_the_delegation() -> None:
    transcript = Transcript()
    transcript.delta("It's 47", 600, 800)
    turn = transcript.delegate(1000)
    transcript.delta(" eleven.", 1000, 1200)
    transcript.delta("Hello?", 1400, 1600)
    assert turn is not None
    assert turn.text == "It's 47 eleven."
    assert [turn.text for turn in transcript.turns] == ["It's 47 eleven.", "Hello?"]
