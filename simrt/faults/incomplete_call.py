"""A tool call that the model did not finish.

The response hits its limit while it writes the call's arguments. The protocol closes it in the usual order, with
`response.function_call_arguments.done` too (which is "also emitted when a Response is interrupted, incomplete, or
cancelled"); only `status: incomplete` of the item, and the arguments themselves, tell. Reported: a client that ran such
a call (livekit/agents#7230).
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from simrt.faults.base import Armed, Context
from simrt.faults.draw import Draw, Harm
from simrt.faults.rewrite import (
    ARGUMENTS_DONE,
    Again,
    Broken,
    draw_call,
    ended_early,
    find_call,
    frames_of,
    with_arguments,
)
from simrt.replay.early import CLOSERS
from simrt.replay.edit import Changes, applied
from simrt.replay.score import Score, ScoredFrame


class IncompleteCall(Broken, frozen=True):
    """The response that makes tool call `call` ends, `incomplete`, with the call: nothing more of it is heard.

    `arguments`: cut off half-way, or whole. A client that asks for a response before there is another one gets this one
    anew, if the arguments were cut; whole ones may have been answered.
    """

    name: ClassVar[str] = "incomplete-call"
    call: int = -1
    arguments: Literal["cut", "whole"] = "cut"

    @classmethod
    def draw(cls, draw: Draw) -> IncompleteCall:
        """Any call."""
        call = draw_call(draw)
        arguments: Literal["cut", "whole"] = draw.pick(("cut", "whole"))
        return cls(call, arguments)

    def harm(self) -> Harm:
        """It happens at the limit of tokens."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The call must be there, in a response that ends by itself."""
        find_call(self, score, self.call)

    def changes(self, score: Score) -> tuple[list[ScoredFrame], Changes]:
        """The response ends with the call."""
        done = find_call(self, score, self.call)
        frames = frames_of(score, done.response or 0)
        text = str((done.event or {}).get("arguments"))
        changes = with_arguments(frames, done, text[: len(text) // 2] if self.arguments == "cut" else text)
        rest = applied(frames, changes)
        last = next(frame for frame in rest if frame.index == done.index)
        details = {"type": "incomplete", "reason": "max_output_tokens"}
        return frames, changes | ended_early(rest, last, "incomplete", details, (ARGUMENTS_DONE, *CLOSERS))

    def arm(self, context: Context, number: int) -> Armed:
        """Waits to give it again."""
        return _Armed(self, context, number, find_call(self, context.cassette, self.call).index)


class _Armed(Again):
    fault: IncompleteCall

    def gate(self, event: dict[str, Any], now_us: int) -> bool:
        """Whole arguments that the client has answered were good enough."""
        item = event.get("item")
        if self.fault.arguments == "whole" and isinstance(item, dict) and item.get("type") == "function_call_output":
            self.owed = False
        return False
