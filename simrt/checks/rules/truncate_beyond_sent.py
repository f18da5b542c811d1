"""A `conversation.item.truncate` names a point that lies beyond the audio that was sent of the item.

A listener notices nothing yet. The server refuses it ("Audio content of 2400ms is already shorter than 3100ms", or
"Only model output audio messages can be truncated" where there was no audio at all), so the history keeps words that
nobody heard; a client that takes the refusal for a disaster falls silent, or hangs up.

It comes of measuring time instead of audio: the clock ran on through a gap in the reply's audio, or the caller spoke
before its first sound.

To mend: count the audio of the item that was handed to the speaker, never more than was received; where nothing was
received or heard, delete the item (`conversation.item.delete`) or leave it.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.protocol import item_of, sent_by


@rule("PRO304", "truncate-beyond-sent", "A conversation.item.truncate beyond the audio that was sent")
def check(case: Case) -> Iterator[Finding]:
    """Each truncate of more than there was, or of what has no audio."""
    if not case.agent_audio_whole:
        return
    for truncate in case.sent("conversation.item.truncate"):
        item, end_ms = item_of(case, truncate), truncate.number("audio_end_ms")
        if item is None or end_ms is None:
            continue
        sent_ms = sent_by(item, truncate) / 1000
        if not sent_ms:
            yield found(truncate, f"truncates {item.id}, of which no audio had been sent", end_ms=end_ms, sent_ms=0)
        elif end_ms > sent_ms + 1:
            yield found(
                truncate,
                f"truncates {item.id} at {end_ms:.0f} ms, but only {sent_ms:.0f} ms of it had been sent",
                end_ms=end_ms,
                sent_ms=sent_ms,
            )
