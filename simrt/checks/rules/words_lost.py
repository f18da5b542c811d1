"""What the caller says in the middle of the call does not reach the server.

A listener notices that the agent mishears, or does not react at all.

The microphone gives a frame every 20 ms; each has to be sent, once and in order. Usual causes: a queue that drops
frames when the socket is slow, a task that reads the microphone and waits for something else, audio that is thrown
away while a tool runs or while the connection is made anew.

To mend: read the microphone in a task of its own, let its queue grow while the socket is busy, and hold the frames
(`hold_ms` of them) over a reconnect.
"""

from collections.abc import Iterator

from simrt.checks.arrival import lost_words
from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case


@rule("CLR103", "words-lost", "Words said in the middle of the call did not reach the server", harm="legal")
def check(case: Case) -> Iterator[Finding]:
    """One finding for each thing that was said."""
    for lost in lost_words(case):
        if lost.when == "else":
            yield found(
                lost.t_us,
                f"{len(lost.words)} of the caller's words never reached the server: “{' '.join(lost.words)}”",
                words=lost.words,
            )
