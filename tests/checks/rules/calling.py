"""Calls of clients that are wrong in one thing, and what one rule finds in them."""

from collections.abc import Sequence
from typing import Any

from simrt import CallError, CallResult, run_call
from simrt.checks import Case, Finding, judge
from simrt.replay.score import Score


def result_of(client: Any, cassette: str | Score, *faults: str, **options: Any) -> CallResult:
    """The call, however it ends."""
    try:
        return run_call(client, cassette, faults, **options)
    except CallError as error:
        if error.result is None:
            raise
        return error.result


def findings(code: str, client: Any, cassette: str | Score, *faults: str, **options: Any) -> list[Finding]:
    """What the rule of that code finds in a call."""
    return judge(Case.of_result(result_of(client, cassette, *faults, **options)), select=[code])


def messages(found: Sequence[Finding]) -> list[str]:
    """What the findings say."""
    return [finding.message for finding in found]
