"""Cassettes on disk: a folder with `cassette.jsonl` and lossless audio beside it.

`cassette.jsonl`, one JSON object a line, times in µs since the connection opened, never going backwards:

    {"format":1,"dialect":"realtime",…,"opening":{…},"digest":"…"}                      the header
    {"t_us":52000,"from":"server","event":{"type":"session.created",…}}                 text that is a JSON object
    {"t_us":80000,"from":"client","event":{…,"audio":{"$audio":["caller.flac",0,480]}}}
    {"t_us":90000,"from":"server","text":"…"}   {…,"binary":"<base64>"}                 any other message
    {"t_us":95000,"mark":"barge_in","detail":{…}}                                       what happened beside the frames
    {"t_us":99000,"closed":{"code":1000,"reason":"","by":"client"}}                     the end; null when unknown

A reference names a file, its first sample and a count; base64 of those bytes stands in its place on the wire. The
rest of an event is kept letter by letter, so payloads come back byte for byte. An authored cassette has, below its
header, a line `{"pacing":{…}}` and one line for each step (simrt.cassette.script), with references as `samples`.
"""

import binascii
from collections import deque
from pathlib import Path

import msgspec

from simrt.audio import PCM24, AudioFormat
from simrt.cassette.header import Header
from simrt.cassette.reader import Reader
from simrt.cassette.script import Reply, Script, Turn
from simrt.cassette.writer import LINES, CassetteWriter, encode_header
from simrt.dialect import Formats, dialect
from simrt.trace import Sender, Trace

__all__ = ["Cassette", "audio_track", "load", "load_cached", "reseal", "save", "verify_integrity"]

_MAX_CACHED = 64


class Cassette(msgspec.Struct):
    """One call: its header, its trace, and for an authored one the script (the trace then has no frames).

    `path` is the folder it was loaded from. A cassette from `load_cached` is shared: do not change it.
    """

    header: Header
    trace: Trace
    script: Script | None = None
    path: Path | None = None


def load(path: str | Path, *, check_digest: bool = True) -> Cassette:
    """Read a cassette folder. CassetteError names file, line and way out for anything that is not as it should be.

    `check_digest=False` takes a cassette that was changed by hand (see `reseal`).
    """
    folder = Path(path)
    reader = Reader(folder)
    trace, script = reader.content()
    if check_digest:
        reader.check_digest()
    return Cassette(reader.header, trace, script, folder)


_cache: dict[Path, tuple[object, Cassette]] = {}


def load_cached(path: str | Path) -> Cassette:
    """`load`, once per process until a file in the folder changes its time or size. Shared: do not change it."""
    folder = Path(path).resolve()
    try:
        key = sorted((p.name, p.stat().st_mtime_ns, p.stat().st_size) for p in folder.iterdir())
    except OSError:
        return load(path)
    cached = _cache.get(folder)
    if cached is not None and cached[0] == key:
        return cached[1]
    cassette = load(path)
    _cache.pop(folder, None)
    if len(_cache) >= _MAX_CACHED:
        del _cache[next(iter(_cache))]
    _cache[folder] = (key, cassette)
    return cassette


def save(cassette: Cassette, path: str | Path, *, overwrite: bool = False) -> Path:
    """Write a cassette to the folder `path`, all of it or nothing; returns the folder. The header's digest is set.

    CassetteError when something is there already and `overwrite` is not asked for, or is no cassette, or when times go
    backwards.
    """
    folder = Path(path)
    header = msgspec.structs.replace(cassette.header, opening=cassette.trace.opening)
    with CassetteWriter(folder, header, overwrite=overwrite) as writer:
        if cassette.script is not None:
            header.how = "authored"
            writer.script(cassette.script)
        else:
            marks = deque(sorted(cassette.trace.marks, key=lambda mark: mark.t_us))
            for frame in cassette.trace.frames:
                while marks and marks[0].t_us < frame.t_us:
                    writer.mark(marks.popleft())
                writer.frame(frame)
            for mark in marks:
                writer.mark(mark)
            writer.close(cassette.trace.closing)
        writer.commit()
    cassette.header.digest = header.digest
    return folder


def verify_integrity(path: str | Path) -> Header:
    """Read a whole cassette, audio and digest included; returns its header. CassetteError for the first fault found."""
    return load(path).header


def reseal(path: str | Path) -> str:
    """Put a new digest into the header of a cassette that was edited on purpose; returns it. Everything else is checked
    as in `load`, and the lines below the header stay as they are."""
    folder = Path(path)
    reader = Reader(folder)
    reader.content()
    reader.header.digest = reader.digest()
    temporary = folder / f".{LINES}.tmp"
    temporary.write_bytes(encode_header(reader.header) + b"\n" + b"".join(line + b"\n" for line in reader.lines))
    temporary.replace(folder / LINES)
    return reader.header.digest


def audio_track(cassette: Cassette, sender: Sender) -> list[tuple[AudioFormat, bytes]]:
    """One side's audio in the order it was sent, joined into runs of one format. Audio that is no base64 is left out.

    An authored cassette gives the samples of its turns ("client") or replies ("server") as 24 kHz PCM16.
    """
    runs: list[tuple[AudioFormat, bytearray]] = []

    def add(format: AudioFormat, data: bytes) -> None:
        if not runs or runs[-1][0] != format:
            runs.append((format, bytearray()))
        runs[-1][1].extend(data)

    if cassette.script is not None:
        side = Turn if sender == "client" else Reply
        for step in cassette.script.steps:
            if isinstance(step, side) and step.samples is not None:
                add(PCM24, PCM24.encode(step.samples))
    else:
        speaks, formats = dialect(cassette.header.dialect), Formats()
        for frame in cassette.trace.frames:
            event = frame.event()
            if event is None:
                continue
            speaks.update_formats(formats, frame.sender, event)
            key = speaks.audio_key(frame.sender, event) if frame.sender == sender else None
            value = event.get(key) if key else None
            if isinstance(value, str):
                try:
                    data = binascii.a2b_base64(value)
                except ValueError:
                    continue
                add(formats.input if sender == "client" else formats.output, data)
    return [(format, bytes(data)) for format, data in runs]
