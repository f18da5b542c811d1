"""JSON lines with whole events: `{"t_ms": 12.4, "dir": "c2s" | "s2c", "event": {…}}`, ms since the opening."""

import msgspec

from simrt.cassette.importers.common import Rows, Source
from simrt.trace import Frame

KEYS = frozenset({"t_ms", "dir", "event"})


def parse(rows: Rows) -> Source:
    """Events keep their spelling. An `event` that is a string is a message that was no JSON object."""
    frames = []
    for number, t_us, sender, rest in rows.timed("t_ms", 1000):
        if set(rest) != {"event"}:
            raise rows.error(number, f"holds {', '.join(sorted(rest)) or 'no event'} instead of just an event")
        text = bytes(rest["event"]).decode()
        if text.startswith('"'):
            text = msgspec.json.decode(text, type=str)
        elif not text.startswith("{"):
            raise rows.error(number, "its event is neither an object nor a string; mend or remove the line")
        frames.append(Frame(t_us, sender, text))
    return Source(rows.file, frames, notes=[*rows.notes, "the source does not say how the connection ended"])
