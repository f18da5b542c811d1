from .calls import called, kinds, marks, replies
from .runs import refused

COMPLETED = "conversation.item.input_audio_transcription.completed"


def test_it_interrupts_nothing_and_is_taken_for_the_callers_words() -> None:
    plain, result = called(), called("background:reply=0,at=2s")
    assert replies(result) == [(0, False), (1, False)]
    assert kinds(result).count("input_audio_buffer.speech_started") == 2
    assert kinds(result).count(COMPLETED) == kinds(plain).count(COMPLETED) + 1
    texts = [turn.transcript for turn in result.caller_turns]
    assert any(text.startswith("In other news") for text in texts)
    assert marks(result) == ["background:reply=0,at=2000ms"]
    assert result.verdict.clean


def test_only_whole_words_of_it_are_heard() -> None:
    result = called("background:reply=0,at=2s,for=1s")
    said = next(utterance for utterance in result.utterances if utterance.background)
    assert said.clip.duration_ms <= 1000
    assert said.clip.text == " ".join(word.text for word in said.clip.words)


def test_less_than_a_word_is_nothing() -> None:
    assert "shorter than the first word" in refused("background:for=20ms")
    assert "at=9000ms lies beyond" in refused("background:at=9s")
