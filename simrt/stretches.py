"""Reading the endless tracks of a Live session: where there is speech in them, and which transcript deltas belong
together. Pure.

Live has no replies and no turns on the wire: both audio tracks run on through silence, and a transcript delta has
nothing but its place on the timeline.
"""

import binascii
from typing import Any

import msgspec
import numpy as np

from simrt.dialect import Event, Formats, dialect, dialect_for_url
from simrt.trace import Trace

QUIET_PEAK = 100
"""Samples up to here (of 32768) are silence: digital zero, or the hiss of a codec."""
BRIDGE_US = 400_000
"""A shorter silence between two sounds is a breath of the same stretch."""
GAP_MS = 800
"""Deltas of one side that are this far apart on the timeline belong to different utterances."""

_TRANSCRIPTS = ("session.input_transcript.delta", "session.output_transcript.delta")


def is_live(trace: Trace) -> bool:
    """Whether a connection spoke Live, by its URL."""
    return dialect_for_url(trace.opening.url) == "live"


def quiet_frames(trace: Trace, speaks: str) -> set[int]:
    """The indices of the frames whose audio is silence. Breaths inside of speech are not among them."""
    protocol, formats = dialect(speaks), Formats()
    quiet: set[int] = set()
    pauses: dict[str, _Pause] = {}
    for index, frame in enumerate(trace.frames):
        event = frame.event()
        if event is None:
            continue
        protocol.update_formats(formats, frame.sender, event)
        key = protocol.audio_key(frame.sender, event)
        value = event.get(key) if key is not None else None
        if not isinstance(value, str):
            continue
        try:
            data = binascii.a2b_base64(value)
        except ValueError:
            continue
        format = formats.input if frame.sender == "client" else formats.output
        pause = pauses.setdefault(frame.sender, _Pause([], BRIDGE_US))
        if _is_quiet(format.decode(data)):
            pause.frames.append(index)
            pause.us += format.duration_us(len(data))
            continue
        if pause.us >= BRIDGE_US:
            quiet.update(pause.frames)
        pauses[frame.sender] = _Pause([], 0)
    return quiet.union(*(pause.frames for pause in pauses.values()))


class _Pause(msgspec.Struct):
    """Silence that may still turn out to be a breath: its frames, and how long it is."""

    frames: list[int]
    us: int


def _is_quiet(samples: Any) -> bool:
    return not len(samples) or bool(np.max(np.abs(samples.astype(np.int32))) <= QUIET_PEAK)


class Utterances:
    """Tells where one utterance of a side ends and the next begins, delta by delta."""

    def __init__(self) -> None:
        self._ends: dict[str, int] = {}

    def opens(self, event: Event) -> bool:
        """Whether this transcript delta begins a new utterance. False for anything else."""
        kind, span = str(event.get("type")), place(event)
        if kind not in _TRANSCRIPTS or span is None:
            return False
        before = self._ends.get(kind)
        self._ends[kind] = span[1]
        return before is None or span[0] - before >= GAP_MS


def place(event: Event) -> tuple[int, int] | None:
    """`start_ms` and `end_ms` on the session's timeline, if an event has both."""
    start, end = event.get("start_ms"), event.get("end_ms")
    return (start, end) if isinstance(start, int) and isinstance(end, int) else None
