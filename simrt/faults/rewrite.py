"""What faults do to a score before the call: responses that end early, that are given again, whose frames change.

Scores are shared by calls: nothing here changes one in place.
"""

from __future__ import annotations

import copy
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from random import Random
from typing import Any

import msgspec

from simrt.caller.cue import Cue, ReplyKey, Say
from simrt.faults.base import Armed, Context, Fault, Send
from simrt.faults.draw import Draw
from simrt.replay.early import CLOSERS, Opened, closed_early, follow, item_of
from simrt.replay.edit import Changes, applied, next_index, next_response, patched
from simrt.replay.score import Cause, Score, ScoredFrame, ScoredReply

_encode = msgspec.json.Encoder().encode
_DONE = "response.done"
_PATIENCE_US = 6_000_000
ARGUMENTS_DONE = "response.function_call_arguments.done"


def find_response(fault: Fault, score: Score, response: int) -> list[ScoredFrame]:
    """The frames of the response that `response` means (from 0, or from the end), in order; PlanError if there is
    none, or if it does not end by itself on the cassette."""
    fault.about("realtime", score)
    numbers = [f.response for f in score.own_frames if f.kind == "response.created" and f.response is not None]
    if not -len(numbers) <= response < len(numbers):
        many = f"{len(numbers)} responses" if len(numbers) != 1 else "1 response"
        raise fault.never(f"the cassette has {many}, so response={response} is not there")
    frames = frames_of(score, numbers[response])
    if not any(frame.kind == _DONE for frame in frames):
        raise fault.never(f"response {response} does not end by itself on the cassette")
    return frames


def frames_of(score: Score, number: int) -> list[ScoredFrame]:
    """The frames of a response that come of what brought it, in order: not those that cut it off."""
    mine = [frame for frame in score.frames if frame.response == number]
    created = next((frame for frame in mine if frame.kind == "response.created"), None)
    cause = created.cause if created is not None else None
    return sorted((f for f in mine if f.cause == cause), key=lambda frame: (frame.delay_us, frame.place))


def find_call(fault: Fault, score: Score, call: int) -> ScoredFrame:
    """The `response.function_call_arguments.done` of the tool call that `call` means (from 0, or from the end)."""
    fault.about("realtime", score)
    done = [frame for frame in score.own_frames if frame.kind == ARGUMENTS_DONE]
    if not -len(done) <= call < len(done):
        many = f"{len(done)} tool calls" if len(done) != 1 else "1 tool call"
        raise fault.never(f"the cassette has {many}, so call={call} is not there")
    if not any(frame.kind == _DONE for frame in frames_of(score, done[call].response or 0)):
        raise fault.never(f"the response with tool call {call} does not end by itself on the cassette")
    return done[call]


def draw_call(draw: Draw) -> int:
    """One of the cassette's tool calls, the last one first."""
    return draw.pick(range(-1, -1 - sum(f.kind == ARGUMENTS_DONE for f in draw.score.own_frames), -1))


def draw_response(draw: Draw) -> int:
    """One of the cassette's responses, the last one first."""
    return draw.pick(range(-1, -1 - sum(f.kind == "response.created" for f in draw.score.own_frames), -1))


def retold(frame: ScoredFrame, event: Mapping[str, Any], **fields: Any) -> ScoredFrame:
    """The frame with another event in it, and other fields if any."""
    payload = _encode(event).decode()
    return msgspec.structs.replace(frame, event=dict(event), payload=payload, **fields)


# --- a response that ends early -----------------------------------------------------------------------------------


def ended_early(
    frames: Sequence[ScoredFrame],
    last: ScoredFrame,
    status: str,
    details: dict[str, Any] | None,
    closers: Sequence[str] = CLOSERS,
) -> Changes:
    """The changes by which a response ends in the place of its frame `last`.

    What it has opened by then is closed, unfinished, by `closers`; nothing else comes any more.
    """
    changes: Changes = {}
    opened: dict[str, Opened] = {}
    over = False
    for frame in frames:
        over = over or frame is last
        event = frame.event or {}
        if not over:
            follow(opened, frame.kind, event)
            continue
        mine = frame.kind == _DONE or item_of(event) in opened
        if frame.kind in closers and mine:
            changes[frame.index] = retold(frame, closed_early(event, opened, status, details), delay_us=last.delay_us)
        elif frame.kind == "rate_limits.updated":
            changes[frame.index] = msgspec.structs.replace(frame, delay_us=last.delay_us + 30_000)
        else:
            changes[frame.index] = None
    return changes


def first_from(frames: Sequence[ScoredFrame], at_us: int) -> ScoredFrame:
    """The first frame of a response behind its opening that is not sent when it ends at `at_us` of its audio."""
    begun = [frame for frame in frames if frame.kind != "response.created"]
    if at_us <= 0:
        return begun[0]
    return next((f for f in begun if f.audio_us and f.audio_start_us + f.audio_us > at_us), begun[-1])


