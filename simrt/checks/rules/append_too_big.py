"""An `input_audio_buffer.append` holds more audio than the server takes: 15 MiB.

A listener notices that the agent has not heard them: the server refuses the event, and all that was in it is lost.
What is larger still may close the connection (1009).

To mend: send what was held back in pieces; there is no limit on how many follow each other.
"""

from collections.abc import Iterator

import msgspec

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case

LIMIT = 15 * 1024 * 1024
_OTHER = 200  # characters of the event beside the audio


@rule("PRO311", "append-too-big", "An append of more than 15 MiB")
def check(case: Case) -> Iterator[Finding]:
    """Each such append."""
    for connection in case.connections:
        for append in connection.appends:
            size = max(0, append.chars - _OTHER) * 3 // 4
            if size > LIMIT:
                message = f"an append of {size / 1024 / 1024:.1f} MiB: the limit is {LIMIT // 1024 // 1024} MiB"
                made = found(append.t_us, message, connection=append.connection, bytes=size)
                yield msgspec.structs.replace(made, frame=append.frame)
