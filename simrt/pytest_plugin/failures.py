"""What a failed test leaves behind: its calls in the report, their traces and audio in a folder."""

import hashlib
import re
import shutil
from collections.abc import Callable
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

import msgspec
import pytest

from simrt.caller.render import write_wav
from simrt.cassette.header import Header
from simrt.cassette.redact import Redactor
from simrt.cassette.store import Cassette, save
from simrt.dialect import dialect, dialect_for_url
from simrt.result import CallResult
from simrt.trace import Mark, Trace

_NAME = 120  # characters of a folder's name


class Call(msgspec.Struct):
    """One call of a test."""

    result: CallResult
    cassette: str
    profile: str
    faults: list[str]


class CallLog(msgspec.Struct):
    """The calls of a test. `open` gives the calls that the test has not ended itself."""

    calls: list[Call] = []
    open: list[Callable[[], Call | None]] = []


LOG = pytest.StashKey[CallLog]()


def log_of(item: pytest.Item) -> CallLog:
    """The log of a test; starting it removes what an earlier run of the same test has left."""
    if LOG not in item.stash:
        folder = folder_of(item)
        shutil.rmtree(folder, ignore_errors=True)
        if not hasattr(item.config, "workerinput"):  # others may be about to write there
            with suppress(OSError):
                folder.parent.rmdir()  # if it is empty now
        item.stash[LOG] = CallLog()
    return item.stash[LOG]


def folder_of(item: pytest.Item) -> Path:
    """Where the remains of this test go: below the ini setting `simrt_failures`, a folder named after the test."""
    file, _, test = item.nodeid.partition("::")
    plain = f"{file.removesuffix('.py').replace('/', '.')}.{test.replace('::', '.')}"
    name = re.sub(r"[^\w.\[\]-]", "_", plain)
    if name != plain or len(name) > _NAME:
        name = f"{name[:_NAME]}-{hashlib.sha256(item.nodeid.encode()).hexdigest()[:8]}"
    return item.config.rootpath / str(item.config.getini("simrt_failures")) / name


def report_failure(item: pytest.Item) -> str:
    """Write the calls of a failed test to its folder; the text for the report, "" when there was none. Secrets
    are in neither."""
    log = item.stash[LOG]
    calls = [*log.calls, *filter(None, (end() for end in log.open))]
    if not calls:
        return ""
    folder = folder_of(item)
    pieces = []
    for number, call in enumerate(calls, 1):
        redactor = Redactor()
        for name, value in call.result.line.headers.items():
            redactor.header(name, value)
        written = _write(call, folder, "" if number == 1 else f"-{number}", redactor, item.nodeid)
        title = f"call {number} of {len(calls)}: " if len(calls) > 1 else ""
        pieces.append(redactor.scrub(title + _text(call)) + f"\n{written}")
    return "\n\n".join(pieces)


def _text(call: Call) -> str:
    result = call.result
    with_faults = f" with {', '.join(call.faults)}" if call.faults else ""
    parts = [f"cassette {call.cassette}{with_faults}"]
    if result.error:
        parts.append(f"error: {result.error}")
    parts.append(f"verdict:\n{_indented(str(result.verdict))}")
    if result.findings:
        parts.append("findings:\n" + _indented("\n".join(map(str, result.findings))))
    parts.append(f"transcript:\n{_indented(result.transcript or 'nobody was heard')}")
    parts.append("client's log:\n" + _indented("\n".join(result.log) or "empty"))
    return "\n".join(parts)


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _write(call: Call, folder: Path, suffix: str, redactor: Redactor, nodeid: str) -> str:
    """Cassettes, audio and text of one call; says where they are, or why they are not."""
    result = call.result
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for number, trace in enumerate(result.traces):
            more = f".{number + 1}" if number else ""
            note = f"a simulated call of {nodeid}, from the cassette {call.cassette}, faults: {call.faults or 'none'}"
            _save(trace, call.profile, folder / f"trace{suffix}{more}", redactor, note)
        write_wav(folder / f"call{suffix}.wav", result.audio())
        rows = "".join(f"{row.t_ms:>10.1f}  {row.who:<8}  {row.what}\n" for row in result.timeline)
        text = redactor.scrub(f"{_text(call)}\ntimeline (ms):\n{rows}")
        (folder / f"call{suffix}.txt").write_text(text, encoding="utf-8")
    except Exception as error:  # the test's own failure is what the report is about
        return redactor.scrub(f"trace and audio could not be written to {folder}: {type(error).__name__}: {error}")
    return f"trace, audio and timeline: {folder}"


def _save(trace: Trace, profile: str, path: Path, redactor: Redactor, note: str) -> None:
    name = dialect_for_url(trace.opening.url)
    speaks = dialect(name)
    opening = redactor.opening(trace.opening)
    clean = Trace(
        opening,
        [msgspec.structs.replace(frame, payload=redactor.payload(frame.payload, speaks)) for frame in trace.frames],
        None if trace.closing is None else redactor.closing(trace.closing),
        [Mark(mark.t_us, mark.kind, _clean(mark.detail, redactor)) for mark in trace.marks],
    )
    created = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    notes = [redactor.scrub(note)]
    header = Header(
        dialect=name, profile=profile, how="stand-in", created=created, redacted=redactor.redacted, notes=notes
    )
    save(Cassette(header, clean), path, overwrite=True)


def _clean(detail: dict[str, object], redactor: Redactor) -> dict[str, object]:
    text = redactor.rescan(msgspec.json.encode(detail).decode())
    clean: dict[str, object] = msgspec.json.decode(text)
    return clean
