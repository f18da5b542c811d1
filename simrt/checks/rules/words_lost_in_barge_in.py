"""What the caller says while the agent speaks does not reach the server, or its beginning does not.

A listener notices that the agent talks on, or that it hears only the end of "No, wait, the other card".

The server finds a barge-in in the audio that it gets; the same audio is the beginning of the caller's next turn. A
client that closes the microphone while the agent speaks (against echo), or that begins to send only when its own voice
detection is sure, cuts off the first syllables, which mostly are the ones that count.

To mend: send the microphone all the time; cancel echo instead of gating; where a local detector decides, send what it
had to hear first (300 ms and more) as well.
"""

from collections.abc import Iterator

from simrt.checks.arrival import lost_words
from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case


@rule("CLR102", "words-lost-in-barge-in", "Words said over the agent did not reach the server", harm="legal")
def check(case: Case) -> Iterator[Finding]:
    """One finding for each thing that was said."""
    for lost in lost_words(case):
        if lost.when == "barge-in":
            yield found(
                lost.t_us,
                f"{len(lost.words)} words said over the agent never reached the server: “{' '.join(lost.words)}”",
                words=lost.words,
            )