def with_arguments(frames: Sequence[ScoredFrame], call: ScoredFrame, text: str) -> Changes:
    """The changes by which a call (its `ARGUMENTS_DONE`) has these arguments, wherever they are told."""
    changes: Changes = {}
    call_id, item_id, told = (call.event or {}).get("call_id"), item_of(call.event or {}), False
    for frame in frames:
        event = copy.deepcopy(frame.event or {})
        output = (event.get("response") or {}).get("output") or []
        items = [item for item in (event.get("item"), *output) if item and item.get("call_id") == call_id]
        for item in items:
            item["arguments"] = "" if frame.kind.endswith(".added") else text
        if items:
            changes[frame.index] = retold(frame, event)
        elif item_of(event) == item_id and frame.kind == ARGUMENTS_DONE:
            changes[frame.index] = retold(frame, {**event, "arguments": text})
        elif item_of(event) == item_id and frame.kind == "response.function_call_arguments.delta":
            changes[frame.index] = retold(frame, {**event, "delta": text}) if text and not told else None
            told = True
    return changes


def audio_left(frames: Sequence[ScoredFrame], changes: Changes) -> int:
    """How much audio of the response is still sent after these changes, in µs."""
    return sum(frame.audio_us for frame in applied(frames, changes))


# --- a response that is given again -------------------------------------------------------------------------------


def again(number: int) -> str:
    """The key of the reply that is given again because of the plan's fault of that number."""
    return f"again-{number}"


def broken(score: Score, frames: Sequence[ScoredFrame], changes: Changes, number: int) -> Score:
    """The score with these changes to a response, and with a copy of it as it was, which `Again` plays.

    A reply of which nothing is left to hear is begun by the second try; else that has the key `again(number)`.
    """
    reply = next((frame.reply for frame in frames if frame.reply is not None), None)
    left_us = audio_left(frames, changes)
    instead = dict(changes)
    if not left_us:
        kept = applied(frames, instead)
        instead |= {frame.index: msgspec.structs.replace(frame, reply=None) for frame in kept}
    known = next((one for one in score.replies if one.response == frames[0].response), None)
    names = _fresh_names(frames, number)
    key = again(number) if left_us else reply
    more = _copied(score, frames, names, number, key)
    replies = list(score.replies)
    if known is not None and key is not None:
        new = {name.strip('"'): value.strip('"') for name, value in names.items()}
        ids = {"response_id": new.get(known.response_id, known.response_id), "item_id": new.get(known.item_id, "")}
        made = msgspec.structs.replace(known, index=key, response=more[0].response, **ids)
        rest = msgspec.structs.replace(known, audio_us=left_us, text=_text_until(known, left_us))
        replies = (
            [rest if one is known else one for one in replies]
            if left_us
            else [made if one is known else one for one in replies]
        )
        replies += [made] if left_us else []
    return patched(score, instead, more, replies=replies)


def brought_by_turn(score: Score, number: int) -> Score:
    """The score in which the second try of `broken` is what the last turn brings, whether the client asks or not."""
    stop = ("turn.stop", score.turns[-1].index)
    again = [frame for frame in score.frames if frame.cause == ("again", number)]
    return patched(score, {frame.index: msgspec.structs.replace(frame, cause=stop) for frame in again}, ())


def _copied(
    score: Score, frames: Sequence[ScoredFrame], names: Mapping[str, str], number: int, key: ReplyKey | None
) -> list[ScoredFrame]:
    first, response = next_index(score), next_response(score)
    made = []
    for k, frame in enumerate(frames):
        payload = str(frame.payload)
        for old, new in names.items():
            payload = payload.replace(old, new)
        event = msgspec.json.decode(payload)
        event["event_id"] = f"{event.get('event_id')}_again{number}"
        place = {"index": first + k, "rank": None, "cause": ("again", number), "response": response}
        made.append(retold(frame, event, reply=None if frame.reply is None else key, **place))
    return made


def _fresh_names(frames: Sequence[ScoredFrame], number: int) -> dict[str, str]:
    """For the ids that a response gives to itself, its items and its calls: others, both in quotes."""
    found: dict[str, None] = {}
    for frame in frames:
        event = frame.event or {}
        for holder in (event, event.get("response") or {}, event.get("item") or {}):
            named = ("response_id", "item_id", "call_id") if holder is event else ("id", "call_id")
            found.update({holder[key]: None for key in named if isinstance(holder.get(key), str)})
    return {f'"{name}"': f'"{fresh_id(name, number)}"' for name in found}


