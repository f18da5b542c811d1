"""Reading a cassette line by line, with errors that name file, line and way out."""

import binascii
import codecs
import hashlib
import re
from pathlib import Path
from typing import Any

import msgspec
import numpy as np

from simrt.audio import PCM24
from simrt.cassette.header import FORMAT, Header
from simrt.cassette.script import Pacing, Reply, Script, Step, Turn
from simrt.cassette.tracks import Track, read_track
from simrt.cassette.writer import LINES, REFERENCE, cassette_digest
from simrt.dialect import dialect
from simrt.errors import CassetteError, SimrtError
from simrt.trace import Closing, Ender, Frame, Mark, Sender, Trace

_UNSET = msgspec.UNSET
_REFERENCE = re.compile(rb'\{\s*"\$audio"\s*:\s*\[\s*"([^"\\]*)"\s*,\s*(\d+)\s*,\s*(\d+)\s*\]\s*\}')
_MALFORMED = f'{REFERENCE} must hold [file, first sample, count], as in ["caller.flac",0,480]; undo the edit'
_STEP_REFERENCE = re.compile(rb'"samples"\s*:\s*(\{\s*"\$audio"\s*:\s*\[[^\]]*\]\s*\})')


class _Closed(msgspec.Struct, forbid_unknown_fields=True):
    code: int
    reason: str
    by: Ender


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    """Any line below the header of a recorded cassette."""

    t_us: int
    sender: Sender | msgspec.UnsetType = msgspec.field(default=_UNSET, name="from")
    event: msgspec.Raw | msgspec.UnsetType = _UNSET
    text: str | msgspec.UnsetType = _UNSET
    binary: str | msgspec.UnsetType = _UNSET
    synthetic: bool = False
    mark: str | msgspec.UnsetType = _UNSET
    detail: dict[str, Any] = {}
    closed: _Closed | msgspec.UnsetType | None = _UNSET


_decode_line = msgspec.json.Decoder(_Line).decode


