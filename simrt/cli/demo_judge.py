"""What the demo's calls came to, and whether that is what the three clients are known for. Pure.

| client    | first words                                     | goodbye, no stall | goodbye, 500 ms stall |
|-----------|-------------------------------------------------|-------------------|-----------------------|
| Call      | all heard                                       | all played        | all played            |
| NaiveCall | those said before the session was ready are lost | about 1 s         | about 1 s             |
| DrainCall | all heard                                       | all played        | under 2 s             |
"""

from collections.abc import Sequence

import msgspec

from simrt.cassette.header import Word
from simrt.cli.headline import Headline

STALL = "stall:reply=-1,at=1500ms,for=500ms"

_FRAME_MS = 20
_NAIVE_MS = (800.0, 1500.0)  # it sleeps 1.0 s from end_call; the audio began some 50 ms before, more on a busy machine
_DRAINED_MS = 2000.0


class Played(msgspec.Struct, frozen=True):
    """One replayed call: who took it, with or without the stall, its figures and transcripts.

    `heard` is the caller's first turn as the server had it; `ended` says how the call ended.
    """

    client: str
    stalled: bool
    head: Headline
    heard: str
    transcript: str
    ended: str
    error: str | None = None

    @property
    def name(self) -> str:
        """For messages."""
        return f"{self.client} {'with the stall' if self.stalled else 'without a stall'}"


def judge(calls: Sequence[Played], words: Sequence[Word]) -> list[str]:
    """What is not as it should be, a line each; empty when all is. `words`: what the caller says first, in ms since
    pickup."""
    found: list[str] = []
    for call in calls:
        if call.error is not None:
            found.append(f"{call.name}: {call.error}")
            continue
        start = _start_naive(call, words) if call.client == "NaiveCall" else _start_whole(call)
        end = _end(call)
        found.extend(f"{call.name}: {wrong}" for wrong in (start, end) if wrong)
    return found


def remark(calls: Sequence[Played], words: Sequence[Word]) -> str | None:
    """Said beside good outcomes when the session was ready so late that the naive client lost more than one word."""
    for call in calls:
        if call.client == "NaiveCall" and (call.head.words_lost or 0) > 1 and call.head.ready_ms is not None:
            before = " ".join(word.text for word in words[: call.head.words_lost])
            return (
                f"The session was ready {call.head.ready_ms / 1000:.2f} s after pickup on this recording (the stand-in "
                f"aims at 0.26 s), so NaiveCall lost all that was said by then: {before!r}, not just 'Hi,'."
            )
    return None


def _start_whole(call: Played) -> str | None:
    head = call.head
    if head.words_lost != 0:
        return f"lost {head.words_lost} of {head.words} words at the start, none should be lost"
    return None


def _start_naive(call: Played, words: Sequence[Word]) -> str | None:
    """It loses the words said before the session was ready: at least those that had ended, at most those begun."""
    head = call.head
    if head.words_lost is None or head.ready_ms is None:
        return "its session was never ready"
    least = max(1, sum(word.end_ms <= head.ready_ms - _FRAME_MS for word in words))
    most = max(least, sum(word.start_ms < head.ready_ms + _FRAME_MS for word in words))
    if not least <= head.words_lost <= most:
        span = f"{least}" if least == most else f"{least} to {most}"
        return (
            f"lost {head.words_lost} of {head.words} words at the start; ready {head.ready_ms / 1000:.2f} s after "
            f"pickup it should have lost {span}"
        )
    rest = _plain(" ".join(word.text for word in words[head.words_lost :]))
    if _plain(call.heard) != rest:
        return f"the agent heard {call.heard!r}, it should have heard {rest!r}"
    return None


def _end(call: Played) -> str | None:
    head = call.head
    if head.goodbye_ms is None or head.goodbye_heard_ms is None:
        return "there was no goodbye"
    played = f"played {head.goodbye_heard_ms / 1000:.2f} of {head.goodbye_ms / 1000:.2f} s of the goodbye"
    if call.client == "NaiveCall":
        low, high = _NAIVE_MS
        return None if low <= head.goodbye_heard_ms <= high else f"{played}, it should be about 1 s"
    if call.client == "DrainCall" and call.stalled:
        return None if head.goodbye_heard_ms < _DRAINED_MS else f"{played}, it should be under 2 s"
    return None if head.goodbye_whole else f"{played}, it should be all of it"


def _plain(text: str) -> str:
    """Without capitals: a transcript begins with one, wherever it begins."""
    return text.casefold()
