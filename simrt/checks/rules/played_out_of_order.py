"""Audio is played in another order than it was sent.

A listener hears the pieces of a sentence, or of two replies, mixed up.

The deltas of a response come in the order in which they are to be heard: first by `output_index`, then by
`content_index`, then as they arrive. Usual causes: a task for each delta (tasks that decode or resample at different
speeds overtake one another), one queue for each item with nothing that says whose turn it is.

To mend: hand the deltas to one queue in the order in which they are received, before anything that takes time.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.hearing import Heard
from simrt.checks.responses import Piece


@rule("AGT206", "played-out-of-order", "Audio is played in another order than it was sent")
def check(case: Case) -> Iterator[Finding]:
    """One finding for each response of which something is heard too late."""
    if case.hearing is None:
        return
    reached = -1
    late: dict[str, list[Heard]] = {}
    for heard in case.hearing.heard:
        if heard.kind != "new" or heard.piece is None:
            continue
        if heard.source < reached:
            late.setdefault(heard.piece.event.text("response_id"), []).append(heard)
        reached = max(reached, heard.source)
    for response_id, parts in late.items():
        late_us = sum(heard.end_us - heard.start_us for heard in parts)
        piece = parts[0].piece
        if late_us <= case.limits.again_ms * 1000 or piece is None or _taken_up_again(case, piece, parts[0].start_us):
            continue
        yield found(
            parts[0].start_us,
            f"{late_us / 1000:.0f} ms of a reply are heard after what should have followed them",
            event=piece.event,
            response_id=response_id,
            late_ms=late_us / 1000,
        )


def _taken_up_again(case: Case, piece: Piece, t_us: int) -> bool:
    """Whether the caller had spoken in between: then this is a reply that was taken up again."""
    response = case.response(piece.event.connection, piece.event.text("response_id"))
    since_us = piece.t_us if response is None else response.first_us
    return any(turn.started is not None and since_us < turn.started.t_us < t_us for turn in case.turns)
