"""Part of a reply reached the client and was never played, though nobody interrupted it.

A listener hears words swallowed in the middle of a sentence, or a reply that stops before its end while the call goes
on.

The server sends the audio of a reply once, in order; what the client drops is gone, and the model believes that it was
said. Usual causes: a player that restarts for each chunk, a queue with a limit that drops what does not fit (replies
come far ahead of real time), a clear of the speaker that was meant for the reply before.

To mend: queue every `response.output_audio.delta` and let the speaker play at its own pace; drop audio only when the
caller talks over it or the response was cancelled, and then say so with `conversation.item.truncate`.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.unheard import unheard


@rule("AGT202", "speech-not-heard", "Part of a reply was sent and never heard, though nothing interrupted it")
def check(case: Case) -> Iterator[Finding]:
    """Items that were heard in part; see AGT207 for those of which nothing was, AGT201 for the end of the call."""
    for lost in unheard(case):
        if lost.at_the_end or not lost.heard_us:
            continue
        yield found(
            lost.when_us,
            f"{lost.lost_us / 1000:.0f} of {lost.sent_us / 1000:.0f} ms of a reply were never played",
            event=lost.item.pieces[0].event,
            item_id=lost.item.id,
            response_id=lost.response.id,
            sent_ms=lost.sent_us / 1000,
            heard_ms=lost.heard_us / 1000,
        )
