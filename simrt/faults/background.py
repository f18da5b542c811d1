"""Somebody else talks near the caller's telephone: a television, a child, a desk across the room.

Live, a newsreader behind the caller was no barge-in but was transcribed as the caller's turn, in 10 of 10 calls
(PolyAI): the client finds an item in the conversation that nobody meant to say. Where it does cut the agent off, that
is `barge-in:clip=news`.
"""

from __future__ import annotations

from functools import cache
from random import Random
from typing import ClassVar

import msgspec

from simrt.caller.clip import Clip, fixture_clip
from simrt.caller.cue import Say
from simrt.faults.base import Armed, Context, Fault, Ms
from simrt.faults.draw import Draw
from simrt.faults.speech import check_new, check_place, heard_cue, turn_of
from simrt.replay.edit import with_turn
from simrt.replay.score import Score

_SHORT_MS = 1000  # a few words


class Background(Fault, frozen=True):
    """When `at` ms of reply `reply` have been heard, `for` ms of `clip` are heard behind the caller: whole words only.

    It interrupts nothing, and the server takes it into the conversation as if the caller had said it.
    """

    name: ClassVar[str] = "background"
    clip: str = "news"
    reply: int = -1
    at: Ms = 800
    for_: Ms = msgspec.field(name="for", default=2500)

    @classmethod
    def draw(cls, draw: Draw) -> Background | None:
        """Into any reply that lasts till its end."""
        made = cls(reply=(reply := draw.reply()), at=draw.place(reply))
        _, length = made.find_reply(draw.score, reply)
        if made.at + made.for_ > length:
            made = msgspec.structs.replace(made, for_=_SHORT_MS)
        return made if made.at + made.for_ <= length else None

    def check(self, score: Score) -> None:
        """The reply must be there and last longer than `at`; the clip must exist, and be no line of the caller's."""
        clip = _beginning(self.clip, self.for_)
        if not clip.duration_ms:
            raise self.never(f"for={self.for_}ms is shorter than the first word of {self.clip!r}")
        check_new(self, score, fixture_clip(self.clip))
        check_place(self, score, self.reply, self.at)

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """A turn is added that the server only transcribes."""
        turn = turn_of(_beginning(self.clip, self.for_), heard_cue(self, score, self.reply, self.at), "background")
        return with_turn(score, turn, number)

    def says(self, score: Score) -> list[Say]:
        """The clip, beside whatever else the caller says."""
        cue = heard_cue(self, score, self.reply, self.at)
        return [Say(_beginning(self.clip, self.for_), cue, parallel=True, background=True)]

    def arm(self, context: Context, number: int) -> Armed:
        """Has fired when the clip is heard."""
        return Armed(self, context, number)


@cache
def _beginning(name: str, for_ms: int) -> Clip:
    """The words of a clip that are over after `for_ms`."""
    clip = fixture_clip(name)
    words = [word for word in clip.words if word.end_ms <= for_ms]
    if len(words) == len(clip.words):
        return clip
    end = words[-1].end_ms * 24 if words else 0
    return Clip(name, clip.samples[:end], words, " ".join(word.text for word in words))
