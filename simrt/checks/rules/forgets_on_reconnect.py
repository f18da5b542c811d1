"""The client connected again, and the new session does not know what was said, or knows it twice.

A listener has to begin again ("how can I help you?" in the middle of a call), or is told the same thing once more.

A session's conversation dies with its connection. What the caller and the agent said has to be put into the new one
(`conversation.item.create` for each message, or a summary in the instructions) before the next `response.create`, each
of them once.

To mend: keep the conversation in the client, as it was heard, and restore it after `session.updated`.
"""

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.events import Connection

_LEAST = 3  # words: shorter ones ("Hi.") stand in many texts
_CARRIERS = ("session.update", "conversation.item.create", "response.create")


@rule("END406", "forgets-on-reconnect", "A new connection lost or repeated what was said before", harm="fatal")
def check(case: Case) -> Iterator[Finding]:
    """Each connection that follows another on which something was said."""
    said: list[str] = []
    for before, after in pairwise(case.connections):
        said += _said(case, before)
        ready = [e for e in after.events if e.kind == "session.updated"]
        if not ready or not said:
            continue
        held, twice = _told(after)
        lost = [text for text in said if text not in held]
        if lost and len(lost) == len(said) and not any(event.kind == "response.created" for event in after.events):
            continue  # nothing was asked of it
        if lost:
            yield found(
                ready[0],
                f"the new session does not know {len(lost)} of {len(said)} things that were said, {lost[0]!r} first",
                lost=lost,
            )
        if twice:
            yield found(ready[0], f"the new session is told {len(twice)} things twice, {twice[0]!r} first", twice=twice)


def _said(case: Case, connection: Connection) -> list[str]:
    """What was said on a connection, by either side."""
    texts = [turn.text for turn in case.turns if turn.connection == connection.number and turn.text]
    hearing = case.hearing
    for response in case.responses:
        if response.connection == connection.number and response.status == "completed":
            heard = [item for item in response.items if hearing is None or hearing.heard_us(item) > item.audio_us * 0.9]
            texts += [item.text for item in heard if item.text]
    return [_plain(text) for text in texts if len(text.split()) >= _LEAST]


def _told(connection: Connection) -> tuple[str, list[str]]:
    """All that a client told a session, as one text; and the items that it told it more than once."""
    held, items = [], []
    for event in connection.events:
        if event.sender == "client" and event.kind in _CARRIERS:
            text = _plain(" ".join(_strings(event.data)))
            held.append(text)
            if event.text("item", "type") == "message":
                items.append(
                    _plain(" ".join(text for part in event.at("item", "content") or () for text in _words(part)))
                )
    once = dict.fromkeys(items)
    return " ".join(held), [text for text in once if items.count(text) > 1 and len(text.split()) >= _LEAST]


def _words(part: Any) -> list[str]:
    """The text of a part of an item's content."""
    return [part[key] for key in ("text", "transcript") if isinstance(part, dict) and isinstance(part.get(key), str)]


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from _strings(part)
    elif isinstance(value, list):
        for part in value:
            yield from _strings(part)


def _plain(text: str) -> str:
    return " ".join(text.lower().split())
