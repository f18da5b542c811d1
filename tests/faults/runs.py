"""The same call with and without a fault."""

from collections.abc import Sequence

from simrt.errors import PlanError
from simrt.faults.plan import check_plan, parse_plan
from simrt.replay.score import Score
from tests.replay.hand import Call, Got, front_desk, whole_call

__all__ = ["Call", "fired", "front_desk", "plain", "refused", "times", "whole_call", "with_fault"]

_PLAIN: list[Call] = []


def plain() -> Call:
    """The front desk with nothing wrong; run once."""
    if not _PLAIN:
        _PLAIN.append(whole_call())
    return _PLAIN[0]


def with_fault(*faults: str, seed: int = 0) -> Call:
    """The front desk with these."""
    check_plan(parse_plan(faults), front_desk())
    return whole_call(front_desk(), faults, seed)


def times(call: Call, kind: str | None = None, reply: int | None = None) -> list[float]:
    """When events came: of one type, or the audio of one reply."""
    return [got.ms for got in call.got if (kind is None or got.kind == kind) and _of_reply(got, reply)]


def _of_reply(got: Got, reply: int | None) -> bool:
    return reply is None or (got.send.reply == reply and bool(got.send.audio))


def fired(call: Call) -> list[tuple[float, str]]:
    """The faults' marks: when, and which."""
    return [(mark.t_us / 1000, mark.detail["fault"]) for mark in call.session.marks if mark.kind == "fault"]


def refused(fault: str, score: Score | None = None) -> str:
    """The message of the PlanError that this fault gets on the front desk."""
    try:
        check_plan(parse_plan([fault]), score or front_desk())
    except PlanError as error:
        return str(error)
    raise AssertionError(f"{fault} was accepted")


def shifts(call: Call, kinds: Sequence[str] = ()) -> list[float]:
    """By how much each frame is later than without a fault; the frames must be the same ones in the same order."""
    before, after = plain().got, call.got
    assert [got.event["event_id"] for got in before] == [got.event["event_id"] for got in after]
    return [round(b.ms - a.ms, 3) for a, b in zip(before, after, strict=True) if not kinds or a.kind in kinds]
