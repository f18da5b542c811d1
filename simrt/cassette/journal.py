"""A recording in progress: every frame is with the operating system before it is forwarded.

`NAME.recording/journal.jsonl` holds one JSON object a line: the header, then frames with their text as a JSON string
(or base64 when binary), marks, newly redacted kinds, and at the end the closing. Each line is one write to a file that
is opened for appending, so whatever kills the process, at most the last line is torn. `finish` turns the journal into
the cassette `NAME` and only then removes it; `recover` does so for a journal that nobody finished.
"""

import binascii
import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from simrt.cassette.header import Header
from simrt.cassette.redact import Redactor
from simrt.cassette.writer import CassetteWriter, check_target
from simrt.dialect import dialect
from simrt.errors import CassetteError
from simrt.trace import Closing, Frame, Mark, Sender

SUFFIX = ".recording"
JOURNAL = "journal.jsonl"
VERSION = 1

_encode = msgspec.json.encode


class _Entry(msgspec.Struct, forbid_unknown_fields=True, omit_defaults=True):
    """One line; exactly one of the groups is filled."""

    journal: int | None = None
    header: Header | None = None
    t_us: int | None = None
    sender: Sender | None = msgspec.field(default=None, name="from")
    text: str | None = None
    binary: str | None = None
    mark: Mark | None = None
    redacted: list[str] | None = None
    closing: Closing | None = None


_decode = msgspec.json.Decoder(_Entry).decode


class Journal:
    """Writes one recording. Everything goes through the redactor first.

    `folder` is where the cassette will be; the journal lies beside it in `folder` + ".recording". CassetteError when
    either is there already (an existing cassette only counts without `overwrite`).
    """

    def __init__(self, folder: Path, header: Header, *, redactor: Redactor, overwrite: bool = False) -> None:
        self.folder = Path(folder)
        self._overwrite = overwrite
        self._redactor = redactor
        self._dialect = dialect(header.dialect)
        check_target(self.folder, overwrite)
        place = journal_folder(self.folder)
        try:
            place.mkdir(parents=True)
        except FileExistsError:
            raise CassetteError(
                f"{place}: an unfinished recording of that name is there; recover it, or remove that folder"
            ) from None
        except OSError as error:
            raise CassetteError(f"{place}: cannot be made ({error.strerror}); choose another place") from error
        self._fd: int | None = os.open(place / JOURNAL, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND, 0o644)
        _lock(self._fd)
        self._torn = False
        self._kinds: list[str] = []
        opening = redactor.opening(header.opening)
        origin, notes = redactor.scrub(header.origin), [redactor.scrub(note) for note in header.notes]
        clean = msgspec.structs.replace(header, opening=opening, origin=origin, notes=notes)
        self._write(_encode(_Entry(journal=VERSION, header=clean)))
        self._note_kinds()

    def frame(self, t_us: int, sender: Sender, payload: str | bytes) -> None:
        """Write one message; it is with the operating system when this returns.

        CassetteError when it could not be written (the disk is full, say): then it must not be forwarded.
        """
        clean = self._redactor.payload(payload, self._dialect)
        if isinstance(clean, str):
            self._write(_encode({"t_us": t_us, "from": sender, "text": clean}))
        else:
            data = binascii.b2a_base64(clean, newline=False).decode()
            self._write(_encode({"t_us": t_us, "from": sender, "binary": data}))
        self._note_kinds()

    def mark(self, mark: Mark) -> None:
        """Write a mark beside the frames."""
        detail = self._redactor.rescan(_encode(mark.detail).decode())
        self._write(_encode(_Entry(mark=msgspec.structs.replace(mark, detail=msgspec.json.decode(detail)))))

    def finish(self, closing: Closing) -> Path:
        """Write the end, make the cassette, remove the journal; returns the cassette's folder.

        When this fails the journal stays and can be recovered.
        """
        self._write(_encode(_Entry(closing=self._redactor.closing(closing))))
        self._note_kinds()
        _compile(journal_folder(self.folder), self.folder, self._redactor, overwrite=self._overwrite)
        self.abandon()
        return self.folder

    def abandon(self) -> None:
        """Remove the journal: nothing is kept of this recording. After `finish` this does nothing."""
        if self._fd is not None:
            os.close(self._fd)
            self._fd = None
            shutil.rmtree(journal_folder(self.folder), ignore_errors=True)

    def _note_kinds(self) -> None:
        kinds = self._redactor.redacted
        if kinds != self._kinds:
            self._kinds = kinds
            self._write(_encode(_Entry(redacted=kinds)))

    def _write(self, line: bytes) -> None:
        if self._fd is None:
            raise CassetteError(f"{self.folder}: this recording has ended already; nothing more can be added to it")
        data = (b"\n" if self._torn else b"") + line + b"\n"
        try:
            written = os.write(self._fd, data)
            self._torn = written < len(data)
            while written < len(data):
                written += os.write(self._fd, data[written:])
            self._torn = False
        except OSError as error:
            self._torn = True
            raise CassetteError(
                f"{journal_folder(self.folder)}: the recording cannot be written ({error.strerror}); make room, then "
                "recover what there is"
            ) from error


