"""The parcel service on a Live session: by hand, and as whole calls of its right client."""

from functools import cache
from typing import Any

from clients.parcel import Parcel
from simrt import CallResult, run_call
from simrt.errors import PlanError
from simrt.faults.plan import check_plan, parse_plan
from tests.replay.hand import React
from tests.replay.live_hand import LiveCall, answering, parcel

__all__ = ["by_hand", "called", "fired", "marks", "never", "sent"]

GREETED_MS = 3000


def by_hand(
    *faults: str, profile: str = "openai", until_ms: float = 20_000, react: React | None = None, **session: Any
) -> LiveCall:
    """A session whose caller asks where the parcel is, 3 s after the start, and whose client answers (or `react`)."""
    score = parcel(profile)
    check_plan(parse_plan(faults), score)
    call = LiveCall(score, faults, react=react or answering(), **session)
    call.stream(450, until_ms, (GREETED_MS, "parcel-where"))
    call.run(until_ms + 5000)
    return call


def fired(call: LiveCall) -> list[tuple[float, str]]:
    """The faults' marks: when, and which."""
    return [(mark.t_us / 1000, mark.detail["fault"]) for mark in call.session.marks if mark.kind == "fault"]


def called(*faults: str, cassette: str = "parcel-status", client: Any = Parcel) -> CallResult:
    """A shipped call of the parcel service with these faults."""
    return _whole(faults, cassette, client)


@cache
def _whole(faults: tuple[str, ...], cassette: str, client: Any) -> CallResult:
    return run_call(client, cassette, list(faults))


def sent(result: CallResult, kind: str) -> list[tuple[float, dict[str, Any]]]:
    """The server's events of a type: when (ms), and what."""
    events = ((frame.t_us / 1000, frame.event() or {}) for frame in result.trace.sent_by("server"))
    return [(ms, event) for ms, event in events if event.get("type") == kind]


def marks(result: CallResult) -> list[str]:
    """The faults that have fired."""
    return [str(mark.detail["fault"]) for mark in result.trace.marks if mark.kind == "fault"]


def never(fault: str, profile: str = "openai") -> str:
    """The message of the PlanError that this fault gets on the parcel service's call."""
    try:
        check_plan(parse_plan([fault]), parcel(profile))
    except PlanError as error:
        return str(error)
    raise AssertionError(f"{fault} was accepted")
