"""JSON lines with little more than names: `{"at": 0.005, "dir": "c2s" | "s2c", "type": …}`, seconds, a few fields.

The events are rebuilt with just those fields, so a client that wants ids will not accept them; orders and times are
what such a recording is good for.
"""

import msgspec

from simrt.cassette.importers.common import Rows, Source
from simrt.trace import Frame

KEYS = frozenset({"at", "dir", "type"})


def parse(rows: Rows) -> Source:
    frames = []
    for number, t_us, sender, rest in rows.timed("at", 1_000_000):
        if "type" not in rest:
            raise rows.error(number, "has no type; mend or remove the line")
        frames.append(Frame(t_us, sender, msgspec.json.encode(rest).decode()))
    notes = [*rows.notes, "the source has event names and a few fields only: the events hold just those, no audio"]
    return Source(rows.file, frames, caller_audio="none", agent_audio="none", notes=notes)
