"""The frames of a cassette as lines: when, who, what, and the essentials. Pure."""

import binascii
from collections.abc import Iterator
from typing import Any

import msgspec

from simrt.describe import Labels
from simrt.dialect import Formats, dialect
from simrt.stretches import Utterances, place, quiet_frames
from simrt.trace import Frame, Trace

WIDTH = 110
"""Longest text of essentials, in characters."""


class Row(msgspec.Struct):
    """One line: a frame, or `count` of one kind that follow each other (audio, deltas) from `t_us` to `last_us`.

    `quiet`: its audio is silence. `span`: start and end of a transcript on a Live session's timeline, in ms.
    """

    t_us: int
    sender: str
    kind: str
    what: str
    count: int = 1
    last_us: int = 0
    audio_us: int | None = None
    quiet: bool = False
    span: tuple[int, int] | None = None

    def line(self) -> str:
        """In fixed columns."""
        kind = self.kind if self.count == 1 else f"{self.kind} ×{self.count}"
        more = []
        if self.audio_us is not None:
            more.append(f"{self.audio_us / 1000:.0f} ms of {'silence' if self.quiet else 'audio'}")
        if self.span is not None:
            more.append(f"at {self.span[0]}–{self.span[1]} ms")
        if self.count > 1:
            more.append(f"until {self.last_us / 1_000_000:.3f}")
        essentials = "  ".join(filter(None, (" ".join(more), cut(self.what.strip()))))
        return f"{self.t_us / 1_000_000:>9.3f}  {self.sender:<6}  {kind:<52}  {essentials}".rstrip()


class Piece(msgspec.Struct, frozen=True):
    """A frame taken apart: `event` without its base64 audio, which lasts `audio_us`."""

    frame: Frame
    event: dict[str, Any] | None
    audio_us: int | None = None


def pieces(trace: Trace, speaks: str) -> Iterator[Piece]:
    """The frames with their audio measured in the format that was in force."""
    protocol, formats = dialect(speaks), Formats()
    for frame in trace.frames:
        event = frame.event()
        if event is None:
            yield Piece(frame, None)
            continue
        protocol.update_formats(formats, frame.sender, event)
        key = protocol.audio_key(frame.sender, event)
        if key is None or not isinstance(event.get(key), str):
            yield Piece(frame, event)
            continue
        try:
            data = binascii.a2b_base64(event[key])
        except ValueError:
            yield Piece(frame, event)
            continue
        format = formats.input if frame.sender == "client" else formats.output
        rest = {name: value for name, value in event.items() if name != key}
        yield Piece(frame, rest, format.duration_us(len(data)))


def rows(trace: Trace, speaks: str, *, every: bool = False) -> list[Row]:
    """A row a frame; audio and deltas that no other frame comes between share one, unless `every` asks for each.

    Live's tracks never end: there, silence and speech have rows of their own, and so has each utterance.
    """
    labels, utterances = Labels(), Utterances()
    quiet = quiet_frames(trace, speaks) if speaks == "live" else set()
    out: list[Row] = []
    open_runs: dict[tuple[str, str], Row] = {}
    for index, piece in enumerate(pieces(trace, speaks)):
        frame, event = piece.frame, piece.event
        kind = str(event.get("type")) if event is not None else "binary" if isinstance(frame.payload, bytes) else "text"
        if frame.synthetic:
            kind += " (synthetic)"
        delta = event.get("delta") if event is not None and kind.endswith(".delta") else None
        folds = piece.audio_us is not None or isinstance(delta, str)
        if not folds:
            open_runs.clear()
        run = None if every or not folds else open_runs.get((frame.sender, kind))
        opens = event is not None and utterances.opens(event)
        span = place(event) if event is not None and isinstance(delta, str) else None
        if run is None or opens or run.quiet != (index in quiet):
            what = str(delta) if isinstance(delta, str) else essentials(frame, event, labels)
            row = Row(frame.t_us, frame.sender, kind, what, last_us=frame.t_us, audio_us=piece.audio_us, span=span)
            row.quiet = index in quiet
            out.append(row)
            if folds:
                open_runs[frame.sender, kind] = row
            continue
        run.count += 1
        run.last_us = frame.t_us
        if piece.audio_us is not None:
            run.audio_us = (run.audio_us or 0) + piece.audio_us
        else:
            run.what += str(delta)
        if run.span is not None and span is not None:
            run.span = (run.span[0], span[1])
    return out


def essentials(frame: Frame, event: dict[str, Any] | None, labels: Labels) -> str:
    """What matters in a frame on one line: ids by role, then the rest, shortened."""
    if event is None:
        payload = frame.payload
        return f"{len(payload)} bytes" if isinstance(payload, bytes) else payload.replace("\n", " ")
    plain = labels.plain({key: value for key, value in event.items() if key != "type"})
    parts = []
    for key, value in plain.items():
        shown = labels.show(value)
        if key == "previous_item_id":
            parts.append(f"after {shown}")
        else:
            parts.append(shown if key.endswith("_id") else f"{key}={shown}")
    return " ".join(parts)


def cut(text: str) -> str:
    """Text that fits its column."""
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 1]}…"
