"""A frame is larger than the client's library takes.

`conversation.item.retrieved` carries an item's whole audio, `session.updated` all tools and instructions; a megabyte is
16 s of speech. The usual limits are 1 MiB (websockets), 4 MiB (aiohttp), 8 MiB (openai-agents); beyond it the library
closes the connection with 1009. Seen with pipecat 1.14 at 1.2 MB.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from simrt.errors import PlanError
from simrt.faults.base import Action, Armed, Context, Fault, Send
from simrt.faults.draw import Draw
from simrt.faults.trigger import ArmedEvent
from simrt.replay.score import Score
from simrt.trace import parse_event

_DELTA = "response.output_audio.delta"


class Oversize(Fault, frozen=True):
    """The `nth` server event of type `event` is padded to `size` bytes, by the field `obfuscation` that real deltas are
    padded with too."""

    name: ClassVar[str] = "oversize"
    event: str = _DELTA
    nth: int = 0
    size: int = 1_200_000

    @classmethod
    def draw(cls, draw: Draw) -> Oversize:
        """Beyond the usual limits."""
        event, nth = draw.event(_DELTA, "session.updated", "response.done")
        return cls(event, nth, draw.pick((1_200_000, 4_500_000, 9_000_000)))

    def check(self, score: Score) -> None:
        """The event must be there, and the size one that a server may send."""
        from simrt.replay.server import MAX_SIZE  # which imports the session, and that the faults

        self.find_event(score, self.event, self.nth)
        if not 0 < self.size < MAX_SIZE:
            raise PlanError(f"fault {self}: size is below {MAX_SIZE} bytes")

    def arm(self, context: Context, number: int) -> Armed:
        """Pads that frame."""
        return _Armed(self, context, number, self.find_event(context.cassette, self.event, self.nth).index)


class _Armed(ArmedEvent):
    fault: Oversize

    def act(self, send: Send, now_us: int) -> Iterable[Action]:
        self.fire(now_us)
        event = {**(parse_event(send.payload) or {}), "obfuscation": ""}
        event["obfuscation"] = "x" * max(0, self.fault.size - len(msgspec.json.encode(event)))
        return (msgspec.structs.replace(send, payload=msgspec.json.encode(event).decode()),)
