"""The client hung up while the caller was still hearing the agent, or was about to.

A listener notices that the agent's last words break off, or never come, and that the line is dead.

The audio was there: the server had sent it and the client had received it before the client hung up. A server sends
faster than anybody speaks (a whole goodbye can come within 300 ms), and no event of the Realtime protocol over a
WebSocket ever says that audio was *played*: neither `end_call`, `response.output_audio.done` nor `response.done` means
that the caller has heard it. A fixed sleep is too short for some goodbyes, and an empty queue may only be a pause in
what the server sends.

To mend: hang up when `response.done` has come *and* the speaker has played all that was queued (on a carrier: when the
mark behind the last audio has come back), with a cap on both.

It is no finding when the caller hung up, or talked over the goodbye. When the connection was lost, only what had come
whole must still be played.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.unheard import unheard


@rule("AGT201", "goodbye-not-heard", "The client hung up before the caller had heard what the agent had said")
def check(case: Case) -> Iterator[Finding]:
    for lost in unheard(case):
        if not lost.at_the_end:
            continue
        last = lost.item.pieces[-1].event
        yield found(
            case.end_us,
            f"the client hung up with {lost.lost_us / 1000:.0f} ms of the agent's speech in hand that the caller never "
            f"heard: of {lost.sent_us / 1000:.0f} ms {lost.heard_us / 1000:.0f} ms were played",
            event=last,
            item_id=lost.item.id,
            response_id=lost.response.id,
            sent_ms=lost.sent_us / 1000,
            heard_ms=lost.heard_us / 1000,
        )
