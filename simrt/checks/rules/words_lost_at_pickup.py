"""What the caller says before the session is ready does not reach the server.

A listener notices that the agent misses the first words: "Hi, I'm calling about my booking" becomes "about my booking",
and the agent asks back, or answers something else.

Callers speak as soon as the line is up; a session takes 0.2 to 3 s to be ready. A server takes audio that was held and
sent in one burst just as well as audio in real time.

To mend: open the microphone first, hold its frames until `session.updated`, send them in order, then go on live.

A client must hold `hold_ms` of speech; what is older when the session becomes ready may be lost. Words that were said
when there was no connection, or that the line did not give to the client, are not counted.
"""

from collections.abc import Iterator

from simrt.checks.arrival import lost_words
from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case


@rule(
    "CLR101", "words-lost-at-pickup", "Words said before the session was ready did not reach the server", harm="legal"
)
def check(case: Case) -> Iterator[Finding]:
    """One finding for each thing that was said."""
    for lost in lost_words(case):
        if lost.when == "pickup":
            yield found(
                lost.t_us,
                f"{len(lost.words)} of the caller's first words never reached the server: “{' '.join(lost.words)}”",
                words=lost.words,
                ready_ms=None if case.ready_us is None else case.ready_us / 1000,
            )
