"""Writing a cassette frame by frame, with memory that does not grow with the call.

The lines and the audio go into a temporary folder beside the target, which is renamed into place at the very end.
"""

import binascii
import contextlib
import hashlib
import os
import secrets
import shutil
from pathlib import Path
from typing import Any

import msgspec
import soundfile

from simrt.audio import PCM24, AudioFormat
from simrt.cassette.header import FORMAT, Header
from simrt.cassette.script import Delegate, Script, Turn
from simrt.cassette.tracks import TRACK_NAME, TrackWriter, storable, track_name
from simrt.dialect import Formats, dialect
from simrt.errors import CassetteError
from simrt.trace import Closing, Frame, Mark, Sender, parse_event

LINES = "cassette.jsonl"
REFERENCE = '"$audio"'

_encode = msgspec.json.encode


def check_target(path: Path, overwrite: bool) -> None:
    """CassetteError unless a cassette may be written at `path`. Only a folder that holds nothing but a cassette is ever
    overwritten."""
    if not (path.exists() or path.is_symlink()):
        return
    if not overwrite:
        raise CassetteError(f"{path}: exists already; take another name, or let it be overwritten (--overwrite)")
    if not path.is_dir() or path.is_symlink():
        raise CassetteError(f"{path}: is not a folder, so it is not overwritten; move it away or choose another name")
    strange = sorted(p.name for p in path.iterdir() if p.name != LINES and not TRACK_NAME.fullmatch(p.name))
    if strange:
        raise CassetteError(
            f"{path}: holds files that are no part of a cassette ({', '.join(strange[:3])}), so it is not "
            "overwritten; move them away or choose another name"
        )


def cassette_digest(body: str, tracks: dict[str, tuple[AudioFormat, str]]) -> str:
    """The digest in a header. `body`: SHA-256 (hex) over the lines below the header, each ended by one LF whatever the
    checkout made of it; `tracks`: file name to format and SHA-256 of the decoded bytes (so re-packing FLAC is free)."""
    digest = hashlib.sha256(body.encode())
    for name, (format, sha) in sorted(tracks.items()):
        digest.update(f"\n{name} {format.encoding} {format.rate} {sha}".encode())
    return digest.hexdigest()


