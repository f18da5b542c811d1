"""The agent talks on although the client knows that the caller has begun to talk.

A listener hears both at once: the caller interrupts, and the old reply runs on, for as long as the queue lasts.

`input_audio_buffer.speech_started` says that the caller talks; with `interrupt_response` (the default) the server ends
the response by itself, but it cannot take back audio that it has sent. Replies come faster than they are spoken, so
seconds of audio may wait in the client's queue, in the sound device, or at the carrier (which needs a `clear` of its
own).

To mend: on `speech_started` clear the speaker's queue at once, drop what still comes of that response, and send a
`conversation.item.truncate` with what was heard.

`barge_in_ms` are allowed for it. It is no finding when the session says `interrupt_response: false`, nor when the
reply is taken up again after a turn of which nothing was understood (a cough).
"""

from collections.abc import Iterator

from simrt.checks.barge_in import Interruption, interruptions
from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.hearing import Hearing
from simrt.checks.noise import static


@rule("AGT203", "played-after-barge-in", "The old reply is played on after the client was told that the caller talks")
def check(case: Case) -> Iterator[Finding]:
    """Audio that had come by the time that its response was over, heard too long after `speech_started`."""
    hearing = case.hearing
    if hearing is None or static(case) is not None:
        return
    for one in interruptions(case):
        late_us, until_us = _late(case, hearing, one)
        if late_us <= case.limits.again_ms * 1000:
            continue
        yield found(
            one.event,
            f"the caller talks, and the old reply is heard for {(until_us - one.event.t_us) / 1000:.0f} ms more",
            late_ms=late_us / 1000,
            response_ids=[response.id for response in one.responses],
        )


def _late(case: Case, hearing: Hearing, one: Interruption) -> tuple[int, int]:
    """How much too late was heard, and when the last of it."""
    limit_us = one.event.t_us + round(case.limits.barge_in_ms * 1000)
    late_us, until_us = 0, one.event.t_us
    for response in one.responses:
        over_us = response.done_us
        for heard in hearing.of(response):
            piece = heard.piece
            if piece is None or (over_us is not None and piece.t_us > max(over_us, one.event.t_us)):
                continue
            if piece.t_us > one.event.t_us and response.status != "cancelled":
                continue  # the server went on with it
            end_us = heard.end_us if one.resumed_us is None else min(heard.end_us, one.resumed_us)
            part_us = end_us - max(heard.start_us, limit_us)
            if part_us > 0:
                late_us, until_us = late_us + part_us, max(until_us, end_us)
    return late_us, until_us
