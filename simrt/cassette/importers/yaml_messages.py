"""YAML cassettes of WebSocket messages, as pydantic-ai's tests keep them: a version and a list of `interactions`.

    - kind: message            - kind: close
      direction: sent            code: 1000
      data: {…}                  reason: ''

Some have `at` (seconds) in every interaction and then keep their times; the others get the pacing of `pacing`. A file
of HTTP exchanges (`request`, `response`) has no frames; its exchanges become marks, so that nothing is lost.
"""

import json
import re
from pathlib import Path
from typing import Any

import yaml

from simrt.cassette.importers.common import SENDERS, Source, longest_audio, wholeness
from simrt.cassette.importers.pacing import NOTE, pace
from simrt.dialect import dialect
from simrt.errors import ImportFormatError
from simrt.trace import Closing, Frame, Mark, Sender

_MATCHES = re.compile(rb"^interactions:", re.MULTILINE)
_BASE: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


class _Loader(_BASE):  # type: ignore[misc]
    """Dates stay text: JSON has none."""

    yaml_implicit_resolvers = {  # noqa: RUF012
        first: [(tag, pattern) for tag, pattern in resolvers if tag != "tag:yaml.org,2002:timestamp"]
        for first, resolvers in yaml.SafeLoader.yaml_implicit_resolvers.items()
    }


def matches(raw: bytes) -> bool:
    """Whether this is such a file, by its one necessary key."""
    return raw.lstrip()[:1] != b"{" and _MATCHES.search(raw) is not None


def parse(file: Path, raw: bytes) -> Source:
    rows = _rows(file, raw)
    notes = [] if raw.endswith(b"\n") else ["the source does not end with a line end: its last message may be cut off"]
    if rows and all("request" in row for row in rows):
        return _http(file, rows, notes)
    messages: list[tuple[Sender, str]] = []
    times: list[Any] = []
    end: dict[str, Any] | None = None
    for number, row in enumerate(rows, start=1):
        if end is not None:
            raise _error(file, number, "comes after the close; remove one of them")
        if row.get("kind") == "close":
            end = row
            times.append(row.get("at"))
            continue
        sender = SENDERS.get(str(row.get("direction")))
        if row.get("kind") != "message" or sender is None or "data" not in row:
            raise _error(file, number, "is no message that is understood (kind, direction, data); mend or remove it")
        messages.append((sender, _text(file, number, row["data"])))
        times.append(row.get("at"))
    source = Source(file, notes=notes)
    if rows and all(isinstance(at, (int, float)) for at in times):
        moments = [round(at * 1_000_000) for at in times]
        moments = [max(moments[: i + 1]) for i in range(len(moments))]
    else:
        source.timing = "paced"
        notes.append(NOTE)
        speaks = dialect(source.dialect)
        cut = wholeness(longest_audio(messages, speaks)["client"]) == "truncated"
        moments = pace(messages, speaks, cut=cut)
        moments.append(moments[-1] if moments else 0)
    source.frames = [Frame(t_us, *message) for t_us, message in zip(moments, messages, strict=False)]
    if end is not None:
        source.closing = Closing(
            moments[len(messages)], _code(file, len(rows), end), str(end.get("reason") or ""), "server"
        )
    else:
        notes.append("the source does not say how the connection ended")
    return source


def _rows(file: Path, raw: bytes) -> list[dict[str, Any]]:
    try:
        content = yaml.load(raw, Loader=_Loader)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        line = mark.line + 1 if mark is not None else 1
        raise ImportFormatError(
            f"{file}, line {line}: broken YAML ({error.problem}); restore it, or cut it off before the "
            f"{_start(raw, line)}"
        ) from None
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ImportFormatError(f"{file}: broken YAML ({str(error).splitlines()[0]}); restore it") from None
    rows = content.get("interactions") if isinstance(content, dict) else None
    if not isinstance(rows, list) or not all(isinstance(row, dict) for row in rows):
        raise ImportFormatError(f"{file}: its interactions are no list of messages; restore the file")
    if not rows:
        raise ImportFormatError(f"{file}: has no interactions; there is nothing to import")
    return rows


def _start(raw: bytes, line: int) -> str:
    """Where the broken message begins."""
    lines = raw.split(b"\n")[:line]
    start = next((i for i in range(len(lines), 0, -1) if lines[i - 1].startswith(b"- ")), line)
    return f"message that begins in line {start}"


def _text(file: Path, number: int, data: Any) -> str:
    if isinstance(data, str):
        return data
    try:
        return json.dumps(data, ensure_ascii=False, separators=(",", ":"))
    except (TypeError, ValueError) as error:
        raise _error(file, number, f"holds something that JSON cannot say ({error}); mend or remove it") from None


def _code(file: Path, number: int, end: dict[str, Any]) -> int:
    code = end.get("code")
    if not isinstance(code, int):
        raise _error(file, number, "is a close without a code; mend or remove it")
    return code


def _http(file: Path, rows: list[dict[str, Any]], notes: list[str]) -> Source:
    """HTTP exchanges as marks, in order."""
    marks = [Mark(0, "http", json.loads(_text(file, number, row))) for number, row in enumerate(rows, start=1)]
    notes.append("the source holds HTTP exchanges and no WebSocket message: they are kept as marks, there is no call")
    azure = any(".azure.com" in str(row["request"].get("uri")) for row in rows if isinstance(row["request"], dict))
    return Source(file, marks=marks, timing="paced", profile="azure" if azure else "openai", notes=notes)


def _error(file: Path, number: int, what: str) -> ImportFormatError:
    return ImportFormatError(f"{file}, interaction {number}: {what}")
