"""Audio that reached the client and that the caller never heard, though nothing stood in its way.

What need not be heard: what was interrupted (the caller spoke, the response was cancelled, the client told the server
that it cut the item short), what came after the caller had hung up, what an event brought a second time, and, when the
connection was lost, an item that had not come whole.
"""

import msgspec

from simrt.audio import FRAME_MS
from simrt.checks.case import Case, once
from simrt.checks.events import Event
from simrt.checks.hearing import Hearing, overlap, united
from simrt.checks.noise import static
from simrt.checks.playout import last_of
from simrt.checks.responses import Item, Piece, Response

_FRAME_US = FRAME_MS * 1000


class Unheard(msgspec.Struct, frozen=True):
    """Of an item of which `sent_us` should have been heard, from `when_us` on, `heard_us` were. `at_the_end`: the
    client hung up on it."""

    response: Response
    item: Item
    sent_us: int
    heard_us: int
    when_us: int
    at_the_end: bool

    @property
    def lost_us(self) -> int:
        """How much was not heard."""
        return self.sent_us - self.heard_us


@once
def unheard(case: Case) -> list[Unheard]:
    """The items of which more was lost than the limit, in order; none for a recording."""
    hearing = case.hearing
    if hearing is None or static(case) is not None:
        return []
    found = []
    for response in case.responses:
        for item in response.items:
            lost = _of_item(case, hearing, response, item)
            if lost is not None:
                found.append(lost)
    return found


def interrupted_us(case: Case, response: Response) -> int | None:
    """When the client had a reason to fall silent in the middle of this response: the caller began to talk, or it was
    cancelled by either side. None: it never had."""
    moments = [
        event.t_us
        for event in case.connections[response.connection].events
        if event.t_us >= response.first_us and _interrupts(event, response)
    ]
    if response.done is not None and response.status in ("cancelled", "failed"):
        moments.append(response.done.t_us)
    return min(moments, default=None)


def _interrupts(event: Event, response: Response) -> bool:
    if event.sender == "server":
        return event.kind == "input_audio_buffer.speech_started"
    if event.kind == "response.cancel":
        named = event.text("response_id")
        return named == response.id or (not named and response.active(event.t_us))
    if event.kind in ("conversation.item.truncate", "conversation.item.delete"):
        return any(item.id == event.text("item_id") for item in response.items)
    return False


def _of_item(case: Case, hearing: Hearing, response: Response, item: Item) -> Unheard | None:
    if not item.pieces or _broken_off(case, item, response) or _waited(case, response):
        return None
    stop_us = interrupted_us(case, response)
    if case.hung_up_by != "client":
        stop_us = min(case.end_us, case.end_us if stop_us is None else stop_us)
    before = [h for h in hearing.of(response) if stop_us is None or h.start_us < stop_us]
    reached = max((h.piece.event.frame for h in before if h.piece is not None), default=-1)
    wanted = [piece for piece in item.pieces if _due(case, hearing, piece, stop_us, reached)]
    ranges = united((piece.from_us, piece.from_us + piece.audio_us) for piece in wanted)
    heard = hearing.ranges(item)
    sent_us = sum(high - low for low, high in ranges)
    heard_us = sum(overlap(heard, low, high) for low, high in ranges)
    slack_us = case.limits.unheard_ms * 1000 + (_FRAME_US if any(h.converted for h in hearing.of(item)) else 0)
    if sent_us - heard_us <= slack_us:
        return None
    over_us = last_of(wanted, case.playout) or wanted[-1].t_us
    tail_us = ranges[-1][1] - (heard[-1][1] if heard else 0)
    at_the_end = stop_us is None and tail_us > slack_us and over_us > case.end_us - case.limits.late_play_ms * 1000
    when_us = case.playout.get(id(wanted[0]), (wanted[0].t_us, 0))[0]
    return Unheard(response, item, sent_us, heard_us, when_us, at_the_end)


def _due(case: Case, hearing: Hearing, piece: Piece, stop_us: int | None, reached: int) -> bool:
    """Whether a piece should have been heard: before the client had a reason to stop, if it played what it got.

    That is so when something behind it in the response was heard (the last that was came with frame `reached`), or when
    the line was quiet at its time.
    """
    if piece.again or not hearing.known(piece) or piece.t_us >= case.end_us:
        return False
    if stop_us is None:
        return True
    start_us, end_us = case.playout.get(id(piece), (0, stop_us + 1))
    if end_us > stop_us:
        return False
    if reached > piece.event.frame:
        return True
    quiet = overlap(hearing.speech, start_us, end_us) * 2 < end_us - start_us
    return quiet and end_us + case.limits.play_ms * 1000 <= stop_us


def _broken_off(case: Case, item: Item, response: Response) -> bool:
    """Whether the item is a fragment because the connection was lost."""
    if case.connections[item.connection].closed_by not in ("server", "network"):
        return False
    return item.audio_done is None and item.done is None and response.done is None


def _waited(case: Case, response: Response) -> bool:
    """Whether this is a goodbye whose end the client awaited for as long as can be asked of it."""
    told = [call.ready_us for call in case.calls if call.response is response and call.ready_us is not None]
    return any(case.end_us - ready_us >= case.limits.hang_up_ms * 1000 for ready_us in told)
