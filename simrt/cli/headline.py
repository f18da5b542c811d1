"""The lines that sum up one call, or many: words lost at the start, when the session was ready, the goodbye. Pure."""

from collections.abc import Sequence
from statistics import median
from typing import Any

import msgspec

from simrt.cli.console import many, seconds
from simrt.result import CallResult

_WHOLE_MS = 1.0  # what may be missing of a reply that was heard in full: less than a sample is rounding


class Headline(msgspec.Struct, frozen=True):
    """One call in figures. `words_lost` of the `words` that the caller said first; `goodbye_heard_ms` of the last
    reply's `goodbye_ms`. None: there was none."""

    ready_ms: float | None = None
    words: int | None = None
    words_lost: int | None = None
    goodbye_ms: float | None = None
    goodbye_heard_ms: float | None = None

    @property
    def goodbye_whole(self) -> bool:
        """Whether the last reply was heard to its end."""
        return self.goodbye_ms is not None and (self.goodbye_heard_ms or 0) >= self.goodbye_ms - _WHOLE_MS


def headline(result: CallResult) -> Headline:
    """The figures of one call."""
    first = result.caller_turns[0] if result.caller_turns else None
    last = result.replies[-1] if result.replies else None
    return Headline(
        result.ready_ms,
        first.words if first else None,
        first.words_lost if first else None,
        last.audio_ms if last else None,
        last.heard_ms if last else None,
    )


def of_one(head: Headline) -> list[str]:
    """What to print for one call."""
    ready = "never ready" if head.ready_ms is None else f"ready {seconds(head.ready_ms)} after pickup"
    lost = "the caller said nothing" if head.words is None else f"{head.words_lost} of {head.words}"
    return [f"first words lost: {lost} (session {ready})", f"goodbye played:   {played(head)}"]


def played(head: Headline) -> str:
    """`1.05 of 4.90 s`."""
    if head.goodbye_ms is None:
        return "no reply was sent"
    return f"{(head.goodbye_heard_ms or 0) / 1000:.2f} of {head.goodbye_ms / 1000:.2f} s"


def of_many(heads: Sequence[Headline]) -> list[str]:
    """What to print for many calls."""
    figures = summary_of(heads)
    lost, with_goodbye = figures["words_lost"], figures["goodbyes"]
    words = max((head.words or 0 for head in heads), default=0)
    lines = [f"{many(len(heads), 'run')}"]
    if lost is not None:
        lines.append(f"first words lost: min {lost['min']}, max {lost['max']}, median {lost['median']:g} of {words}")
    else:
        lines.append("first words lost: the caller said nothing")
    ready = figures["median_ready_ms"]
    lines.append(f"session ready:    {'never' if ready is None else f'median {seconds(ready)} after pickup'}")
    if with_goodbye:
        part = f"in full {figures['goodbyes_in_full']} of {with_goodbye}"
        lines.append(f"goodbyes played:  {part}, median {seconds(figures['median_goodbye_heard_ms'])}")
    else:
        lines.append("goodbyes played:  no reply was sent")
    return lines


def summary_of(heads: Sequence[Headline]) -> dict[str, Any]:
    """The figures over many calls, for JSON. Medians are over the calls that have such a figure; None: no call has."""
    lost = [head.words_lost for head in heads if head.words_lost is not None]
    ready = [head.ready_ms for head in heads if head.ready_ms is not None]
    heard = [head.goodbye_heard_ms for head in heads if head.goodbye_heard_ms is not None]
    return {
        "runs": len(heads),
        "words_lost": {"min": min(lost), "max": max(lost), "median": median(lost)} if lost else None,
        "median_ready_ms": median(ready) if ready else None,
        "goodbyes": len(heard),
        "goodbyes_in_full": sum(head.goodbye_whole for head in heads),
        "median_goodbye_heard_ms": median(heard) if heard else None,
    }
