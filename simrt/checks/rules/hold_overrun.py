"""What was held at pickup goes out with holes in it, or in another order than it was said.

A listener notices that the agent answers to a sentence that nobody said: words from the middle are missing, or stand in
front of others.

Until the session is ready the frames of the microphone are to be held. When there are more than the buffer takes, the
oldest should go: the caller's last words are the ones that count, and a hole in the middle makes nonsense of the rest.
And no live frame may overtake those that are held.

To mend: a queue that drops from its old end; while anything is in it, new frames go behind it.

When the session takes longer than `hold_ms`, what was said before that is lost to every client: a note says so.
"""

from collections.abc import Iterator
from itertools import pairwise, takewhile

from simrt.checks.arrival import FRAME_US, Wire, frames_of
from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case

_AFTER_US = 1_000_000


@rule("CLR106", "hold-overrun", "Frames held at pickup are missing on the wire, or are out of order", harm="legal")
def check(case: Case) -> Iterator[Finding]:
    """Compares the microphone's frames up to a second after the session was ready with what was sent first."""
    line, ready_us = case.line, case.ready_us
    if line is None or ready_us is None or not case.connections[0].appends:
        return
    until_us = min(ready_us + _AFTER_US, case.end_us - _AFTER_US)
    frames: dict[int, bytes] = {}
    for said in case.utterances:
        if said.started_us < ready_us:
            frames |= frames_of(line.microphone, said.started_us, min(said.ended_us, until_us))
    frames = {index: frame for index, frame in sorted(frames.items()) if line.microphone.gives(index)}
    if len(frames) < 2:
        return
    appends = takewhile(lambda append: append.t_us < until_us + _AFTER_US, case.read_appends(0))
    wire = Wire([b"".join(append.audio for append in appends)], line.format.width)
    places = _places(wire, frames)
    sent = [index for index, place in places.items() if place is not None]
    if not sent:
        return
    holes = [index for index, place in places.items() if place is None and sent[0] < index < sent[-1]]
    if holes:
        said_ms = len(holes) * FRAME_US / 1000
        message = f"{said_ms:.0f} ms of what the caller said at pickup are missing, and what was said before was sent"
        yield found(holes[0] * FRAME_US, message, missing_ms=said_ms)
    swapped = [b for a, b in pairwise(sent) if (places[b] or 0) < (places[a] or 0)]
    if swapped:
        message = "what the caller said at pickup was sent in another order: later frames overtook those that were held"
        yield found(swapped[0] * FRAME_US, message, frames=len(swapped))
    lost = [index for index in frames if index < sent[0]]
    if lost and (lost[0] + 1) * FRAME_US < ready_us - case.limits.hold_ms * 1000:
        lost_ms = len(lost) * FRAME_US / 1000
        message = (
            f"the session was ready {ready_us / 1_000_000:.1f} s after pickup: {lost_ms:.0f} ms of speech were lost"
        )
        yield found(lost[0] * FRAME_US, message, severity="note", missing_ms=lost_ms)


def _places(wire: Wire, frames: dict[int, bytes]) -> dict[int, int | None]:
    """Where each frame is on the wire, looked for behind the one before it first."""
    places: dict[int, int | None] = {}
    at = 0
    for index, frame in frames.items():
        place = wire.find(frame, at)
        places[index] = place
        if place is not None:
            at = place + len(frame)
    return places
