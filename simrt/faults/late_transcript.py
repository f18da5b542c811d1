"""The transcript of what the caller said comes after the reply to it.

Transcribing is work of its own, by another model; "there is no total order". A client that writes its log, or decides,
when the reply ends has the caller's line after it, or not at all: reported for pipecat-ai/pipecat#1788.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import ClassVar

from simrt.faults.base import Action, Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw
from simrt.replay.early import item_of
from simrt.replay.live_turns import DELEGATED, INPUT_TEXT
from simrt.replay.score import Score

_TRANSCRIPTION = "conversation.item.input_audio_transcription."
_COMPLETED = _TRANSCRIPTION + "completed"


class LateTranscript(Fault, frozen=True):
    """The `nth` transcript of the caller comes `after` ms behind the next `response.done`.

    On Live: the deltas of the caller's turn `nth` come `after` ms behind the delegation of that turn. A client that
    takes up a delegation before it has the words answers another question, or none.
    """

    name: ClassVar[str] = "late-transcript"
    nth: int = 0
    after: Ms = 100

    @classmethod
    def draw(cls, draw: Draw) -> LateTranscript:
        """Any but the last, after which the call may be over."""
        if draw.score.dialect == "live":
            return cls(draw.pick(delegated_turns(draw.score)), draw.pick((100, 200)))
        count = sum(frame.kind == _COMPLETED for frame in draw.score.own_frames)
        return cls(draw.pick(range(max(1, count - 1))), draw.pick((100, 1000)))

    def check(self, score: Score) -> None:
        """The event must be there, on Live the delegation."""
        if score.dialect == "live":
            if self.nth not in delegated_turns(score):
                raise self.never(f"the caller's turn {self.nth} is not delegated")
            return
        self.find_event(score, _COMPLETED, self.nth)

    def arm(self, context: Context, number: int) -> Armed:
        """Holds it back."""
        if context.cassette.dialect == "live":
            return _ArmedLive(self, context, number)
        return _Armed(self, context, number)


def delegated_turns(score: Score) -> list[int]:
    """The caller's turns that a Live agent delegates."""
    causes = {frame.cause for frame in score.own_frames if frame.kind == DELEGATED}
    return sorted(number for kind, number in causes if kind == "turn.stop")


class _Armed(Armed):
    fault: LateTranscript

    def __init__(self, fault: LateTranscript, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.item_id = item_of(fault.find_event(context.cassette, _COMPLETED, fault.nth).event or {})
        self.held: list[Send] = []
        self.over = False

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        frame = send.frame
        if send.kind == "response.done" and self.held and not self.over:
            self.over = True
            for held in self.held:
                self.context.put(now_us + self.fault.after * 1000, held, self)
        if self.over or frame is None or not frame.kind.startswith(_TRANSCRIPTION):
            return (send,)
        if item_of(frame.event or {}) != self.item_id:
            return (send,)
        self.held.append(send)
        return ()


class _ArmedLive(Armed):
    fault: LateTranscript

    def __init__(self, fault: LateTranscript, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.held: list[Send] = []
        self.over = False

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        cause = ("", 0) if send.frame is None else send.frame.cause
        if self.over or cause[1] != self.fault.nth:
            return (send,)
        if send.kind == INPUT_TEXT and cause[0] == "turn.start":
            self.held.append(send)
            return ()
        if send.kind == DELEGATED and cause[0] == "turn.stop":
            self.over = True
            for held in self.held:
                self.context.put(now_us + self.fault.after * 1000, held, self)
        return (send,)
