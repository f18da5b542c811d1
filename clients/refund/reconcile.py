"""The ledger's rows against what the caller heard: do the books and the caller's head agree?"""

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ..tables import table
from .digits import names_card
from .ledger import Row
from .notes import REMINDERS
from .provider import Payment
from .store import CARDS, dollars

if TYPE_CHECKING:
    from simrt import CallResult
    from simrt.result import Reply

Heard = tuple[str, bool]


def mismatches(
    rows: Sequence[Row], payments: Iterable[Payment], replies: "CallResult | Sequence[Heard]", *, left: bool = False
) -> list[str]:
    """Where the rows of a ledger, the provider's payments and what was heard disagree; empty: reconciled.

    `replies`: (what was heard of it, whether it is a holding line) of each reply, in order; or a call, from which
    `replies_of` and `beyond_telling` take them. `left`: the caller left before they could be told, or the model would
    not tell them. A row that says that they were not is then right, and for a message (`Ledger.untold`).
    """
    if isinstance(replies, Sequence):
        heard = replies
    else:
        heard, left = replies_of(replies), left or beyond_telling(replies)
    said = [text for text, is_holding_line in heard if not is_holding_line]
    elsewhere = [] if left and not any(row.told for row in rows) else _elsewhere(rows, said)
    return [*paid_twice(rows, payments), *_told(rows, said, left), *elsewhere]


def paid_twice(rows: Sequence[Row], payments: Iterable[Payment]) -> list[str]:
    """The orders that money was paid for more than once."""
    paid = [payment for payment in payments if not payment.reversed]
    found = []
    for order in dict.fromkeys(row.order for row in rows):
        ids = [row.refund_id for row in rows if row.order == order]
        made = [payment for payment in paid if payment.refund_id in ids]
        if len(ids) > 1:
            found.append(f"order {order} has {len(ids)} refunds: {', '.join(ids)}")
        if len(made) > 1:
            to = ", ".join(f"{dollars(payment.cents)} to {payment.card}" for payment in made)
            found.append(f"order {order} was refunded {len(made)} times: {to}")
    return found


def _told(rows: Sequence[Row], said: Sequence[str], left: bool) -> list[str]:
    found = []
    for row in rows:
        heard = any(names_card(text, row.card) for text in said)
        which = f"order {row.order}: that the refund went to {row.card}"
        if row.told and not heard:
            found.append(f"{which} was told by the ledger, and the caller never heard it")
        elif left:
            continue
        elif row.accepted and not heard:
            found.append(f"{which} was never heard by the caller")
        elif row.accepted and heard and not row.told:
            found.append(f"{which} was heard by the caller, and the ledger says untold")
    return found


def _elsewhere(rows: Sequence[Row], said: Sequence[str]) -> list[str]:
    cards = {row.card for row in rows}
    for text in reversed(said):
        if named := {card for card in CARDS if names_card(text, card)}:
            if named & cards:
                return []
            return [f"the caller last heard of {', '.join(sorted(named))}, and no refund goes there"]
    return []


def replies_of(result: "CallResult") -> list[Heard]:
    """What was heard of each reply of a call, and whether that was a holding line: one that calls issue_refund."""
    holding = {str(event["response_id"]) for _, event in _events(result) if _calls_refund(event)}
    return [(reply.heard_text, response_id in holding) for response_id, reply in _spoken(result).items()]


def beyond_telling(result: "CallResult") -> bool:
    """Whether the desk could not have the caller told: they left, or the model had its reminders and did not say it."""
    return _left_early(result) or _reminded_in_vain(result)


def _reminded_in_vain(result: "CallResult") -> bool:
    """Whether as many reminders as there are were each followed by a request, and that by a reply that came to its end.

    Whether the reply told the caller is seen from what they heard.
    """
    count, step = 0, "remind"
    for sender, event in _events(result):
        kind, item, response = event.get("type"), event.get("item") or {}, event.get("response") or {}
        if sender == "client" and kind == "conversation.item.create" and item.get("role") == "system":
            step = "ask"
        elif step == "ask" and kind == "response.create":
            step = "begin"
        elif step == "begin" and kind == "response.created":
            step = response["id"]
        elif kind == "response.done" and response.get("id") == step and response.get("status") == "completed":
            count, step = count + 1, "remind"
    return count >= REMINDERS


def _left_early(result: "CallResult") -> bool:
    """Whether the caller left before a refund's result was known, or before the reply to it was over.

    They leave by hanging up, or by saying goodbye before the desk could have them told.
    """
    calls: set[str] = set()
    waiting, asked, replies = False, False, list[str]()
    over = could = False  # a reply is over, and no other has been asked for; and as it was when the last one began
    goodbye = ""
    active: set[str] = set()
    for sender, event in _events(result):
        kind, item, response = event.get("type"), event.get("item") or {}, event.get("response") or {}
        if kind == "response.created":
            active.add(response["id"])
        elif kind == "response.done":
            active.discard(response["id"])
        if _calls_refund(event):
            calls.add(item["call_id"])
            waiting, asked, replies, over, could = True, False, [], False, False
        elif item.get("type") == "function_call_output" and item.get("call_id") in calls and sender == "client":
            waiting = False
        elif kind == "response.create":
            asked, over = True, False
        elif kind == "response.created" and not waiting:
            replies.append(response["id"])
            could = over
        elif kind == "response.output_item.added" and item.get("name") == "end_call":
            goodbye = event["response_id"]
        elif kind == "response.done" and not waiting:
            over = over or (response.get("status") == "completed" and bool(response.get("output")))
    if active:
        return True  # and so no other could be asked for
    if result.line.hung_up_by != "caller":
        return not waiting and not (could if goodbye in replies[-1:] else over)
    if waiting or not replies:
        return waiting or asked
    heard = _spoken(result).get(replies[-1])
    return heard is None or heard.cut_off


def _calls_refund(event: dict[str, Any]) -> bool:
    item = event.get("item") or {}
    return event.get("type") == "response.output_item.added" and item.get("name") == "issue_refund"


def _spoken(result: "CallResult") -> "dict[str, Reply]":
    """The replies of which audio was sent, by response: the call's are in the order of being sent, too."""
    kinds = ("response.output_audio.delta", "response.audio.delta")
    ids = dict.fromkeys(str(e["response_id"]) for _, e in _events(result) if e.get("type") in kinds)
    return dict(zip(ids, (reply for reply in result.replies if reply.sent_ms > 0), strict=False))


def _events(result: "CallResult") -> Iterator[tuple[str, dict[str, Any]]]:
    """Every event of a call and who sent it, the caller's audio apart."""
    for trace in result.traces:
        for frame in trace.frames:
            if frame.sender == "server" or "input_audio_buffer.append" not in str(frame.payload)[:80]:
                event = frame.event()
                if event is not None:
                    yield frame.sender, event


_HEADS = ("order", "refund", "amount", "card", "status", "accepted", "told", "asked at", "settles on", "calls")


def ledger_table(rows: Iterable[Row]) -> str:
    """The rows as a table of plain characters, a line each; call ids are counted."""
    cells = [
        (
            row.order,
            row.refund_id,
            dollars(row.cents),
            row.card,
            row.status,
            "yes" if row.accepted else "no",
            "yes" if row.told else "no",
            row.asked_at,
            row.settles_on,
            str(len(row.call_ids)),
        )
        for row in rows
    ]
    return table(_HEADS, cells)
