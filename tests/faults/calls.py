"""Whole calls of the front desk in a World, for the faults in which the caller takes part."""

from typing import Any

from clients.call import Call
from simrt import CallResult, run_call
from simrt.replay.build import score_of
from simrt.scripts import authored

CASSETTE = score_of(authored("front-desk"))


def called(*faults: str, client: Any = Call, cassette: Any = CASSETTE, **options: Any) -> CallResult:
    """The front desk's call with these faults."""
    return run_call(client, cassette, list(faults), **options)


def kinds(result: CallResult) -> list[str]:
    """The types of the server's events."""
    return [str((frame.event() or {}).get("type")) for frame in result.trace.sent_by("server")]


def replies(result: CallResult) -> list[tuple[object, bool]]:
    """The replies as the caller had them: key, and whether cut off."""
    return [(reply.reply, reply.cut_off) for reply in result.replies]


def marks(result: CallResult) -> list[str]:
    """The faults that have fired."""
    return [str(mark.detail["fault"]) for mark in result.trace.marks if mark.kind == "fault"]
