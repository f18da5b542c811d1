"""Which words of a reply have been heard, for a client that knows how much of its audio was played, and no more.

The wire gives the words without their times, and often before their audio. What is sure is a reply that was played to
its end. For one that was cut short the times are estimated, with the doubt on the side of not heard: somebody who is
told twice loses less than somebody who is not told.
"""

_PER_LETTER_MS = 80.0  # slow speech: about twelve letters a second
_DIGIT = 5  # letters: "4" is said "four"
_DOLLARS = 8
_PAUSE = 4  # letters: after a sentence
_MARGIN_MS = 350.0


def heard_text(text: str, heard_ms: float, received_ms: float, whole: bool) -> str:
    """The words of `text` that were heard for certain.

    `heard_ms` of the `received_ms` of its audio were played; `whole`: no more of it will be received.
    """
    if whole and received_ms - heard_ms < 1:
        return text
    words = text.split()
    lengths = [_length(word) for word in words]
    total_ms = received_ms if whole else max(received_ms, sum(lengths) * _PER_LETTER_MS)
    end, heard = 0, 0
    for length in lengths:
        end += length
        if total_ms * end / sum(lengths) + _MARGIN_MS > heard_ms:
            break
        heard += 1
    return " ".join(words[:heard])


def _length(word: str) -> int:
    """In letters, and the space after it."""
    pause = _PAUSE if word[-1] in ".?!" else 0
    return len(word) + (_DIGIT - 1) * sum(map(str.isdigit, word)) + _DOLLARS * word.count("$") + pause + 1
