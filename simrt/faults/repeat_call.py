"""A tool call comes twice.

Either the events that complete it are sent again (`id=same`), as in a reported case in which the tool then ran twice
(livekit/agents#7230); or the model makes the same call twice in one response, under two ids (`id=new`): parallel calls,
each of which wants its output. What the tool does must be done once all the same.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any, ClassVar, Literal

import msgspec

from simrt.faults.base import Action, Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw, Harm
from simrt.faults.rewrite import draw_call, find_call, frames_of, fresh_id, retold
from simrt.replay.early import item_of
from simrt.replay.edit import Changes, next_index, patched
from simrt.replay.score import Score, ScoredFrame

_COMPLETING = ("response.function_call_arguments.done", "conversation.item.done", "response.output_item.done")


class RepeatCall(Fault, frozen=True):
    """Tool call `call` is complete twice: `after` ms later the events that complete it come again (`id=same`), or the
    same call follows at once as an item of its own (`id=new`)."""

    name: ClassVar[str] = "repeat-call"
    call: int = -1
    id: Literal["same", "new"] = "same"
    after: Ms = 0

    @classmethod
    def draw(cls, draw: Draw) -> RepeatCall:
        """Any call, in both ways."""
        call = draw_call(draw)
        id: Literal["same", "new"] = draw.pick(("same", "new"))
        after = draw.pick((0, 200))
        return cls(call, id, after if id == "same" else 0)

    def harm(self) -> Harm:
        """Repeated events say nothing new; two calls are what a model may do."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The call must be there."""
        find_call(self, score, self.call)

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """A second call is added to the response."""
        if self.id == "same":
            return score
        done = find_call(self, score, self.call)
        frames = frames_of(score, done.response or 0)
        return patched(score, *_second_call(score, frames, done, number))

    def arm(self, context: Context, number: int) -> Armed:
        """Repeats the events, or sees the second call go out."""
        return _Armed(self, context, number)


def _second_call(
    score: Score, frames: list[ScoredFrame], done: ScoredFrame, number: int
) -> tuple[Changes, list[ScoredFrame]]:
    """The frames of a copy of the call right behind it, and the others that have to tell of it."""
    changes: Changes = {}
    event = done.event or {}
    item_id, call_id, at = item_of(event), str(event.get("call_id")), int(event.get("output_index") or 0)
    names = {item_id: fresh_id(item_id, number), call_id: fresh_id(call_id, number)}
    mine = [frame for frame in frames if item_of(frame.event or {}) == item_id]
    place, first, more = mine[-1].place, next_index(score), []
    for k, frame in enumerate(mine):
        made = _renamed(frame.event or {}, names)
        made["event_id"] = f"{made.get('event_id')}_second{number}"
        if "output_index" in made:
            made["output_index"] = at + 1
        rank = place + (k + 1) / (len(mine) + 2)
        delay_us = max(frame.delay_us, mine[-1].delay_us)
        more.append(retold(frame, made, index=first + k, rank=rank, delay_us=delay_us))
    for frame in frames:
        told = frame.event or {}
        if frame.kind == "response.done":
            response = dict(told["response"])
            output = list(response.get("output") or [])
            where = next((k for k, item in enumerate(output) if item.get("id") == item_id), None)
            if where is not None:
                output.insert(where + 1, _renamed(output[where], names))
                changes[frame.index] = retold(frame, {**told, "response": {**response, "output": output}})
        elif int(told.get("output_index") or 0) > at:
            changes[frame.index] = retold(frame, {**told, "output_index": told["output_index"] + 1})
    return changes, more


def _renamed(value: dict[str, Any], names: dict[str, str]) -> dict[str, Any]:
    text = msgspec.json.encode(value).decode()
    for old, new in names.items():
        text = text.replace(f'"{old}"', f'"{new}"')
    made: dict[str, Any] = msgspec.json.decode(text)
    return made


class _Armed(Armed):
    fault: RepeatCall

    def __init__(self, fault: RepeatCall, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        done = find_call(fault, context.cassette, fault.call)
        self.item_id = item_of(done.event or {})
        self.second_id = fresh_id(self.item_id, number)
        completing = [
            frame
            for frame in frames_of(context.cassette, done.response or 0)
            if frame.kind in _COMPLETING and item_of(frame.event or {}) == self.item_id
        ]
        self.last = completing[-1].index
        self.seen: list[Send] = []

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        frame = send.frame
        if frame is None or frame.kind not in _COMPLETING:
            return (send,)
        item_id = item_of(frame.event or {})
        if self.fault.id == "new":
            if item_id == self.second_id:
                self.fire(now_us)
            return (send,)
        if item_id != self.item_id:
            return (send,)
        self.seen.append(msgspec.structs.replace(send, frame=None))
        if frame.index != self.last:
            return (send,)
        if not self.fault.after:
            self.fire(now_us)
            return (send, *self.seen)
        for again in self.seen:
            self.context.put(now_us + self.fault.after * 1000, again, self)
        return (send,)
