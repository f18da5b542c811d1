"""The order book against what the caller heard and said: do they agree?"""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

from .book import Order
from .words import says_bye, tells, yes_or_no

if TYPE_CHECKING:
    from simrt import CallResult
    from simrt.result import Reply

_UNHEARD_MS = 20.0  # may be missing from what was heard whole
_SILENT_MS = 100.0  # ... if it is the silence after the last word
PATIENCE_MS = 10_000.0  # a caller who hangs up sooner could not be told


class _Told(NamedTuple):
    """A commentary, when it was appended in ms from pickup, and whether it asks something."""

    t_ms: float
    fact: str
    asks: bool


def mismatches(orders: Iterable[Order], result: "CallResult") -> list[str]:
    """Where the book and a call disagree; empty: reconciled. Orders that nobody asked for are not looked at.

    What was cancelled must have been confirmed by the last words of a turn that answered a question which was heard;
    what the book says was told must have been heard whole, and the other way round. A caller who hung up before they
    could be told, or a connection that broke, is no mismatch.
    """
    sent = _commentaries(result)
    found = []
    for order in orders:
        if not order.asked_by:
            continue
        about = [told for told in sent if order.number in told.fact]
        if order.status == "cancelled" and not _confirmed(order, about, result):
            found.append(f"order {order.number} was cancelled, and the caller never confirmed it")
        heard = any(_heard(order, told, result) for told in about if not told.asks)
        nearly = any(_heard(order, told, result, _SILENT_MS) for told in about if not told.asks)
        asked = any(_heard(order, told, result) for told in about if told.asks)
        if order.told and not nearly:
            found.append(f"order {order.number}: {order.told} was told by the book, and the caller never heard it")
        elif heard and not order.told:
            found.append(f"order {order.number} was heard of by the caller, and the book says untold")
        elif not nearly and not asked and not _excused(about, result):
            found.append(f"order {order.number} was asked for, and nothing was ever heard of it")
    return found


def _heard(order: Order, told: _Told, result: "CallResult", unheard_ms: float = _UNHEARD_MS) -> bool:
    return any(
        _whole(reply, unheard_ms) and tells(reply.heard_text, order.number, told.fact)
        for reply in result.replies
        if reply.from_ms is not None and reply.from_ms >= told.t_ms
    )


def _whole(reply: "Reply", unheard_ms: float = _UNHEARD_MS) -> bool:
    """Whether all of it was heard; a server may break off what has been heard already."""
    return not reply.cut_off or reply.heard_ms > reply.audio_ms - unheard_ms


def _confirmed(order: Order, about: list[_Told], result: "CallResult") -> bool:
    """Whether a turn that ends in a yes came after the question was heard."""
    asked = [told for told in about if told.asks]
    heard_ms = [
        reply.from_ms + reply.heard_ms
        for reply in result.replies
        for told in asked
        if reply.from_ms is not None and _whole(reply) and reply.heard_text == told.fact
    ]
    return any(
        yes_or_no(turn.transcript) and turn.said_ms >= heard - 300 for turn in result.caller_turns for heard in heard_ms
    )


def _excused(about: list[_Told], result: "CallResult") -> bool:
    """Whether nobody could be told: the connection broke, or the caller left."""
    if not any(event.get("type") == "session.close" for _, event in _sent(result)):
        return True
    if result.line.hung_up_by != "caller":
        return any(says_bye(turn.transcript) for turn in result.caller_turns[-1:]) and not about
    since_ms = max([told.t_ms for told in about] + [turn.said_ms for turn in result.caller_turns])
    return result.virtual_ms - since_ms < PATIENCE_MS


def _commentaries(result: "CallResult") -> list[_Told]:
    return [
        _Told(t_ms, str(event.get("content")), event.get("expects_reply") is True)
        for t_ms, event in _sent(result)
        if event.get("type") == "session.commentary.append"
    ]


def _sent(result: "CallResult") -> list[tuple[float, dict[str, Any]]]:
    """What the client sent, audio apart, and when."""
    found = []
    for opened_ms, trace in zip(result.opened_ms, result.traces, strict=True):
        for frame in trace.sent_by("client"):
            if "input_audio.append" not in str(frame.payload)[:60]:
                found.append((opened_ms + frame.t_us / 1000, frame.event() or {}))
    return found
