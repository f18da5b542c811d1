"""When the caller speaks, in terms of what it hears: a small grammar.

    pickup+300ms                    after picking up
    reply[0].start+200ms            after the first sample of that reply was heard
    reply[-1].heard+500ms           when that much of it has been heard
    reply[2].end+600ms              after it ended: all of it was sent, and nothing of it is queued any more
    reply["answer-0"].end+600ms     a reply that is on no recording, by its key
    line.quiet+800ms                when nothing has played for that long after something was heard
    turn[0].end+900ms               after the caller's own first line ended (lines in order, those in parallel aside)

Units are ms and s; a moment without an offset is the moment itself.
"""

import difflib
import re
from typing import Literal, TypeVar

import msgspec

from simrt.caller.clip import Clip
from simrt.errors import SimrtError

ReplyKey = int | str
"""A number in cassette order, or the key of a reply that was injected."""

_T = TypeVar("_T", bound=str)

Anchor = Literal["pickup", "start", "heard", "end", "quiet", "said"]

_SUBJECTS = ("pickup", "reply", "line", "turn")
_MOMENTS: tuple[Literal["start", "heard", "end"], ...] = ("start", "heard", "end")
_UNITS = {"ms": 1_000, "s": 1_000_000}
_EXAMPLES = 'pickup+300ms, reply[0].end+600ms, reply[-1].heard+500ms, reply["answer-0"].end+600ms, line.quiet+800ms'

_SHAPE = re.compile(
    r"""\s* (?P<subject>[a-zA-Z_]+)
        \s* (?:\[ (?P<index>[^\]]*) \])?
        \s* (?:\. \s* (?P<moment>[a-zA-Z_]+))?
        \s* (?:(?P<sign>[+-]) \s* (?P<amount>\d+(?:\.\d+)?) \s* (?P<unit>[a-zA-Zµ]*))? \s*""",
    re.VERBOSE,
)


class CueError(SimrtError):
    """A cue that is misspelt, or that names a reply which the cassette does not have."""


class Cue(msgspec.Struct, frozen=True):
    """A moment of the call. `reply` goes with start, heard and end, `turn` with said; `offset_us` is ≥ 0."""

    anchor: Anchor
    reply: ReplyKey | None = None
    offset_us: int = 0
    turn: int | None = None

    def resolve(self, replies: int) -> "Cue":
        """The same cue with a negative index counted from the end; `replies` is how many the cassette has.

        Raises CueError when the cassette has no such reply.
        """
        if not isinstance(self.reply, int):
            return self
        index = self.reply + replies if self.reply < 0 else self.reply
        if not 0 <= index < replies:
            raise CueError(f"cue {self}: the cassette has {_count(replies)}")
        return Cue(self.anchor, index, self.offset_us)

    def __str__(self) -> str:
        offset = f"+{self.offset_us / 1000:.12g}ms" if self.offset_us else ""
        if self.anchor == "pickup":
            return f"pickup{offset}"
        if self.anchor == "quiet":
            return f"line.quiet{offset}"
        if self.anchor == "said":
            return f"turn[{self.turn}].end{offset}"
        index = f'"{self.reply}"' if isinstance(self.reply, str) else self.reply
        return f"reply[{index}].{self.anchor}{offset}"


class Say(msgspec.Struct, frozen=True):
    """Something to say and when. Those of a call are said one after the other, in their order.

    `parallel`: waits for its cue independently of that order (a barge-in). `background`: not the caller's own voice
    (a television), so the caller does not wait for its end before speaking. `leave`: the caller hangs up at its end.
    `rest_us`: for so long after it the caller says nothing in order (None: never again); with `gap` the microphone
    gives no frames at all meanwhile.
    """

    clip: Clip
    cue: Cue
    parallel: bool = False
    background: bool = False
    leave: bool = False
    rest_us: int | None = 0
    gap: bool = False


def parse_cue(text: str) -> Cue:
    """Read a cue. Raises CueError that says what is wrong with it and, where it can, what was meant."""
    match = _SHAPE.fullmatch(text)
    if not match:
        raise CueError(f"cue {text!r} cannot be read; cues look like {_EXAMPLES}")
    subject, index, moment = match["subject"], match["index"], match["moment"]
    _one_of(text, subject, _SUBJECTS)
    offset_us = _offset(text, match)
    if subject == "turn":
        if index is None or not re.fullmatch(r"\s*\d+\s*", index):
            raise CueError(f"cue {text!r}: which of the caller's lines? Write turn[0].end for the first")
        _one_of(text, moment or "", ("end",), f"turn[{index}].")
        return Cue("said", None, offset_us, int(index))
    if subject != "reply":
        if index is not None:
            raise CueError(f"cue {text!r}: only replies and turns are numbered; cues look like {_EXAMPLES}")
        if subject == "pickup":
            if moment:
                raise CueError(f"cue {text!r}: pickup has no moments; write pickup+300ms")
            return Cue("pickup", None, offset_us)
        _one_of(text, moment or "", ("quiet",), "line.")
        return Cue("quiet", None, offset_us)
    if index is None:
        raise CueError(f"cue {text!r}: which reply? Write reply[0] for the first, reply[-1] for the last")
    anchor = _one_of(text, moment or "", _MOMENTS, f"reply[{index}].")
    return Cue(anchor, _key(text, index.strip()), offset_us)


def _offset(text: str, match: re.Match[str]) -> int:
    if not match["amount"]:
        return 0
    if match["sign"] == "-":
        raise CueError(
            f"cue {text!r}: nobody knows a moment before it has come; use reply[n].heard to speak into a reply"
        )
    unit = match["unit"]
    if unit not in _UNITS:
        problem = f"unit {unit!r} is not known" if unit else "the unit is missing"
        raise CueError(f"cue {text!r}: {problem}; write +{match['amount']}ms or +{match['amount']}s")
    return round(float(match["amount"]) * _UNITS[unit])


def _key(text: str, index: str) -> ReplyKey:
    if re.fullmatch(r"[+-]?\d+", index):
        return int(index)
    quoted = re.fullmatch(r"\"([^\"]+)\"|'([^'\"]+)'", index)
    if not quoted:
        raise CueError(f'cue {text!r}: a reply is named by its number or by its key in quotes, like reply["answer-0"]')
    return quoted[1] or quoted[2]


def _one_of(text: str, word: str, known: tuple[_T, ...], prefix: str = "") -> _T:
    for name in known:
        if word == name:
            return name
    near = difflib.get_close_matches(word.lower(), known, n=1, cutoff=0.5)
    choice = " or ".join(prefix + name for name in known)
    problem = f"{prefix}{word} is not known" if word else f"{prefix.rstrip('.')} needs a moment"
    hint = f"did you mean {prefix}{near[0]}?" if near else f"write {choice}"
    raise CueError(f"cue {text!r}: {problem}; {hint}")


def _count(replies: int) -> str:
    if replies == 0:
        return "no replies"
    return "1 reply: reply[0]" if replies == 1 else f"{replies} replies: reply[0] to reply[{replies - 1}]"
