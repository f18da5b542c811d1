"""Recordings that other tools made, as cassettes. What a file is, is told from its content, not from its name.

Understood: JSON lines with `t_ms`, `dir`, `event` (clock_lines); JSON lines with `at`, `dir`, `type` (name_lines);
OpenAI Live JSON lines with `t`, `dir`, `event` and byte counts for audio (live_lines); YAML WebSocket cassettes with
`interactions` (yaml_messages), which also may hold plain HTTP exchanges.
"""

import codecs
from pathlib import Path

from simrt.cassette.importers import clock_lines, live_lines, name_lines, yaml_messages
from simrt.cassette.importers.common import Source, assemble, json_lines
from simrt.cassette.redact import Redactor
from simrt.cassette.store import Cassette
from simrt.cassette.writer import LINES
from simrt.errors import ImportFormatError

__all__ = ["import_file"]

_LINE_SHAPES = (
    (clock_lines.KEYS, clock_lines.parse),
    (live_lines.KEYS, live_lines.parse),
    (name_lines.KEYS, name_lines.parse),
)


def import_file(path: str | Path, *, redactor: Redactor | None = None) -> Cassette:
    """Read a foreign recording; nothing is written. Secrets in it are redacted as in a recording of one's own.

    A last line that was cut off is left out, and the header's notes say so. ImportFormatError, naming the line, when
    the file is no recording that is understood or is damaged elsewhere.
    """
    file = Path(path)
    try:
        raw = file.read_bytes().removeprefix(codecs.BOM_UTF8)
    except IsADirectoryError:
        hint = "it is a cassette already, load it" if (file / LINES).exists() else "give one file at a time"
        raise ImportFormatError(f"{file}: is a folder; {hint}") from None
    except OSError as error:
        raise ImportFormatError(f"{file}: cannot be read ({error.strerror}); check the path") from None
    if not raw.strip():
        raise ImportFormatError(f"{file}: is empty; there is nothing to import")
    return assemble(_parse(file, raw), redactor or Redactor())


def _parse(file: Path, raw: bytes) -> Source:
    if yaml_messages.matches(raw):
        return yaml_messages.parse(file, raw)
    if raw.lstrip()[:1] == b"{":
        rows = json_lines(file, raw)
        if "format" in rows.first and "digest" in rows.first:
            raise ImportFormatError(f"{file}: is the {LINES} of a cassette; load the folder around it instead")
        for keys, parse in _LINE_SHAPES:
            if rows.has(keys):
                return parse(rows)
    raise ImportFormatError(
        f"{file}: is no recording that can be imported; understood are JSON lines with t_ms/dir/event, t/dir/event or "
        "at/dir/type, and YAML with interactions"
    )
