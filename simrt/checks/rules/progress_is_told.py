"""Progress was told as a commentary, and the agent took it for the result.

A listener is told "your order is being looked up" as if it were the answer, twice over, or is asked to hold on by an
agent that has just said so. A commentary is what the agent tells the caller. What it should know and not say (that
work is under way, that nothing is confirmed) is `session.thinking.append`.

The rule reads English: a commentary that says that something is being done, followed by another of the same
delegation.

To mend: send thinking while you work, and one commentary with the facts.
"""

import re
from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.live import Told, live_connections, told

_PROGRESS = re.compile(
    r"\b(is|are|am|'m|'re|still|now) (still |now |being )*(check|look|ask|search|process|fetch|work|verif|be(ing)? )\w*"
    r"|\b(one|a) moment\b|\bhold on\b|\bplease wait\b|\bin progress\b|\b(nothing is|not|not yet) confirmed\b",
    re.IGNORECASE,
)


@rule("LIV604", "progress-is-told", "A commentary that tells of progress, before the one with the result")
def check(case: Case) -> Iterator[Finding]:
    """Each commentary about work under way that another one of the same delegation follows."""
    for connection in live_connections(case):
        commentaries = [one for one in told(case, connection) if one.append.kind == "commentary"]
        for number, one in enumerate(commentaries):
            later = [other for other in commentaries[number + 1 :] if _same_matter(one, other)]
            if later and _PROGRESS.search(one.append.content) and not _PROGRESS.search(later[0].append.content):
                ms = (later[0].t_us - one.t_us) / 1000
                yield found(
                    one.event,
                    f"{one.append.content[:60]!r} is told to the caller; the result followed {ms:.0f} ms later",
                    delegation=one.append.delegation_id,
                )


def _same_matter(one: Told, other: Told) -> bool:
    return one.append.delegation_id is not None and one.append.delegation_id == other.append.delegation_id
