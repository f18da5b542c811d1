"""When a fault acts once: at a moment of the connection, at a place in a reply's audio, or at an event."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from simrt.faults.base import Action, Armed, Context, Fault, Ms, Send
from simrt.replay.score import Score


class Triggered(Fault, frozen=True):
    """`at` alone: ms since the connection opened. With `reply`: ms of that reply's audio. `event` (and `nth`): right
    after that server event."""

    at: Ms | None = None
    reply: int | None = None
    event: str | None = None
    nth: int = 0

    def check(self, score: Score) -> None:
        """PlanError unless exactly one way of saying when is used, and it is there on the cassette."""
        if self.event is not None:
            if self.reply is not None or self.at is not None:
                raise self.never("say when by event, or by at (and reply), not by both")
            self.find_event(score, self.event, self.nth)
        elif self.reply is not None:
            _, length = self.find_reply(score, self.reply)
            if (self.at or 0) > length:
                raise self.never(f"reply {self.reply} has {length} ms of audio, at={self.at}ms lies beyond")
        elif self.at is None:
            raise self.never("say when: at=3s, or reply=-1,at=500ms, or event=response.created")

    def actions(self, score: Score) -> Iterable[Action]:
        """What it puts on the wire."""
        return ()

    def arm(self, context: Context, number: int) -> Armed:
        """Waits for its moment."""
        return ArmedTrigger(self, context, number)


class ArmedTrigger(Armed):
    """Puts the fault's actions on the wire when its moment comes."""

    fault: Triggered

    def __init__(self, fault: Triggered, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        score = context.cassette
        self.reply = None if fault.reply is None else fault.find_reply(score, fault.reply)[0]
        self.frame = None if fault.event is None else fault.find_event(score, fault.event, fault.nth)

    def opened(self, now_us: int) -> None:
        """A moment of the connection is a timer."""
        if self.reply is None and self.frame is None:
            for action in self.fault.actions(self.context.cassette):
                self.context.put(now_us + (self.fault.at or 0) * 1000, action, self)

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        """Before the audio at that place, after that event."""
        frame = send.frame
        if self.fired or frame is None:
            return (send,)
        if self.frame is not None and frame.index == self.frame.index:
            self.fire(now_us)
            return (send, *self.fault.actions(self.context.cassette))
        if self.reply is not None and send.reply == self.reply and in_reply(send, (self.fault.at or 0) * 1000):
            self.fire(now_us)
            return (*self.fault.actions(self.context.cassette), send)
        return (send,)


class Ending(Triggered, frozen=True):
    """One that ends the connection: the first `times` connections of a call that get that far. Whoever connects again
    after that is let on."""

    times: int = 1

    def arm(self, context: Context, number: int) -> Armed:
        """Waits for its moment."""
        return _ArmedEnding(self, context, number)


class _ArmedEnding(ArmedTrigger):
    fault: Ending

    def __init__(self, fault: Ending, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.number = number

    def opened(self, now_us: int) -> None:
        if self.context.ended[self.number] >= self.fault.times:
            self.fired = True  # on the connections before this one
        else:
            super().opened(now_us)

    def fire(self, t_us: int, **detail: Any) -> None:
        if not self.fired:
            self.context.ended[self.number] += 1
        super().fire(t_us, **detail)


class ArmedStroke(ArmedTrigger):
    """Does something of its own, `strike`, when its moment comes."""

    struck = False

    def opened(self, now_us: int) -> None:
        """A moment of the connection is a timer."""
        if self.reply is None and self.frame is None:
            self.context.do(now_us + (self.fault.at or 0) * 1000, self, self.strike)

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        """Right after that event, or that place in the audio."""
        frame = send.frame
        if self.struck or frame is None:
            return (send,)
        at_event = self.frame is not None and frame.index == self.frame.index
        in_it = self.reply is not None and send.reply == self.reply and in_reply(send, (self.fault.at or 0) * 1000)
        if at_event or in_it:
            self.struck = True
            self.context.do(now_us, self, self.strike)
        return (send,)

    def strike(self, now_us: int) -> None:
        """What is done."""


class ArmedEvent(Armed):
    """Acts on one server event: the frame of that index."""

    def __init__(self, fault: Fault, context: Context, number: int, index: int) -> None:
        super().__init__(fault, context, number)
        self.index = index

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        """All others pass."""
        return self.act(send, now_us) if send.frame is not None and send.frame.index == self.index else (send,)

    def act(self, send: Send, now_us: int) -> Iterable[Action]:
        """What goes out in its place."""
        return (send,)


def in_reply(send: Send, at_us: int) -> bool:
    """Whether a frame of a reply lies at or behind `at_us` of its audio."""
    frame = send.frame
    return frame is not None and (frame.audio_us > 0 or at_us > 0) and frame.audio_start_us >= at_us
