"""What all importers share: reading JSON lines, telling profiles apart, and putting the cassette together."""

import binascii
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import msgspec

from simrt.cassette.header import Header, Wholeness
from simrt.cassette.redact import Redactor
from simrt.cassette.store import Cassette
from simrt.dialect import Dialect, Formats, dialect
from simrt.errors import ImportFormatError
from simrt.trace import Closing, Frame, Mark, Sender, Trace, parse_event

_SHORTEST_CHUNK_US = 5_000
"""Nobody sends audio in shorter pieces; a side whose longest piece is shorter was cut at the source."""


class Source(msgspec.Struct):
    """A foreign recording, parsed. `caller_audio`, `agent_audio`: None to tell from the sizes of the pieces."""

    file: Path
    frames: list[Frame] = []
    marks: list[Mark] = []
    closing: Closing | None = None
    dialect: str = "realtime"
    profile: str | None = None
    timing: Literal["measured", "paced"] = "measured"
    caller_audio: Wholeness | None = None
    agent_audio: Wholeness | None = None
    notes: list[str] = []


class Rows:
    """The lines of a JSON-lines file, as objects whose values are raw JSON. Notes are lines that hold nothing else."""

    def __init__(self, file: Path, rows: list[tuple[int, dict[str, msgspec.Raw]]], notes: list[str]) -> None:
        self.file = file
        self.rows = [(number, row) for number, row in rows if set(row) != {"note"}]
        self.first = rows[0][1] if rows else {}
        self.notes = [text for _, row in rows if set(row) == {"note"} for text in [_note(row)]] + notes

    def has(self, keys: frozenset[str]) -> bool:
        return bool(self.rows) and keys <= set(self.rows[0][1])

    def error(self, number: int, what: str) -> ImportFormatError:
        return ImportFormatError(f"{self.file}, line {number}: {what}")

    def timed(self, key: str, unit_us: int) -> Iterator[tuple[int, int, Sender, dict[str, msgspec.Raw]]]:
        """Line number, time in µs, sender and the rest of each row; `key` holds the time in units of `unit_us`.

        Times that go backwards are raised to the one before, and a note says so.
        """
        last, moved = 0, 0
        for number, row in self.rows:
            rest = dict(row)
            try:
                time = msgspec.json.decode(rest.pop(key), type=float)
                sender = SENDERS[msgspec.json.decode(rest.pop("dir"), type=str)]
            except KeyError as error:
                raise self.error(number, f"has no {error} that is understood; mend or remove the line") from None
            except msgspec.MsgspecError as error:
                raise self.error(number, f"{error}; mend or remove the line") from None
            t_us = round(time * unit_us)
            moved += t_us < last
            last = max(last, t_us)
            yield number, last, sender, rest
        if moved:
            self.notes.append(f"{moved} times that went backwards were raised to the time before them")


SENDERS: dict[str, Sender] = {
    "c2s": "client",
    "s2c": "server",
    "out": "client",
    "in": "server",
    "sent": "client",
    "received": "server",
}


def json_lines(file: Path, raw: bytes) -> Rows:
    """Split a file into rows. A last line that was cut off is left out with a note; another broken one is an error."""
    rows: list[tuple[int, dict[str, msgspec.Raw]]] = []
    notes: list[str] = []
    lines = raw.split(b"\n")
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            rows.append((number, msgspec.json.decode(line, type=dict[str, msgspec.Raw])))
            line.decode()
        except (msgspec.MsgspecError, UnicodeDecodeError) as error:
            if number < len(lines) or not rows:
                raise ImportFormatError(
                    f"{file}, line {number}: is no JSON object ({error}); mend or remove the line"
                ) from None
            notes.append(f"line {number} of the source is cut off and was left out")
    return Rows(file, rows, notes)


def assemble(source: Source, redactor: Redactor) -> Cassette:
    """Redact, say in the header what the source was, and make the cassette."""
    speaks = dialect(source.dialect)
    frames = [msgspec.structs.replace(f, payload=redactor.payload(f.payload, speaks)) for f in source.frames]
    marks = []
    for mark in source.marks:
        detail = redactor.rescan(msgspec.json.encode(mark.detail).decode())
        marks.append(msgspec.structs.replace(mark, detail=msgspec.json.decode(detail)))
    longest = longest_audio([(f.sender, f.payload) for f in source.frames], speaks)
    header = Header(
        dialect=source.dialect,
        profile=source.profile or profile(source.frames),
        how="import",
        origin=source.file.name,
        timing=source.timing,
        caller_audio=source.caller_audio or wholeness(longest["client"]),
        agent_audio=source.agent_audio or wholeness(longest["server"]),
        redacted=redactor.redacted,
        notes=[redactor.scrub(note) for note in source.notes],
    )
    closing = redactor.closing(source.closing) if source.closing else None
    return Cassette(header, Trace(opening=header.opening, frames=frames, closing=closing, marks=marks))


def profile(frames: list[Frame]) -> str:
    """Whose server it was, by its habits: Azure Voice Live's session fields, Azure OpenAI's doubled content part,
    PolyAI's own event names; "openai" when nothing tells."""
    for frame in frames:
        event = frame.event() or {}
        kind = event.get("type")
        session = event.get("session")
        if isinstance(kind, str) and kind.startswith("poly."):
            return "polyai"
        if frame.sender == "server" and isinstance(session, dict) and "input_audio_echo_cancellation" in session:
            return "azure-voice-live"
        if kind == "response.content_part.added" and "part" in event and "content" in event:
            return "azure"
    return "openai"


def longest_audio(messages: Sequence[tuple[Sender, str | bytes]], speaks: Dialect) -> dict[Sender, int | None]:
    """For each side the longest piece of audio in µs, None when it sent none."""
    formats = Formats()
    longest: dict[Sender, int | None] = {"client": None, "server": None}
    for sender, payload in messages:
        event = parse_event(payload)
        if event is None:
            continue
        speaks.update_formats(formats, sender, event)
        key = speaks.audio_key(sender, event)
        value = event.get(key) if key else None
        if isinstance(value, str):
            format = formats.input if sender == "client" else formats.output
            try:
                piece = format.duration_us(len(binascii.a2b_base64(value)))
            except ValueError:
                continue
            longest[sender] = max(longest[sender] or 0, piece)
    return longest


def wholeness(longest_us: int | None) -> Wholeness:
    """How whole a side's audio is, from its longest piece."""
    if longest_us is None:
        return "none"
    return "whole" if longest_us >= _SHORTEST_CHUNK_US else "truncated"


def _note(row: dict[str, Any]) -> str:
    value = msgspec.json.decode(row["note"])
    return value if isinstance(value, str) else str(value)
