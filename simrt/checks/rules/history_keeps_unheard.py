"""The caller cut in, heard less of the reply than was sent, and the server was never told.

A listener notices it later: the agent takes for said what nobody heard, and does not say it again.

After a barge-in the conversation still holds the whole item, with all its words. `conversation.item.truncate` cuts it
to what was heard; `conversation.item.delete` takes out an item of which nothing was. PolyAI also takes reports of
playback (`poly.output_audio.stopped`).

To mend: when the caller cuts in, clear the speaker and truncate each item that was not played to its end, at the
speaker's position.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.hearing import Hearing
from simrt.checks.responses import Item, Response

_TELLING = (
    "conversation.item.truncate",
    "conversation.item.delete",
    "poly.output_audio.stopped",
)


@rule("PRO306", "history-keeps-unheard", "No conversation.item.truncate after a barge-in")
def check(case: Case) -> Iterator[Finding]:
    """Each item that was cut off by the caller and is still whole in the history."""
    told = {event.text("item_id") or event.text("item", "id") for event in case.sent(*_TELLING)}
    for response in case.responses:
        cut = next((item for item in response.items if item.audio_us and item.id not in told), None)
        if cut is None:
            continue
        if case.hearing is not None:
            yield from _simulated(case, case.hearing, response, told)
        elif case.timed and case.agent_audio_whole:
            yield from _recorded(case, response, told)


def _simulated(case: Case, hearing: Hearing, response: Response, told: set[str]) -> Iterator[Finding]:
    for item in response.items:
        over = response.done.frame if response.done is not None else None  # what comes behind it is no part of it
        own = [piece for piece in item.pieces if over is None or piece.event.frame < over]
        pieces = [piece for piece in own if piece.audio_us and not piece.again]
        if item.id in told or not pieces or not all(hearing.known(piece) for piece in pieces):
            continue
        sent_us = sum(piece.audio_us for piece in pieces)
        heard_us = hearing.heard_us(item)
        last_us = max([heard.end_us for heard in hearing.of(item)], default=pieces[0].t_us)
        cut_us = _barge_in_us(case, response, pieces[0].t_us, max(last_us, pieces[-1].t_us))
        if cut_us is None or sent_us - heard_us <= case.limits.truncate_ms * 1000:
            continue
        if case.end_us - max(cut_us, last_us) < case.limits.goodbye_ms * 1000:
            continue  # the call ended over it
        yield _finding(case, item, cut_us, sent_us, heard_us, "were heard")


def _recorded(case: Case, response: Response, told: set[str]) -> Iterator[Finding]:
    """Of a recording only this is certain: nobody had heard more than there had been time for."""
    if response.status != "cancelled" or response.reason != "turn_detected":
        return
    for item in response.items:
        if item.id in told or not item.pieces:
            continue
        first_us = item.pieces[0].t_us
        cut_us = _barge_in_us(case, response, first_us, response.done_us or first_us)
        if cut_us is None or case.end_us - cut_us < case.limits.goodbye_ms * 1000:
            continue
        most_us = max(0, cut_us - first_us)
        if item.audio_us - most_us > case.limits.truncate_ms * 1000:
            yield _finding(case, item, cut_us, item.audio_us, most_us, "can have been heard when the caller cut in")


def _finding(case: Case, item: Item, t_us: int, sent_us: int, heard_us: int, how: str) -> Finding:
    turn = next((turn.started for turn in case.turns if turn.started is not None and turn.started.t_us == t_us), None)
    return found(
        t_us,
        f"the history keeps all {sent_us / 1000:.0f} ms of {item.id}, of which {heard_us / 1000:.0f} ms {how}",
        event=turn or item.pieces[-1].event,
        sent_ms=sent_us / 1000,
        heard_ms=heard_us / 1000,
    )


def _barge_in_us(case: Case, response: Response, from_us: int, to_us: int) -> int | None:
    """When the client learnt that the caller cut in between these moments; None: they did not."""
    starts = [
        turn.started.t_us
        for turn in case.turns
        if turn.started is not None
        and turn.connection == response.connection
        and from_us <= turn.started.t_us <= to_us + case.limits.barge_in_ms * 1000
    ]
    if starts:
        return starts[0]
    return response.done_us if response.reason == "turn_detected" else None