def fresh_id(name: str, number: int) -> str:
    """Another id of that kind, as long if it was long."""
    kind, _, rest = name.rpartition("_")
    digest = hashlib.sha256(f"{name} again {number}".encode()).hexdigest()
    return f"{kind}_{digest[: max(16, len(rest))]}" if kind else digest[: max(16, len(rest))]


class Broken(Fault, frozen=True):
    """A fault that breaks a response, which a client that asks gets anew (`Again`)."""

    def changes(self, score: Score) -> tuple[list[ScoredFrame], Changes]:
        """The response's frames, and what becomes of them."""
        return [], {}

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """The response is broken; a second try is added."""
        return broken(score, *self.changes(score), number)

    def recast(self, lines: list[Say], score: Score, number: int) -> list[Say]:
        """What the caller says to the whole reply is said when that was heard."""
        return lines_after(lines, score, *self.changes(score), number)


class Again(Armed):
    """Breaks a response, and gives it again to a client that asks before another response has begun.

    It has fired when the frame of index `breaks_at` has gone out.
    """

    def __init__(self, fault: Fault, context: Context, number: int, breaks_at: int) -> None:
        super().__init__(fault, context, number)
        self.breaks_at = breaks_at
        self.cause: Cause = ("again", number)
        self.owed = False

    def acted(self, now_us: int) -> None:
        """What the caller says has broken nothing until the server takes notice."""

    def emit(self, send: Send, now_us: int) -> Iterable[Send]:
        """From the break on it is owed, until another response takes its place."""
        frame = send.frame
        if frame is not None and frame.index == self.breaks_at:
            self.owed = not self.fired
            self.fire(now_us)
        elif send.kind == "response.created":
            self.owed = False
        return (send,)

    def asked(self, now_us: int) -> bool:
        """The client asks: here it is."""
        if not self.owed:
            return False
        self.owed = False
        return self.context.session.happened(self.cause, now_us)


def lines_after(
    lines: list[Say],
    score: Score,
    frames: Sequence[ScoredFrame],
    changes: Changes,
    number: int,
) -> list[Say]:
    """The caller's lines, those that wait for the end of a broken reply waiting for the end of its second try."""
    reply = next((frame.reply for frame in frames if frame.reply is not None), None)
    if reply is None or not audio_left(frames, changes):
        return lines
    return moved_lines(lines, score, reply, again(number))


def moved_lines(lines: list[Say], score: Score, reply: ReplyKey, to: str) -> list[Say]:
    """The caller's lines, those that wait for the end of one reply waiting for the end of another."""
    count = sum(isinstance(one.index, int) for one in score.replies)
    moved = []
    for line in lines:
        cue = line.cue
        waits = cue.anchor == "end" and cue.resolve(count).reply == reply
        moved.append(msgspec.structs.replace(line, cue=Cue("end", to, cue.offset_us)) if waits else line)
    return moved


def patient_lines(lines: list[Say], score: Score, reply: ReplyKey) -> list[Say]:
    """The caller's lines, those that wait for the end of that reply waiting until nothing more comes."""
    count = sum(isinstance(one.index, int) for one in score.replies)
    moved = []
    for line in lines:
        waits = line.cue.anchor == "end" and line.cue.resolve(count).reply == reply
        moved.append(msgspec.structs.replace(line, cue=Cue("quiet", None, _PATIENCE_US)) if waits else line)
    return moved


def _text_until(reply: ScoredReply, audio_us: int) -> str:
    if audio_us >= reply.audio_us or not reply.words:
        return reply.text
    return " ".join(word.text for word in reply.words if word.end_ms * 1000 <= audio_us)


def response_frames(fault: Fault, score: Score, reply: int) -> list[ScoredFrame]:
    """The frames of the response that carries a reply; PlanError if the protocol has none."""
    fault.about("realtime", score)
    key, _ = fault.find_reply(score, reply)
    number = next(one.response for one in score.replies if one.index == key)
    frames = frames_of(score, number)
    if not any(frame.audio_us for frame in frames):
        raise fault.never(f"reply {reply} has no response that carries it: the protocol is {score.dialect}")
    return frames


def response_of(fault: Fault, score: Score, reply: int) -> list[ScoredFrame]:
    """The frames of the response that carries a reply; PlanError if it does not end by itself on the cassette."""
    frames = response_frames(fault, score, reply)
    if not any(frame.kind == _DONE for frame in frames):
        raise fault.never(f"reply {reply} does not end by itself on the cassette")
    return frames


def first_of_turn(score: Score, number: int) -> int:
    """The index of the first frame of the turn that the plan's fault of that number has added; -1: there is none."""
    prefix = f"event_extra{number}_"
    return next((f.index for f in score.frames if str((f.event or {}).get("event_id")).startswith(prefix)), -1)
