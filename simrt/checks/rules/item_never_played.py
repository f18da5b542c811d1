"""An item of a response had audio, and none of it was ever played.

A listener hears the first part of what the agent has to say and never the second, or no reply at all.

A response may hold several message items (`output_index` 0, 1, …), and an item several parts of content; each has
deltas of its own, with its `item_id` and `content_index`. A client that keeps a single "current item", or stops
listening at the first `response.output_audio.done`, loses all others.

To mend: play the audio of every item, in the order in which it comes; only `response.done` ends a response.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.unheard import unheard


@rule("AGT207", "item-never-played", "Nothing of an item's audio was played, though nothing interrupted it")
def check(case: Case) -> Iterator[Finding]:
    """Items of which nothing was heard, but for those that the client hung up on (AGT201)."""
    for lost in unheard(case):
        if lost.at_the_end or lost.heard_us:
            continue
        spoken = [item for item in lost.response.items if item.audio_us]
        place = f"item {spoken.index(lost.item) + 1} of {len(spoken)} in" if len(spoken) > 1 else "all of"
        said = f": “{lost.item.text}”" if lost.item.text else ""
        yield found(
            lost.when_us,
            f"{place} a response was never played, {lost.sent_us / 1000:.0f} ms of audio{said}",
            event=lost.item.pieces[0].event,
            item_id=lost.item.id,
            response_id=lost.response.id,
            sent_ms=lost.sent_us / 1000,
        )
