"""One event comes twice."""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

import msgspec

from simrt.faults.base import Action, Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw, Harm
from simrt.faults.trigger import ArmedEvent
from simrt.replay.score import Score

_ACTED_ON = (
    "response.done",
    "response.output_item.done",
    "response.function_call_arguments.done",
    "input_audio_buffer.speech_started",
    "conversation.item.input_audio_transcription.completed",
    "session.updated",
    "session.delegation.created",
    "session.commentary.appended",
    "kugel.input_transcript.committed",
    "kugel.response.cancelled",
    "session.started",
)


class Duplicate(Fault, frozen=True):
    """The `nth` server event of type `event` comes again, `after` ms later."""

    name: ClassVar[str] = "duplicate"
    event: str = "response.done"
    nth: int = -1
    after: Ms = 0

    @classmethod
    def draw(cls, draw: Draw) -> Duplicate:
        """One that a client acts on, at once or later."""
        event, nth = draw.event(*_ACTED_ON)
        return cls(event, nth, draw.pick((0, 20, 500)))

    def harm(self) -> Harm:
        """It says nothing new."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The event must be there."""
        self.find_event(score, self.event, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Repeats that frame."""
        return _Armed(self, context, number, self.find_event(context.cassette, self.event, self.nth).index)


class _Armed(ArmedEvent):
    fault: Duplicate

    def act(self, send: Send, now_us: int) -> Iterable[Action]:
        again = msgspec.structs.replace(send, frame=None)
        if self.fault.after:
            self.context.put(now_us + self.fault.after * 1000, again, self)
            return (send,)
        self.fire(now_us)
        return (send, again)