class Reader:
    """The lines of one cassette, with errors that say where."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.file = folder / LINES
        self._tracks: dict[str, Track] = {}
        raw = self._read().removeprefix(codecs.BOM_UTF8)
        first, *self.lines = raw.replace(b"\r\n", b"\n").removesuffix(b"\n").split(b"\n")
        self.header = self._header(first)

    def error(self, number: int, what: str) -> CassetteError:
        return CassetteError(f"{self.file}, line {number}: {what}")

    def digest(self) -> str:
        body = hashlib.sha256()
        for line in self.lines:
            body.update(line)
            body.update(b"\n")
        tracks = {name: (track.format, track.sha256()) for name, track in self._tracks.items()}
        return cassette_digest(body.hexdigest(), tracks)

    def check_digest(self) -> None:
        """An authored cassette may go without a digest: it is written by hand."""
        if self.header.how == "authored" and not self.header.digest:
            return
        if self.header.digest != self.digest():
            raise self.error(
                1,
                "the digest does not match the lines and the audio below it: the cassette was changed after it was "
                "written; restore it or record again, or reseal it if the change is wanted",
            )

    def content(self) -> tuple[Trace, Script | None]:
        """The trace, or for an authored call an empty one and the script; reads the audio files that they refer to."""
        if self.header.how == "authored":
            return Trace(opening=self.header.opening), self._script()
        return self._trace(), None

    def _trace(self) -> Trace:
        trace = Trace(opening=self.header.opening)
        last, ended = 0, 0
        for number, raw in enumerate(self.lines, start=2):
            line = self._line(raw, number)
            if line.t_us < last:
                raise self.error(
                    number,
                    f"its time {line.t_us} µs lies before the {last} µs of the line above; "
                    "lines stand in order of arrival",
                )
            if ended:
                raise self.error(number, f"stands below the closing line {ended}; move it up or remove it")
            last = line.t_us
            if line.mark is not _UNSET:
                trace.marks.append(Mark(line.t_us, line.mark, line.detail))
            elif line.closed is not _UNSET:
                ended = number
                if line.closed is not None:
                    trace.closing = Closing(line.t_us, line.closed.code, line.closed.reason, line.closed.by)
            elif line.sender is not _UNSET:
                payload = self._payload(line, number)
                trace.frames.append(Frame(line.t_us, line.sender, payload, line.synthetic))
        if not ended:
            raise self.error(
                len(self.lines) + 1,
                "is the last one, but there is no closing line, so the file was cut off; restore it, recover the "
                "recording it was made from, or record again",
            )
        return trace

    def _script(self) -> Script:
        steps: list[Step] = []
        pacing = Pacing()
        for number, raw in enumerate(self.lines, start=2):
            found = _STEP_REFERENCE.search(raw)
            samples = None
            if found:
                reference = _REFERENCE.fullmatch(found[1])
                if reference is None:
                    raise self.error(number, _MALFORMED)
                data, track = self._lookup(reference, number)
                if track.format != PCM24:
                    raise self.error(number, f"{track.name} is not 24 kHz PCM16, which an authored cassette needs")
                samples = np.frombuffer(data, dtype="<i2")
                raw = raw[: found.start(1)] + b"null" + raw[found.end(1) :]
            try:
                if number == 2:
                    pacing = msgspec.json.decode(raw, type=dict[str, Pacing], strict=True)["pacing"]
                    continue
                fields = msgspec.json.decode(raw, type=dict[str, Any])
                fields.pop("samples", None)
                step: Step = msgspec.convert(fields, Step)
            except (msgspec.MsgspecError, UnicodeDecodeError, KeyError) as error:
                raise self.error(
                    number, f"{'is no pacing' if number == 2 else 'is no step'} of an authored call: {error}"
                ) from None
            if isinstance(step, Turn | Reply):
                step.samples = samples
            steps.append(step)
        if not self.lines:
            raise self.error(1, "is the only line; an authored cassette has a pacing line and steps below it")
        return Script(steps, pacing, "live" if self.header.dialect == "live" else "realtime")

    def _read(self) -> bytes:
        try:
            raw = self.file.read_bytes()
        except NotADirectoryError:
            raise CassetteError(f"{self.folder}: is a file; a cassette is the folder around {LINES}") from None
        except FileNotFoundError:
            if self.folder.is_dir():
                raise CassetteError(
                    f"{self.folder}: is no cassette, there is no {LINES} in it; "
                    "give a cassette's folder, or import a recording of another kind first"
                ) from None
            raise CassetteError(f"{self.folder}: there is no such folder; check the path, or record it") from None
        except OSError as error:
            raise CassetteError(f"{self.file}: cannot be read: {error.strerror}") from None
        if self.file.resolve().parent != self.folder.resolve():
            raise CassetteError(f"{self.file}: is a link that leaves the cassette; copy the file into the folder")
        if not raw.strip():
            raise CassetteError(f"{self.file}: is empty; restore it or record again")
        try:
            raw.decode()
        except UnicodeDecodeError as error:
            number = raw.count(b"\n", 0, error.start) + 1
            raise self.error(number, "is no UTF-8 text; restore the file or record again") from None
        return raw

    def _header(self, raw: bytes) -> Header:
        try:
            fields = msgspec.json.decode(raw, type=dict[str, Any])
        except msgspec.MsgspecError as error:
            raise self.error(1, f"is no cassette header: {error}; restore it or record again") from None
        version = fields.get("format")
        if isinstance(version, int) and version > FORMAT:
            raise self.error(
                1, f"format {version} is newer than the {FORMAT} that this simrt reads; upgrade simrt to read it"
            )
        if version != FORMAT:
            raise self.error(1, f"format {version!r} is unknown; this simrt reads format {FORMAT}")
        unknown = sorted(set(fields) - set(Header.__struct_fields__))
        if unknown:
            raise self.error(1, f"unknown header fields: {', '.join(unknown)}; remove them or upgrade simrt")
        try:
            header = msgspec.convert(fields, Header)
            dialect(header.dialect)
        except (msgspec.ValidationError, SimrtError) as error:
            raise self.error(1, f"is no cassette header: {error}") from None
        return header

    def _line(self, raw: bytes, number: int) -> _Line:
        try:
            line = _decode_line(raw)
        except msgspec.ValidationError as error:
            raise self.error(number, f"is no line of a cassette: {error}; undo the edit or upgrade simrt") from None
        except msgspec.DecodeError as error:
            cut = "is cut off" if number == len(self.lines) + 1 else "is no JSON"
            raise self.error(
                number, f"{cut} ({error}); restore it, recover the recording it was made from, or record again"
            ) from None
        frame = (line.event, line.text, line.binary)
        present = [value is not _UNSET for value in (*frame, line.mark, line.closed)]
        if sum(present) != 1 or any(present[:3]) != (line.sender is not _UNSET):
            raise self.error(
                number,
                'must hold "from" with one of "event", "text", "binary"; or "mark"; or "closed"; undo the edit',
            )
        return line

    def _payload(self, line: _Line, number: int) -> str | bytes:
        if line.event is not _UNSET:
            event = bytes(line.event)
            if b'"$audio"' in event:
                event = _REFERENCE.sub(lambda found: self._base64(found, number), event)
                if b'"$audio"' in event:
                    raise self.error(number, _MALFORMED)
            if event[:1] != b"{":
                raise self.error(number, '"event" must be an object; any other message is kept as "text"')
            return event.decode()
        if line.text is not _UNSET:
            return line.text
        assert line.binary is not _UNSET
        try:
            return binascii.a2b_base64(line.binary, strict_mode=True)
        except binascii.Error as error:
            raise self.error(number, f'"binary" is no base64 ({error}); undo the edit or record again') from None

    def _base64(self, found: re.Match[bytes], number: int) -> bytes:
        data, _ = self._lookup(found, number)
        return b'"' + binascii.b2a_base64(data, newline=False) + b'"'

    def _lookup(self, found: re.Match[bytes], number: int) -> tuple[bytes, Track]:
        """The bytes that a reference stands for, and their track."""
        name = found[1].decode()
        track = self._tracks.get(name)
        if track is None:
            try:
                track = self._tracks[name] = read_track(self.folder, name)
            except CassetteError as error:
                raise self.error(number, f"needs audio that cannot be read: {error}") from None
        start, width = int(found[2]), track.format.width
        end = start + int(found[3])
        if end * width > len(track.data):
            raise self.error(
                number,
                f"needs samples {start} to {end} of {name}, which has only {len(track.data) // width}: the audio "
                "file is too short; restore it or record again",
            )
        return track.data[start * width : end * width], track
