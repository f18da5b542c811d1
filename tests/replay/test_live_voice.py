"""The made-up voice."""

import numpy as np

from simrt.replay.live_voice import WORD_MS, hum


def test_a_swell_for_each_word() -> None:
    samples, words = hum("one two three")
    assert [word.text for word in words] == ["one", "two", "three"]
    assert len(samples) == 3 * WORD_MS * 24
    for word in words:
        inside = samples[word.start_ms * 24 : word.end_ms * 24]
        assert np.abs(inside.astype(int)).max() > 1000


def test_the_same_text_sounds_the_same_and_no_word_like_another() -> None:
    assert np.array_equal(hum("again and again")[0], hum("again and again")[0])
    samples, _ = hum("la la la")
    first, second, third = np.split(samples, 3)
    assert not np.array_equal(first, second)
    assert not np.array_equal(second, third)


def test_no_words_are_one_hum() -> None:
    assert len(hum("")[0]) == WORD_MS * 24
