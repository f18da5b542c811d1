"""Audio of the agent's has arrived, the line is quiet, and the client keeps it to itself.

A listener hears silence, then the answer: longer after the question than it had to be.

A delta can be played as soon as it is there; the next one comes before it is over. Usual causes: audio that is
collected until the item is done, a long buffer, a loop that waits for something else (a look-up, a database) and reads
no events meanwhile.

To mend: give each delta to the speaker as it comes, and do all other work in tasks of its own.

The limit is `late_play_ms`.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.silence import dead_air


@rule("AGT213", "played-late", "Audio is kept back while the line is quiet")
def check(case: Case) -> Iterator[Finding]:
    """Quiet stretches at the end of which something is heard that had long been there."""
    for air in dead_air(case, "play"):
        yield found(
            air.start_us,
            f"{air.quiet_ms / 1000:.1f} s of silence although the client had audio to play",
            event=air.debt.event,
            quiet_ms=air.quiet_ms,
        )
