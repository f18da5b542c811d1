"""The same audio of a reply is played more than once.

A listener hears a word, a sentence or a whole reply again: "Your order, your order has shipped."

Every `response.output_audio.delta` is to be played once. Usual causes: the whole audio of an item is played when it is
done though its deltas were played as they came, a buffer that is not emptied after a reconnect, two tasks that read
the same queue.

To mend: let one place feed the speaker, once for each delta.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.hearing import Heard


@rule("AGT205", "played-twice", "The same audio of a reply is played more than once")
def check(case: Case) -> Iterator[Finding]:
    """One finding for each run of repeated audio."""
    if case.hearing is None:
        return
    run: list[Heard] = []
    for heard in [*(heard for heard in case.hearing.heard if heard.kind == "again"), None]:
        if run and (heard is None or heard.start_us > run[-1].end_us + 1000):
            again_us = sum(one.end_us - one.start_us for one in run)
            if again_us > case.limits.again_ms * 1000:
                piece = run[0].piece
                yield found(
                    run[0].start_us,
                    f"{again_us / 1000:.0f} ms are heard again that had been heard before",
                    event=piece.event if piece is not None else None,
                    again_ms=again_us / 1000,
                    response_id=piece.event.text("response_id") if piece is not None else None,
                )
            run = []
        if heard is not None:
            run.append(heard)
