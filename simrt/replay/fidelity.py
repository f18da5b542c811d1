"""Property 1: a recording's client frames, sent again at their times, bring its server frames back.

No socket, no loop: the session is fed by hand, so that a deviation is the engine's own.
"""

from pathlib import Path

import msgspec

from simrt.cassette.store import Cassette
from simrt.faults.base import Send
from simrt.replay.build import make_session, score_of
from simrt.trace import Frame, parse_event

TOLERANCE_US = 1000


class Fidelity(msgspec.Struct):
    """How well a recording came back: `frames` compared, the largest timing error, and what differed first."""

    name: str
    frames: int = 0
    worst_us: int = 0
    difference: str = ""

    @property
    def ok(self) -> bool:
        """All frames JSON-equal, in order, within 1 ms."""
        return not self.difference and self.worst_us <= TOLERANCE_US


def check_fidelity(cassette: Cassette, name: str | Path = "") -> Fidelity:
    """Re-send a recorded cassette's client frames at their times and compare what the session sends."""
    session = make_session(score_of(cassette))
    got: list[tuple[int, Send]] = []

    def advance(until_us: int) -> None:
        while (due := session.next_due()) is not None and due <= until_us:
            got.extend((due, action) for action in session.due(due) if isinstance(action, Send))

    session.opened(0)
    for frame in cassette.trace.frames:
        if frame.sender == "client":
            advance(frame.t_us - 1)
            session.receive(frame.payload, frame.t_us)
    advance(1 << 62)
    return _compare(cassette.trace.sent_by("server"), got, Fidelity(str(name)))


def _compare(want: list[Frame], got: list[tuple[int, Send]], result: Fidelity) -> Fidelity:
    for frame, (t_us, send) in zip(want, got, strict=False):
        if not _equal(frame.payload, send.payload):
            place = f"frame {result.frames} at {frame.t_us / 1000:.1f} ms"
            result.difference = f"{place}: {_short(frame.payload)} came back as {_short(send.payload)}"
            return result
        result.frames += 1
        result.worst_us = max(result.worst_us, abs(t_us - frame.t_us))
    if len(want) != len(got):
        result.difference = f"{len(want)} server frames were recorded, {len(got)} came back"
    return result


def _equal(a: str | bytes, b: str | bytes) -> bool:
    if a == b:
        return True
    event = parse_event(a)
    return event is not None and event == parse_event(b)


def _short(payload: str | bytes) -> str:
    event = parse_event(payload)
    if event is not None:
        return str(event.get("type", "?")) + " " + str({k: str(v)[:40] for k, v in event.items() if k != "type"})[:160]
    return repr(payload[:60])