def journal_folder(folder: Path) -> Path:
    """Where the journal of the cassette `folder` lies."""
    return folder if folder.name.endswith(SUFFIX) else folder.with_name(folder.name + SUFFIX)


def recover(folder: Path, out: Path | None = None, *, redactor: Redactor | None = None) -> Path:
    """Make a cassette from an unfinished recording and remove the journal; returns the cassette's folder.

    `folder`: the `.recording` folder, or the cassette that it was to become. `out`: where to put the cassette instead.
    Every whole line is recovered; the header's notes say what was missing. CassetteError when there is no journal, its
    header is not whole (then not a single frame was recorded), or its recording still runs.
    """
    place = journal_folder(Path(folder))
    target = Path(out) if out is not None else place.with_name(place.name.removesuffix(SUFFIX))
    try:
        fd = os.open(place / JOURNAL, os.O_RDWR)
    except OSError as error:
        raise CassetteError(
            f"{place}: there is no unfinished recording ({error.strerror}); give a folder that ends in {SUFFIX}"
        ) from None
    try:
        if not _lock(fd):
            raise CassetteError(f"{place}: is still being recorded; end that recording first")
        _compile(place, target, redactor or Redactor(), note="recovered from an unfinished recording")
    finally:
        os.close(fd)
    shutil.rmtree(place, ignore_errors=True)
    return target


def _compile(place: Path, target: Path, redactor: Redactor, *, overwrite: bool = False, note: str = "") -> None:
    """Journal to cassette, line by line; each line goes through the redactor again, which by now knows every secret."""
    header, kinds, damaged = _survey(place)
    speaks = dialect(header.dialect)
    last_us, moved, closing = 0, 0, None
    found_before = set(redactor.redacted)
    with CassetteWriter(target, header, overwrite=overwrite) as writer:
        for entry in _entries(place):
            if entry is None:
                continue
            if entry.mark is not None:
                detail = redactor.rescan(_encode(entry.mark.detail).decode())
                t_us = last_us = max(last_us, entry.mark.t_us)
                writer.mark(Mark(t_us, entry.mark.kind, msgspec.json.decode(detail)))
            elif entry.closing is not None:
                closing = entry.closing
            elif entry.sender is not None and entry.t_us is not None:
                moved += entry.t_us < last_us
                last_us = max(last_us, entry.t_us)
                raw = entry.text if entry.text is not None else binascii.a2b_base64(entry.binary or "")
                writer.frame(Frame(last_us, entry.sender, redactor.rescan(raw, speaks)))
        if closing is not None:
            writer.close(msgspec.structs.replace(closing, t_us=max(last_us, closing.t_us)))
        else:
            writer.close(Closing(last_us))
        late = [f"late: {kind}" for kind in redactor.redacted if kind not in found_before and kind not in kinds]
        header.redacted = sorted({*header.redacted, *kinds, *late})
        header.notes += [note] if note else []
        if closing is None:
            header.notes.append("no end was recorded: closed as 1006 at the last frame")
        if damaged:
            header.notes.append(f"{damaged} torn {'line was' if damaged == 1 else 'lines were'} left out")
        if moved:
            header.notes.append(f"{moved} times that went backwards were raised to the time before them")
        writer.commit()


def _survey(place: Path) -> tuple[Header, list[str], int]:
    """The journal's header, what was redacted, and how many lines are torn."""
    entries = _entries(place)
    first = next(entries, None)
    if first is None or first.header is None:
        raise CassetteError(
            f"{place / JOURNAL}, line 1: the header is not whole, so no frame was recorded; remove that folder"
        )
    if (first.journal or 0) > VERSION:
        raise CassetteError(f"{place / JOURNAL}, line 1: was written by a newer simrt; upgrade simrt to recover it")
    kinds: list[str] = []
    damaged = 0
    for entry in entries:
        if entry is None:
            damaged += 1
        elif entry.redacted is not None:
            kinds = entry.redacted
    return first.header, kinds, damaged


def _entries(place: Path) -> Iterator[_Entry | None]:
    """The journal's lines; None for one that is not whole."""
    with (place / JOURNAL).open("rb") as lines:
        for line in lines:
            entry: _Entry | None = None
            with contextlib.suppress(msgspec.MsgspecError, UnicodeDecodeError):
                entry = _decode(line)
            yield entry


def _lock(fd: int) -> bool:
    """Mark the journal as being written, for as long as the process lives; False when another process does so.

    A system without flock has no such mark: always True.
    """
    fcntl: Any
    try:
        import fcntl
    except ImportError:
        return True
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
