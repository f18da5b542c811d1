"""What is meant: a caller's wish, from the words of their whole turn; whether the agent's words tell a fact. Pure."""

import re
from collections.abc import Collection
from dataclasses import dataclass
from itertools import accumulate
from typing import Literal

from ..numbers import numbers

Kind = Literal["where", "cancel", "yes", "no", "bye", "unclear", "nothing"]

_DIGITS = 3  # in a number that may be an order's: "one" is a word like others
_TAIL = 5  # words: a yes before them may have been taken back
_YES = {"yes", "yeah", "yep", "yup", "sure", "okay", "ok"}
_NO = {"no", "nope", "not", "don't", "dont", "never", "keep", "leave", "stop"}
_SAID_AS_YES = re.compile(r"\b(?:go ahead|do it|do that)\b")
_BYE = re.compile(r"\b(?:good)?bye\b")
_CANCEL = re.compile(r"\bcancel\b")
_ASKS = re.compile(r"\b(?:where|when|what|which|order|parcel|package|it)\b")
_THANKS = re.compile(r"\bthank")
_WORD = re.compile(r"[a-z']+")
_LONG_WORD = re.compile(r"[a-z]{4,}")
_STEM = 5  # letters: "cancelled" and "cancellation" are alike
_COMMON = {"order", "that", "this", "with", "your", "have", "been", "there"}


@dataclass(frozen=True)
class Wish:
    """What is wanted of which order. `order` is one that there is; `said` a number that was said and is none.

    "unclear" is an answer to nothing that was asked. "nothing" is a turn that asks for nothing, or nothing of ours: the
    agent answers it by itself.
    """

    kind: Kind
    order: str | None = None
    said: str | None = None


def read(text: str, known: Collection[str], asked: str | None = None, last: str | None = None) -> Wish:
    """The wish in a turn. `known` are the numbers of orders; `asked` is the order that the caller has just been asked
    about, `last` the one that was spoken of before: "cancel it" means that."""
    order = find_order(text, known)
    said = None if order else max((one for one in numbers(text) if len(one) >= _DIGITS), key=len, default=None)
    if asked is not None and said is None and order in (None, asked):
        answer = yes_or_no(text)
        if answer is not None:
            return Wish("yes" if answer else "no", asked)
    if order is None and said is None and _ASKS.search(text.lower()):
        order = last
    if _CANCEL.search(text.lower()):
        return Wish("cancel", order, said)
    if order is None and said is None and not _ASKS.search(text.lower()):
        if says_bye(text):
            return Wish("bye")
        return Wish("nothing" if yes_or_no(text) is None or _THANKS.search(text.lower()) else "unclear")
    return Wish("where", order, said)


def find_order(text: str, known: Collection[str]) -> str | None:
    """The order whose number is said in a text; its digits may be parted by full stops or by other words."""
    said = numbers(text)
    together = [joined for start in range(len(said)) for joined in accumulate(said[start:])]
    return next((number for number in [*said, *together] if number in known), None)


def yes_or_no(text: str) -> bool | None:
    """The answer in a turn; None: neither. What is said last counts, and a yes only if it is near the end."""
    words = _WORD.findall(_SAID_AS_YES.sub("yes", text.lower().replace("’", "'")))
    answer, place = None, 0
    for number, word in enumerate(words):
        if word in _NO:
            answer, place = False, number
        elif word in _YES and not (number and words[number - 1] in _NO):
            answer, place = True, number
    return None if answer and place < len(words) - _TAIL else answer


def says_bye(text: str) -> bool:
    """Whether a goodbye is said."""
    return _BYE.search(text.lower()) is not None


def tells(text: str, order: str, fact: str) -> bool:
    """Whether a text names the order, and shares a word with what was to be told of it: the agent words it as it
    likes."""
    words = {word[:_STEM] for word in _LONG_WORD.findall(fact.lower()) if word not in _COMMON}
    said = {word[:_STEM] for word in _LONG_WORD.findall(text.lower())}
    return order in numbers(text) and bool(words & said)
