"""After a barge-in more audio of the cancelled reply arrives.

It was under way when the server cancelled the response. A client that plays whatever comes starts to speak again after
it had been told to be silent: reported for microsoft/vscode#326611.
"""

from __future__ import annotations

from collections.abc import Iterable
from random import Random
from typing import Any, ClassVar

import msgspec

from simrt.caller.cue import Say
from simrt.faults.barge_in import BargeIn
from simrt.faults.base import Action, Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw, Harm
from simrt.replay.score import Score
from simrt.trace import parse_event


class LateAudio(Fault, frozen=True):
    """`after` ms behind the cancelled `response.done` of reply `reply`, the next `for` ms of its audio come.

    The caller talks over it at `at` ms, as in `barge-in`; without `at` somebody else has to (the cassette's caller,
    another fault, or the client by `response.cancel`).
    """

    name: ClassVar[str] = "late-audio"
    reply: int = -1
    at: Ms | None = 500
    after: Ms = 200
    for_: Ms = msgspec.field(name="for", default=400)
    answer: str = "breakfast"

    @classmethod
    def draw(cls, draw: Draw) -> LateAudio:
        """Of any reply."""
        reply = draw.reply()
        return cls(reply, draw.place(reply), draw.pick((200, 0, 20, 1000)))

    def harm(self) -> Harm:
        """Nothing of a response comes behind its end."""
        return "survivable"

    def _barge_in(self) -> BargeIn | None:
        return None if self.at is None else BargeIn(reply=self.reply, at=self.at, answer=self.answer)

    def check(self, score: Score) -> None:
        """The reply must be there, and last longer than `at`."""
        self.about("realtime", score)
        own = self._barge_in()
        if own is None:
            self.find_reply(score, self.reply)
        else:
            own.check(score)

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """With the barge-in."""
        own = self._barge_in()
        return score if own is None else own.extend(score, number, rng)

    def says(self, score: Score) -> list[Say]:
        """With the barge-in."""
        own = self._barge_in()
        return [] if own is None else own.says(score)

    def recast(self, lines: list[Say], score: Score, number: int) -> list[Say]:
        """With the barge-in."""
        own = self._barge_in()
        return lines if own is None else own.recast(lines, score, number)

    def arm(self, context: Context, number: int) -> Armed:
        """Waits for the end of the reply."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: LateAudio

    def __init__(self, fault: LateAudio, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.reply, _ = fault.find_reply(context.cassette, fault.reply)
        mine = [frame for frame in context.score.frames if frame.reply == self.reply and frame.audio_us]
        self.audio = sorted(mine, key=lambda frame: frame.audio_start_us)

    def acted(self, now_us: int) -> None:
        """It is the audio that counts."""

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        if send.kind == "response.done" and send.frame is not None and send.frame.reply == self.reply:
            response: Any = (parse_event(send.payload) or {}).get("response")
            if isinstance(response, dict) and response.get("status") == "cancelled":
                self._send_more(now_us + self.fault.after * 1000)
        return (send,)

    def _send_more(self, due_us: int) -> None:
        session, left_us = self.context.session, self.fault.for_ * 1000
        for frame in self.audio:
            if frame.index in session.sent or left_us <= 0:
                continue
            session.cut.discard(frame.index)
            session.sent.add(frame.index)
            made = session.render(frame, due_us)
            if made is not None:
                self.context.put(due_us, msgspec.structs.replace(made, frame=None), self)
                left_us -= frame.audio_us
