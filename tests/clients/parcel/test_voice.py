"""What was said and heard, from hand-fed audio and transcripts and a speaker that plays in a clock of the test's."""

from typing import Any

import pytest

from clients.parcel.voice import Voice
from simrt.audio import PCM24, AudioFormat

LOUD, QUIET = b"\x00\x20", b"\x20\x00"


class FakeLine:
    """A line with a speaker that plays while `pass_ms` lets time pass."""

    def __init__(self, format: AudioFormat = PCM24) -> None:
        self.format = format
        self.speaker = self
        self.now_ms = self.played_ms = self.queued_ms = 0.0

    def play(self, pcm: bytes) -> None:
        self.queued_ms += len(pcm) / self.format.bytes_per_ms

    def clear(self) -> None:
        self.queued_ms = 0.0

    def pass_ms(self, ms: float) -> None:
        self.now_ms += ms
        played = min(ms, self.queued_ms)
        self.played_ms += played
        self.queued_ms -= played


class Heard:
    """A voice on such a line; `speak` is 100 ms of sound with a word, the way a server sends it."""

    def __init__(self, *, paced: bool = True) -> None:
        self.line: Any = FakeLine()
        self.voice = Voice(self.line, lambda: self.line.now_ms / 1000, paced=paced)

    @property
    def position_ms(self) -> int:
        return int(self.line.now_ms)

    def sound(self, ms: int, sample: bytes = LOUD) -> None:
        self.voice.play(sample * (24 * ms))

    def speak(self, word: str, ms: int = 200) -> None:
        self.sound(ms)
        self.voice.said(word, self.position_ms, self.position_ms + ms)
        self.line.pass_ms(ms)

    def silence(self, ms: int) -> None:
        for _ in range(0, ms, 100):
            self.sound(100, QUIET)
            self.line.pass_ms(100)

    @property
    def whole(self) -> list[tuple[str, bool]]:
        """What was said, and whether it was heard to its end, when its sound has faded and nothing more has come for a
        while."""
        self.sound(20, QUIET)
        for _ in range(8):
            self.voice.review(self.position_ms)
            self.line.pass_ms(100)
        self.voice.review(self.position_ms)
        return [(spoken.text, spoken.whole) for spoken in self.voice.utterances]


def test_what_is_parted_by_a_pause_are_two_utterances() -> None:
    heard = Heard()
    for word in ["One", " moment."]:
        heard.speak(word)
    heard.silence(800)
    heard.speak("Done.")
    heard.silence(200)
    assert heard.whole == [("One moment.", True), ("Done.", True)]


def test_a_long_word_parts_nothing() -> None:
    heard = Heard()
    heard.speak("Order")
    heard.sound(100)
    heard.voice.said(" 4711", heard.position_ms, heard.position_ms + 200)
    for _ in range(14):  # a word of 1.4 s, with one time for its beginning
        heard.line.pass_ms(100)
        heard.sound(100)
    heard.speak(" shipped.")
    heard.line.pass_ms(100)
    assert heard.whole == [("Order 4711 shipped.", True)]


def test_words_may_come_before_their_sound() -> None:
    heard = Heard()
    heard.speak("One moment.")
    heard.silence(800)
    heard.voice.said("Done.", heard.position_ms, heard.position_ms + 200)
    assert heard.whole == [("One moment.", True), ("Done.", False)]
    heard.sound(200)
    heard.line.pass_ms(200)
    assert heard.whole == [("One moment.", True), ("Done.", True)]


@pytest.mark.parametrize("after_ms", [900, 3500])
def test_sound_that_comes_before_its_words_is_not_of_the_words_before(after_ms: int) -> None:
    """A question, an answer to it, and the sound of something else, whose words come a moment later."""
    heard = Heard()
    heard.speak("Shall I really?", 300)
    for _ in range(0, after_ms, 100):
        heard.line.pass_ms(100)
        heard.voice.review(heard.position_ms)
    question = heard.voice.utterances[0]
    heard_ms = question.heard_ms
    for _ in range(5):
        heard.sound(100)
        heard.line.pass_ms(100)
        heard.voice.review(heard.position_ms)
    heard.voice.said("One moment.", heard.position_ms, heard.position_ms + 400)
    assert question.whole
    assert question.heard_ms == heard_ms is not None


def test_what_is_still_queued_is_not_heard() -> None:
    heard = Heard(paced=False)
    heard.sound(2000)
    heard.voice.said("All in a burst.", 0, 1800)
    heard.line.pass_ms(1100)
    assert heard.whole == [("All in a burst.", False)]
    assert heard.whole == [("All in a burst.", True)]


def test_a_transcript_ahead_of_its_sound_is_not_heard_yet() -> None:
    """A stall: the words are there, and the speaker has run dry."""
    heard = Heard()
    heard.sound(200)
    heard.voice.said("Thank you for calling. Goodbye.", 0, 1600)
    heard.line.pass_ms(900)
    assert heard.whole == [("Thank you for calling. Goodbye.", False)]
    heard.sound(1300)
    heard.line.pass_ms(1300)
    assert heard.whole == [("Thank you for calling. Goodbye.", True)]


def test_what_stops_with_a_sound_may_go_on() -> None:
    """A stall in the last word: the words are there, and nearly all of the sound."""
    heard = Heard()
    heard.speak("Have a good day, and goodbye.", 1600)
    heard.line.pass_ms(1300)
    heard.voice.review(heard.position_ms)
    assert not heard.voice.utterances[0].whole
    heard.sound(300)
    heard.line.pass_ms(300)
    assert heard.whole == [("Have a good day, and goodbye.", True)]


