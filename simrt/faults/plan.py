"""Plans: lists of faults, as Python objects or in the compact form `stall:reply=-1,at=1500ms,for=500ms`."""

import difflib
import re
from collections.abc import Iterable, Iterator, Sequence
from random import Random

import msgspec

from simrt.errors import PlanError
from simrt.faults.ack_reorder import AckReorder
from simrt.faults.arguments import Arguments
from simrt.faults.backchannel import Backchannel
from simrt.faults.background import Background
from simrt.faults.bandwidth import Bandwidth
from simrt.faults.barge_in import BargeIn
from simrt.faults.base import Fault, compact, is_duration
from simrt.faults.burst import Burst
from simrt.faults.clog import Clog
from simrt.faults.close import Close
from simrt.faults.collide import Collide
from simrt.faults.cough import Cough
from simrt.faults.delay import Delay
from simrt.faults.drop import Drop
from simrt.faults.duplicate import Duplicate
from simrt.faults.error_event import ErrorEvent
from simrt.faults.expire import Expire
from simrt.faults.extra_turn import ExtraTurn
from simrt.faults.fail import Fail
from simrt.faults.freeze import Freeze
from simrt.faults.hang import Hang
from simrt.faults.hang_up import HangUp
from simrt.faults.ignore import Ignore
from simrt.faults.incomplete_call import IncompleteCall
from simrt.faults.late_ack import LateAck
from simrt.faults.late_audio import LateAudio
from simrt.faults.late_commentary import LateCommentary
from simrt.faults.late_commit import LateCommit
from simrt.faults.late_delegation import LateDelegation
from simrt.faults.late_pickup import LatePickup
from simrt.faults.late_ready import LateReady
from simrt.faults.late_transcript import LateTranscript
from simrt.faults.latency import Latency
from simrt.faults.lost_ack import LostAck
from simrt.faults.mutate import Mutate
from simrt.faults.mute import Mute
from simrt.faults.no_pong import NoPong
from simrt.faults.oversize import Oversize
from simrt.faults.rechunk import Rechunk
from simrt.faults.refuse import Refuse
from simrt.faults.reject import Reject
from simrt.faults.reorder import Reorder
from simrt.faults.repeat_call import RepeatCall
from simrt.faults.reset import Reset
from simrt.faults.second_delegation import SecondDelegation
from simrt.faults.second_item import SecondItem
from simrt.faults.session_closed import SessionClosed
from simrt.faults.speaks_on import SpeaksOn
from simrt.faults.spread import Spread
from simrt.faults.stall import Stall
from simrt.faults.stray_delegation import StrayDelegation
from simrt.faults.unspoken import Unspoken
from simrt.faults.wrong_format import WrongFormat
from simrt.replay.score import Score

FAULTS: dict[str, type[Fault]] = {
    kind.name: kind
    for kind in (
        Stall,
        Clog,
        Latency,
        Bandwidth,
        LateReady,
        LateTranscript,
        Delay,
        Drop,
        Duplicate,
        Reorder,
        Mutate,
        Oversize,
        Rechunk,
        SecondItem,
        WrongFormat,
        Fail,
        Hang,
        Collide,
        Reject,
        Ignore,
        Arguments,
        IncompleteCall,
        RepeatCall,
        Burst,
        BargeIn,
        LateAudio,
        Backchannel,
        Background,
        Cough,
        SpeaksOn,
        ExtraTurn,
        LatePickup,
        Mute,
        HangUp,
        Refuse,
        ErrorEvent,
        Expire,
        Close,
        Reset,
        NoPong,
        Spread,
        Freeze,
        LateAck,
        LostAck,
        AckReorder,
        LateDelegation,
        SecondDelegation,
        StrayDelegation,
        LateCommentary,
        Unspoken,
        LateCommit,
        SessionClosed,
    )
}

_PART = re.compile(r'((?:"(?:[^"\\]|\\.)*"|[^,"])*)(?:,|$)')
_DURATION = re.compile(r"(\d+(?:\.\d+)?)(ms|s)")


def parse_fault(text: str) -> Fault:
    """A fault from its compact form; a value with a comma stands in quotes, as in JSON.

    PlanError names what is misspelt and what there is instead.
    """
    name, _, rest = text.partition(":")
    kind = FAULTS.get(name.strip())
    if kind is None:
        raise PlanError(f"no fault is called {name!r}{_meant(name, FAULTS)}; there are: {', '.join(FAULTS)}")
    fields = {info.encode_name: info for info in msgspec.structs.fields(kind)}
    values: dict[str, object] = {}
    for part in _parts(text, rest):
        key, equals, value = (piece.strip() for piece in part.partition("="))
        if key not in fields:
            raise PlanError(f"fault {text!r}: {name} has no {key!r}{_meant(key, fields)}; it has: {', '.join(fields)}")
        if not equals or not value:
            raise PlanError(f"fault {text!r}: {key} has no value; write {key}=…")
        if key in values:
            raise PlanError(f"fault {text!r}: {key} stands there twice")
        if value.startswith('"'):
            value = _unquoted(text, value)
        values[key] = _milliseconds(text, key, value) if is_duration(fields[key].type) else value
    try:
        return msgspec.convert(values, kind, strict=False)
    except msgspec.ValidationError as error:
        raise PlanError(f"fault {text!r}: {_plainly(str(error))}") from None


def _plainly(complaint: str) -> str:
    """msgspec's complaint without its dress: "reply: expected int, got str"."""
    said, _, place = complaint.replace("`", "").partition(" - at ")
    return f"{place.removeprefix('$.')}: {said[:1].lower()}{said[1:]}" if place else said


def _parts(text: str, rest: str) -> Iterator[str]:
    """What stands between the commas, but for those in quotes."""
    at = 0
    while at < len(rest):
        match = _PART.match(rest, at)
        if match is None:
            raise PlanError(f"fault {text!r}: a quote that is opened has no closing one")
        at = match.end()
        if part := match[1].strip():
            yield part


def _unquoted(text: str, value: str) -> str:
    try:
        return msgspec.json.decode(value, type=str)
    except msgspec.DecodeError:
        raise PlanError(f"fault {text!r}: {value} is no quoted text as JSON has it") from None


def _milliseconds(text: str, key: str, value: str) -> int:
    match = _DURATION.fullmatch(value)
    if match is None:
        raise PlanError(f"fault {text!r}: {key}={value} is no duration; write {key}=500ms or {key}=1.5s")
    return round(float(match[1]) * (1000 if match[2] == "s" else 1))


def _meant(word: str, known: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(known), n=1, cutoff=0.5)
    return f" (did you mean {near[0]!r}?)" if near else ""


def format_fault(fault: Fault) -> str:
    """The compact form; `parse_fault` reads it back."""
    return compact(fault)


def parse_plan(faults: Fault | str | Iterable[Fault | str]) -> list[Fault]:
    """A plan from faults and compact forms in any mix; one alone is a plan too."""
    if isinstance(faults, (Fault, str)):
        faults = [faults]
    return [parse_fault(fault) if isinstance(fault, str) else fault for fault in faults]


def check_plan(faults: Sequence[Fault], score: Score) -> None:
    """PlanError for the first fault that can never fire on this cassette, alone or with those before it."""
    for number, fault in enumerate(faults):
        fault.check(score)
        if number + 1 < len(faults):
            score = fault.extend(score, number, Random(number))
