"""A tool call whose arguments are no good.

The model leaves the arguments out (`""`: seen on the wire; reported as a crash, openai/openai-agents-js#664), writes
JSON that breaks off, or an object without what is required. The call is complete all the same and waits for its output;
a client that drops it, or dies of it, leaves the model without an answer and the caller in silence.
"""

from __future__ import annotations

from typing import ClassVar, Literal

from simrt.faults.base import Armed, Context
from simrt.faults.draw import Draw, Harm
from simrt.faults.rewrite import Again, Broken, draw_call, find_call, frames_of, with_arguments
from simrt.replay.edit import Changes
from simrt.replay.score import Score, ScoredFrame


class Arguments(Broken, frozen=True):
    """Tool call `call` has arguments that are empty, broken JSON, or `{}` (`are`: "empty", "broken", "none").

    A client that answers it and asks for a response gets the same response anew, with the right arguments.
    """

    name: ClassVar[str] = "arguments"
    call: int = -1
    are: Literal["empty", "broken", "none"] = "empty"

    @classmethod
    def draw(cls, draw: Draw) -> Arguments:
        """Any call."""
        call = draw_call(draw)
        are: Literal["empty", "broken", "none"] = draw.pick(("empty", "broken", "none"))
        return cls(call, are)

    def harm(self) -> Harm:
        """Models do it; a client has to ask again."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The call must be there, in a response that ends by itself."""
        find_call(self, score, self.call)

    def changes(self, score: Score) -> tuple[list[ScoredFrame], Changes]:
        """The call has other arguments."""
        done = find_call(self, score, self.call)
        frames = frames_of(score, done.response or 0)
        text = str((done.event or {}).get("arguments"))
        given = {"empty": "", "broken": text[: max(1, len(text) // 2)], "none": "{}"}[self.are]
        return frames, with_arguments(frames, done, given)

    def arm(self, context: Context, number: int) -> Armed:
        """Waits to give it again."""
        return Again(self, context, number, find_call(self, context.cassette, self.call).index)
