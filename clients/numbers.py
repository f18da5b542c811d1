"""Numbers as people say them: "4417", "forty-four seventeen", "four four one 7", "44 double one 7"."""

import re
from dataclasses import dataclass

_UNITS = ["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]
_TEENS = ["ten", "eleven", "twelve", "thirteen", "fourteen", "fifteen", "sixteen", "seventeen", "eighteen", "nineteen"]
_NAMES_OF_TENS = ["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]
_SMALL = {word: value for value, word in enumerate([*_UNITS, *_TEENS])} | {"nought": 0}
_TENS = {word: value * 10 for value, word in enumerate(_NAMES_OF_TENS, 2)}
_OH = ("oh", "o")
_TIMES = {"double": 2, "triple": 3, "treble": 3}
_FILLERS = ("um", "uh", "er", "erm")
_TOKEN = re.compile(r"\d+|[a-z]+|[.:;!?$]")


@dataclass
class _Spoken:
    """A number in words that may go on: "forty" may become 42, "four thousand" 4417."""

    value: int
    thousands: int = 0
    room: int = 0  # what comes next is added if it is below this

    def __str__(self) -> str:
        return str(self.thousands + self.value)


def numbers(text: str) -> list[str]:
    """The numbers in a text, in order, each as its digits; words and digits that follow each other make one.

    "my Visa, forty-two forty-two" gives ["4242"], "order 4417 on 8 8 1 2" gives ["4417", "8812"].
    """
    found: list[str] = []
    run: list[_Spoken | str] = []
    times = 1
    for token in [*_TOKEN.findall(text.lower()), "."]:
        last = run[-1] if run else None
        value = _SMALL.get(token, _TENS.get(token))
        if token.isdigit():
            run.extend([token] * times)
        elif token in _OH:
            run.extend("0" * times if run or times > 1 else "")  # alone at the start it is an interjection
        elif value is not None:
            if isinstance(last, _Spoken) and 0 < value < last.room and times == 1:
                last.value += value
                last.room = 10 if value >= 20 else 0
            else:
                room = 10 if token in _TENS else 0
                run.extend(_Spoken(value, room=room) for _ in range(times))
        elif token in _TIMES:
            times = _TIMES[token]
            continue
        elif token in _FILLERS:
            continue
        elif token == "hundred" and isinstance(last, _Spoken) and last.value < 100:
            last.value, last.room = last.value * 100, 100
        elif token == "thousand" and isinstance(last, _Spoken) and not last.thousands:
            last.thousands, last.value, last.room = last.value * 1000, 0, 1000
        elif token == "and" and isinstance(last, _Spoken) and last.room >= 100:
            continue
        elif run:
            found.append("".join(str(part) for part in run))
            run = []
        times = 1
    return found