class CassetteWriter:
    """Writes one cassette: frames and marks in time order, then `close`, then `commit`; or `script`, then `commit`.

    Use it in a `with` block: leaving that without `commit` removes what was written so far. CassetteError when times go
    backwards, something is at `target` already, or the disk does not take it.
    """

    def __init__(self, target: Path, header: Header, *, overwrite: bool = False) -> None:
        check_target(target, overwrite)
        self.header = header
        self._target = target
        self._overwrite = overwrite
        self._dialect = dialect(header.dialect)
        self._formats = Formats()
        self._tracks: dict[str, TrackWriter] = {}
        self._names: dict[str, AudioFormat] = {}
        self._hash = hashlib.sha256()
        self._last_us = 0
        self._ended = False
        self._folder = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
        try:
            self._folder.mkdir(parents=True)
        except OSError as error:
            raise self._failure(error) from error
        self._lines = (self._folder / "lines").open("w+b")

    def __enter__(self) -> "CassetteWriter":
        return self

    def __exit__(self, kind: object, error: BaseException | None, _: object) -> None:
        if self._folder.exists():
            self.discard()
        if isinstance(error, (OSError, soundfile.SoundFileError)):
            raise self._failure(error) from error

    def frame(self, frame: Frame) -> None:
        """Add one frame. Text that is a JSON object keeps its very spelling; its audio goes to a track where that is
        lossless. Other text and binary frames are kept whole."""
        self._advance(frame.t_us)
        payload = frame.payload
        if isinstance(payload, str):
            event = self._event(frame.sender, payload)
            try:
                field = f'"event":{event}' if event is not None else f'"text":{_encode(payload).decode()}'
            except UnicodeEncodeError:
                raise CassetteError(
                    f"{self._target}: the frame at {frame.t_us / 1000} ms is text that UTF-8 cannot hold; "
                    "no WebSocket sends that, so keep it as bytes"
                ) from None
        else:
            field = f'"binary":"{binascii.b2a_base64(payload, newline=False).decode()}"'
        tail = ',"synthetic":true' if frame.synthetic else ""
        self._line(f'{{"t_us":{frame.t_us},"from":"{frame.sender}",{field}{tail}}}'.encode())

    def mark(self, mark: Mark) -> None:
        """Add a mark beside the frames."""
        self._advance(mark.t_us)
        fields: dict[str, Any] = {"t_us": mark.t_us, "mark": mark.kind}
        if mark.detail:
            fields["detail"] = mark.detail
        self._line(_encode(fields))

    def close(self, closing: Closing | None) -> None:
        """Add the closing line; None when it is not known how the connection ended."""
        self._advance(closing.t_us if closing else self._last_us)
        self._ended = True
        closed = {"code": closing.code, "reason": closing.reason, "by": closing.by} if closing else None
        self._line(_encode({"t_us": self._last_us, "closed": closed}))

    def script(self, script: Script) -> None:
        """Write an authored call: the pacing, then a line for each step, samples in `caller.flac` or `agent.flac`."""
        self._ended = True
        self._line(_encode({"pacing": script.pacing}))
        for step in script.steps:
            if isinstance(step, Delegate):
                self._line(_encode(step))
                continue
            fields = msgspec.to_builtins(msgspec.structs.replace(step, samples=None))
            if step.samples is not None and len(step.samples):
                sender: Sender = "client" if isinstance(step, Turn) else "server"
                fields["samples"] = {"$audio": self._store(sender, PCM24, PCM24.encode(step.samples))}
            self._line(_encode(fields))

    def commit(self) -> Path:
        """Seal the cassette and rename it into place; returns its folder. Nothing is there before, all of it after."""
        if not self._ended:
            raise CassetteError(f"{self._target}: cannot be finished without a closing line")
        tracks = {name: (track.format, track.close()) for name, track in self._tracks.items()}
        self.header.digest = cassette_digest(self._hash.hexdigest(), tracks)
        with (self._folder / LINES).open("wb") as out:
            out.write(encode_header(self.header) + b"\n")
            self._lines.seek(0)
            shutil.copyfileobj(self._lines, out, 1 << 20)
        self._lines.close()
        (self._folder / "lines").unlink()
        check_target(self._target, self._overwrite)
        old = None
        if self._target.exists():
            old = self._folder.with_suffix(".old")
            os.rename(self._target, old)
        try:
            os.rename(self._folder, self._target)
        except OSError:
            if old is not None:
                os.rename(old, self._target)
            raise
        if old is not None:
            shutil.rmtree(old)
        return self._target

    def discard(self) -> None:
        """Remove everything that was written; the target is untouched."""
        self._lines.close()
        for track in self._tracks.values():
            with contextlib.suppress(OSError, soundfile.SoundFileError):
                track.discard()
        shutil.rmtree(self._folder, ignore_errors=True)

    def _failure(self, error: Exception) -> CassetteError:
        reason = getattr(error, "strerror", None) or str(error)
        return CassetteError(f"{self._target}: cannot be written ({reason}); make room or choose another place")

    def _event(self, sender: Sender, text: str) -> str | None:
        """The event's own text with its audio replaced by a reference; None when it must be kept as plain text."""
        if not (text.startswith("{") and text.endswith("}")) or "\n" in text or "\r" in text:
            return None
        event = parse_event(text)
        if event is None:
            return None
        self._dialect.update_formats(self._formats, sender, event)
        key = self._dialect.audio_key(sender, event)
        value = event.get(key) if key is not None else None
        if not isinstance(value, str) or not value:
            return None if REFERENCE in text else text
        before, found, after = text.partition(f'"{value}"')
        data = _canonical(value)
        format = self._formats.input if sender == "client" else self._formats.output
        if data is None or not found or value in after or not storable(format, len(data)):
            return None if REFERENCE in text else text
        if REFERENCE in before or REFERENCE in after:
            return None
        name, first, count = self._store(sender, format, data)
        return f'{before}{{{REFERENCE}:["{name}",{first},{count}]}}{after}'

    def _store(self, sender: Sender, format: AudioFormat, data: bytes) -> tuple[str, int, int]:
        name = track_name(sender, format, self._names)
        track = self._tracks.get(name)
        if track is None:
            track = self._tracks[name] = TrackWriter(self._folder / name, format)
            self._names[name] = format
        return name, track.append(data), len(data) // format.width

    def _advance(self, t_us: int) -> None:
        if t_us < self._last_us:
            raise CassetteError(
                f"{self._target}: times go backwards, {t_us / 1000} ms after {self._last_us / 1000} ms; "
                "put the frames in order of arrival"
            )
        self._last_us = t_us

    def _line(self, line: bytes) -> None:
        self._lines.write(line + b"\n")
        self._hash.update(line + b"\n")


def encode_header(header: Header) -> bytes:
    """The header line: the format version first, so that a newer one is recognised whatever else has changed."""
    return _encode({"format": FORMAT, **msgspec.to_builtins(header)})


def _canonical(value: str) -> bytes | None:
    """The bytes of a base64 text that encoding them again gives exactly; else None."""
    try:
        data = binascii.a2b_base64(value)
    except (ValueError, binascii.Error):
        return None
    return data if binascii.b2a_base64(data, newline=False).decode() == value else None
