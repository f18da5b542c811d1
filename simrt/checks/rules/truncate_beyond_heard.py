"""A `conversation.item.truncate` says that the caller heard more than they did.

A listener notices it later: the agent believes that it has said what was never heard ("as I told you …").

Over a WebSocket the server cannot know what was played; `audio_end_ms` is all it learns. What was received, or queued,
or handed to a carrier that buffers, has not been heard: a reply often arrives far ahead of being spoken.

To mend: ask the speaker for its position when the caller cuts in (a carrier: its returned marks), and state that.
`truncate_ms` are forgiven.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.hearing import Hearing
from simrt.checks.protocol import item_of, sent_by
from simrt.checks.responses import Item


@rule("PRO305", "truncate-beyond-heard", "A conversation.item.truncate beyond what the caller heard")
def check(case: Case) -> Iterator[Finding]:
    """Each truncate of more than was heard; where it is more than was sent as well, PRO304 says so."""
    hearing = case.hearing
    if hearing is None:
        return
    for truncate in case.sent("conversation.item.truncate"):
        item, end_ms = item_of(case, truncate), truncate.number("audio_end_ms")
        if item is None or end_ms is None or end_ms * 1000 > sent_by(item, truncate) + 1000:
            continue
        if not all(hearing.known(piece) for piece in item.pieces if piece.t_us <= truncate.t_us and piece.audio_us):
            continue
        heard_ms = heard_until(hearing, item, truncate.t_us) / 1000
        if end_ms > heard_ms + case.limits.truncate_ms:
            yield found(
                truncate,
                f"tells the server that {end_ms:.0f} ms of {item.id} were heard; it were {heard_ms:.0f} ms",
                end_ms=end_ms,
                heard_ms=heard_ms,
            )


def heard_until(hearing: Hearing, item: Item, t_us: int) -> int:
    """How far into an item the caller had heard by then, in µs."""
    reached = 0
    for heard in hearing.of(item):
        if heard.start_us < t_us:
            over = max(0, heard.end_us - t_us)
            reached = max(reached, heard.to_us - min(over, heard.to_us - heard.from_us))
    return reached
