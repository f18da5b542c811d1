"""Which spoken answer belongs to what a client had said: by their words, digits read as words too."""

import re

_NAMES = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine")
_DIGITS = {**{str(k): name for k, name in enumerate(_NAMES)}, **{name: name for name in _NAMES}, "oh": "zero"}
_REPEATS = {"double": 2, "triple": 3}
_TOKEN = re.compile(r"\d|[^\W\d_]+(?:['’][^\W\d_]+)*")
_NEGATIONS = frozenset({"no", "not", "never", "none", "nothing", "cannot", "without"})
_PLAIN = frozenset(
    {
        *("a", "an", "the", "is", "are", "was", "were", "be", "been", "to", "of", "and", "or", "it", "its", "that"),
        *("this", "in", "on", "for", "with", "your", "you", "i", "we", "my", "our", "has", "have", "had", "will"),
        *("would", "there", "please", "by", "at", "as", "so", "do", "does", "did", "me"),
    }
)
ENOUGH = 0.6
"""The share of a commentary's words that a spoken answer must have."""


def spoken(text: str) -> list[str]:
    """The words of a text as they are said: "4711" and "four seven double one" give the same four."""
    words: list[str] = []
    for token in _TOKEN.findall(text.lower().replace("’", "'")):
        word = _DIGITS.get(token, token)
        if words and words[-1] in _REPEATS and word in _NAMES:
            words.extend([word] * _REPEATS[words.pop()])
        else:
            words.append(word)
    return words


def same_words(one: str, other: str) -> bool:
    """Whether two texts are said alike, word for word."""
    return spoken(one) == spoken(other)


def fit(content: str, said: str) -> float:
    """How much of a commentary's words are in what is said, 0 to 1; 0 when a number or a "not" is missing."""
    wanted, there = spoken(content), spoken(said)
    if _negative(wanted) != _negative(there) or not _numbers(wanted) <= _numbers(there):
        return 0.0
    left = list(there)
    digits = _DIGITS.values()  # are there or not: many of them say no more than one word
    counted = [word for word in wanted if word not in _PLAIN and word not in digits] or wanted
    found = 0
    for word in counted:
        if word in left:
            left.remove(word)
            found += 1
    return found / len(counted) if counted else 0.0


def told(content: str, said: str) -> float:
    """The same for a recorded answer, which may have been cut off: then its own words are all in the commentary."""
    return max(fit(content, said), fit(said, content))


def _negative(words: list[str]) -> bool:
    return any(word in _NEGATIONS or word.endswith("n't") for word in words)


def _numbers(words: list[str]) -> set[str]:
    """Runs of two digits and more."""
    runs: list[list[str]] = [[]]
    digits = set(_DIGITS.values())
    for word in words:
        if word in digits:
            runs[-1].append(word)
        elif runs[-1]:
            runs.append([])
    return {" ".join(run) for run in runs if len(run) > 1}
