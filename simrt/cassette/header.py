"""The first line of a cassette: what it is, where it came from, and what was done to it."""

from typing import Literal

import msgspec

from simrt.trace import Opening

FORMAT = 1

How = Literal["live", "stand-in", "import", "authored"]
Wholeness = Literal["whole", "truncated", "counts", "none"]


class Word(msgspec.Struct, array_like=True, frozen=True):
    """One word and when it is said, in ms since the first sample of the audio that it belongs to."""

    text: str
    start_ms: int
    end_ms: int


def spread_words(text: str, start_ms: float, end_ms: float) -> list[Word]:
    """Word times by guess, for audio whose words nobody has placed: in proportion to letters and the space behind."""
    words = text.split()
    total, at, placed = sum(len(word) + 1 for word in words), 0, []
    for word in words:
        begin, at = at, at + len(word) + 1
        span = end_ms - start_ms
        placed.append(Word(word, round(start_ms + span * begin / total), round(start_ms + span * at / total)))
    return placed


class Header(msgspec.Struct, omit_defaults=True):
    """Where a cassette came from and how far it can be trusted.

    `how`: recorded from a live service, recorded from simrt's own stand-in, imported, or authored. `timing` is "paced"
    when the source had no times and the importer's default pacing was put in. `caller_audio` and `agent_audio` say
    whether a side's audio is whole, was cut short at the source, is known by byte counts only, or is absent. `words`
    (keys "caller", "agent") places words on a side's audio. `digest` covers all lines below and the audio files.
    """

    format: int = FORMAT
    dialect: str = "realtime"
    profile: str = "openai"
    how: How = "live"
    origin: str = ""
    created: str = ""
    timing: Literal["measured", "paced"] = "measured"
    caller_audio: Wholeness = "whole"
    agent_audio: Wholeness = "whole"
    redacted: list[str] = []
    notes: list[str] = []
    words: dict[str, list[Word]] = {}
    opening: Opening = msgspec.field(default_factory=Opening)
    digest: str = ""
