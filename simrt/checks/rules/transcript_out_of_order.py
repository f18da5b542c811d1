"""The client's own record of the conversation has a line of the caller's behind the reply to it.

Nobody on the line notices. Whoever reads the log does, and a client that builds its history from it asks the model
things in an order in which nobody said them.

The transcript of what the caller said is made beside the response, and often comes after it
(`conversation.item.input_audio_transcription.completed` in the middle of the reply, or behind its `response.done`).
The order of the conversation is that of its items: `previous_item_id`, and the order of `conversation.item.added`.

The rule reads what a client writes with `line.transcript(role, text, item_id)`; one that never does is not judged.

To mend: keep a place for the caller's line when its item is added, or when the audio is committed, and put the words
there when they come (`line.transcript` with the same `item_id` does).
"""

from collections.abc import Iterator

from simrt.caller.line import Written
from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case


@rule("PRO314", "transcript-out-of-order", "The client's transcript has the caller's words behind the reply to them")
def check(case: Case) -> Iterator[Finding]:
    """Each line of the caller's that stands behind one of the agent's that came later in the conversation."""
    if case.line is None:
        return
    order, texts = _order(case), _texts(case)
    latest: tuple[int, Written] | None = None
    for written in case.line.written:
        item_id = written.item_id or _by_text(texts, written)
        place = order.get(item_id or "")
        if place is None:
            continue
        if written.role == "assistant":
            latest = (place, written) if latest is None or place > latest[0] else latest
        elif latest is not None and place < latest[0]:
            yield found(
                written.t_us,
                f"{written.text[:60]!r} is written behind {latest[1].text[:60]!r}, which it came before",
                role=written.role,
                item_id=item_id,
            )


def _order(case: Case) -> dict[str, int]:
    """The items of the conversation by their place in it."""
    order: dict[str, int] = {}
    for event in case.received("conversation.item.added", "conversation.item.done", "input_audio_buffer.committed"):
        item_id = event.text("item", "id") or event.text("item_id")
        if item_id and item_id not in order:
            order[item_id] = len(order)
    return order


def _texts(case: Case) -> list[tuple[str, str, str]]:
    """What was said in which item: (role, words, item id)."""
    texts = [("user", _plain(turn.text), turn.item_id) for turn in case.turns if turn.text]
    texts += [("assistant", _plain(item.text), item.id) for r in case.responses for item in r.items if item.text]
    return texts


def _by_text(texts: list[tuple[str, str, str]], written: Written) -> str | None:
    """The item that a line without an id must be of: the first with these words; each is used once."""
    wanted = (written.role, _plain(written.text))
    for place, (role, text, item_id) in enumerate(texts):
        if text and (role, text) == wanted:
            del texts[place]
            return item_id
    return None


def _plain(text: str | None) -> str:
    return " ".join((text or "").lower().split())
