"""The agent delegated something, and the client never told it what came of it.

A listener hears "let me check that for you", and then nothing, or an agent that makes something up. A delegation is a
question without words; the client works it out from the transcript, and owes the agent a `session.commentary.append`
with its `delegation_id`. What the caller says meanwhile does not call it off: a late result is still a result.
`session.thinking.append` alone tells the agent something that it will not say.

Who ends the session owes the answer as well, however short the time was.

A delegation before which the caller has said nothing since the one before, or since the agent spoke, has no question
in it: thinking is enough ("this is being dealt with"), and so it is where another commentary follows, and for a goodbye
(the rule reads English) that asks for nothing.

To mend: answer each delegation, also when there is nothing to be found, or nothing to be understood ("ask the caller
to repeat it"); do the work in a task of its own that no interruption cancels.
"""

import re
from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.events import Connection
from simrt.checks.live import closed_by_client, delegated, live_connections, session_span, told

_BYE = re.compile(r"\b(good)?bye\b", re.IGNORECASE)


@rule("LIV603", "delegation-unanswered", "A delegation never got a commentary")
def check(case: Case) -> Iterator[Finding]:
    """Each delegation that had the time, and to which nothing was said, nor to the agent at large after it."""
    if not case.timed:
        return
    for connection in live_connections(case):
        _, end_us = session_span(case, connection)
        events = {e.text("delegation", "id"): e for e in connection.events if e.kind == "session.delegation.created"}
        idle = _idle(connection)
        commentaries = [one for one in told(case, connection) if one.append.kind == "commentary"]
        loose = [one.t_us for one in commentaries if one.append.delegation_id is None]
        for delegation in delegated(case, connection):
            created = events.get(delegation.id)
            if created is None or delegation.outcome not in ("never answered", "progress only"):
                continue
            if delegation.outcome == "progress only" and (
                delegation.id in idle or any(one.t_us >= created.t_us for one in commentaries)
            ):
                continue  # there was nothing to be done, and the agent had something to say afterwards
            waited_ms = (end_us - created.t_us) / 1000
            ended = closed_by_client(case, connection) is not None
            if (waited_ms < case.limits.tool_ms and not ended) or any(t_us >= created.t_us for t_us in loose):
                continue
            how = "was never answered" if not delegation.appends else "got thinking, and never a commentary"
            after = "the client ended the session" if waited_ms < case.limits.tool_ms else "the session went on for"
            yield found(
                created,
                f"delegation {delegation.id} {how}; {after} {waited_ms / 1000:.1f} s"
                + (" later" if waited_ms < case.limits.tool_ms else ""),
                delegation=delegation.id,
                outcome=delegation.outcome,
            )


def _idle(connection: Connection) -> set[str]:
    """The delegations that nobody asked for: since the one before, or since the agent spoke, the caller has said
    nothing, or a goodbye."""
    found, words, turn = set(), "", ""  # `turn`: the words that are not committed yet
    within: list[str] = []  # delegated in the middle of a turn: the rest of it says what it is about
    for event in connection.events:
        if event.kind == "session.input_transcript.delta":
            words, turn = words + (event.text("delta") or ""), turn + (event.text("delta") or "")
        elif event.kind == "kugel.input_transcript.committed":
            text = event.text("text") or ""
            found |= {one for one in within if _takes_leave(text)}
            words, turn, within = words + text, "", []
        elif event.kind == "session.output_transcript.delta":
            words, turn, within = "", "", []
        elif event.kind == "session.delegation.created":
            name = event.text("delegation", "id") or ""
            if not words.strip() or _takes_leave(words):
                found.add(name)
            within += [name] if turn.strip() else []
            words = ""
    return found


def _takes_leave(words: str) -> bool:
    """Whether that is a goodbye which asks for nothing."""
    return _BYE.search(words) is not None and "?" not in words