def test_a_sentence_that_stops_is_not_whole() -> None:
    heard = Heard()
    for word in ["Order", " 4711", " shipped"]:
        heard.speak(word)
    heard.silence(1000)
    assert heard.whole == [("Order 4711 shipped", False)]


def test_a_cancelled_reply_is_dropped_and_not_whole() -> None:
    heard = Heard(paced=False)
    heard.sound(1000)
    heard.voice.said("Goodbye.", 0, 200)
    heard.line.pass_ms(300)
    assert heard.voice.cut()
    assert heard.line.queued_ms == 0
    heard.line.pass_ms(1000)
    assert heard.whole == [("Goodbye.", False)]
    heard.speak("Yes?")
    assert heard.whole == [("Goodbye.", False), ("Yes?", True)]


def test_a_cancel_behind_the_end_takes_nothing_back() -> None:
    heard = Heard(paced=False)
    heard.speak("Goodbye.")
    assert not heard.voice.cut()
    assert heard.whole == [("Goodbye.", True)]


def test_when_it_was_heard_is_kept() -> None:
    heard = Heard()
    heard.speak("Goodbye.")
    heard.line.pass_ms(100)
    assert heard.whole == [("Goodbye.", True)]
    heard.silence(2000)
    assert heard.whole == [("Goodbye.", True)]
    assert heard.voice.utterances[0].heard_ms == 300
    assert heard.voice.quiet_s() > 2


def test_a_pause_inside_is_no_end() -> None:
    heard = Heard()
    heard.speak("Order 4711 shipped.")
    heard.silence(300)
    heard.voice.review(heard.position_ms)
    assert not heard.voice.utterances[0].whole
    heard.speak(" It arr")  # and is talked over
    heard.silence(300)
    assert heard.whole == [("Order 4711 shipped. It arr", False)]


def test_a_stall_in_a_sentence_parts_nothing() -> None:
    heard = Heard()
    heard.speak("Order 4711")
    heard.line.pass_ms(900)
    heard.sound(900)  # the end of the number, and more
    heard.voice.said(" shipped yesterday.", 1000, 1200)
    heard.line.pass_ms(900)
    assert heard.whole == [("Order 4711 shipped yesterday.", True)]


def test_the_first_sound_of_what_comes_next_is_not_the_last_of_what_was_heard() -> None:
    heard = Heard()
    heard.speak("Really?")
    heard.silence(2000)
    heard.voice.review(heard.position_ms)
    at_ms = heard.voice.utterances[0].heard_ms
    heard.sound(100)  # its words come a moment later
    heard.voice.said("One", heard.position_ms, heard.position_ms + 200)
    heard.line.pass_ms(100)
    heard.speak(" moment.")
    assert heard.whole == [("Really?", True), ("One moment.", True)]
    assert heard.voice.utterances[0].heard_ms == at_ms
    assert heard.voice.utterances[1].sound_ms[0] == 2200


def test_what_is_said_in_one_breath_is_told_apart_by_where_it_was_said() -> None:
    heard = Heard()
    heard.speak("One moment.")
    heard.silence(400)
    asked_ms = heard.position_ms
    heard.speak("Really?")
    assert heard.whole == [("One moment.Really?", True)]
    assert heard.voice.utterances[0].since(asked_ms) == "Really?"


def test_pauses_between_sentences_need_not_be_sent() -> None:
    heard = Heard(paced=False)
    words = {0: "One", 300: " moment.", 1300: "Let", 1600: " me", 1900: " see.", 2900: "It's", 3200: " here."}
    for at_ms, word in words.items():
        heard.sound(300)
        heard.voice.said(word, at_ms, at_ms + 200)
    heard.line.pass_ms(2100)
    assert heard.whole == [("One moment.Let me see.It's here.", True)]


def test_what_is_said_after_the_caller_is_something_else() -> None:
    heard = Heard()
    heard.speak("Order 4711 shipped")
    heard.line.pass_ms(300)
    heard.voice.interrupted()
    heard.line.pass_ms(600)
    heard.speak("Sure, take your time.")
    assert heard.whole == [("Order 4711 shipped", False), ("Sure, take your time.", True)]


def test_a_call_that_is_over_waits_for_no_more() -> None:
    heard = Heard()
    heard.speak("Goodbye.")
    heard.voice.review(heard.position_ms, last=True)
    assert heard.voice.utterances[0].whole


def test_silence_that_would_be_late_is_left_out_where_audio_is_paced() -> None:
    jammed, ahead = Heard(), Heard(paced=False)
    for heard in (jammed, ahead):
        heard.sound(1000)
        for _ in range(12):
            heard.sound(100, QUIET)
    assert jammed.line.queued_ms == 1700  # a pause inside what is said would have been kept
    assert ahead.line.queued_ms == 2200


@pytest.mark.parametrize("encoding", ["pcm16", "ulaw", "alaw"])
def test_silence_is_known_in_every_encoding(encoding: Any) -> None:
    format = AudioFormat(encoding, 24000 if encoding == "pcm16" else 8000)
    line: Any = FakeLine(format)
    voice = Voice(line, lambda: line.now_ms / 1000, paced=True)
    voice.play(format.silence(100))
    voice.said("Hm.", 0, 200)
    line.pass_ms(900)
    voice.review(900)
    assert voice.quiet_s() == pytest.approx(0.9)
    voice.play(format.encode(PCM24.decode(LOUD * format.rate)))
    voice.review(900)
    assert voice.quiet_s() == 0
