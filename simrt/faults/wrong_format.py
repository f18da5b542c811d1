"""The agent's audio comes in another format than agreed.

A field with an old name was ignored, a bridge re-encodes, a default changed. Played as what it is not, speech is
static: reported for PatterAI/Patter#154 (PCM16 at 24 kHz on a μ-law line). What `session.updated` says may be true.
"""

from __future__ import annotations

import base64
import copy
from collections.abc import Iterable
from typing import Any, ClassVar, Literal

import msgspec

from simrt.audio import AudioFormat
from simrt.dialect.realtime import AUDIO_DELTAS
from simrt.faults.base import Action, Armed, Context, Fault, Send
from simrt.faults.draw import Draw, Harm
from simrt.replay.restate import convert
from simrt.replay.score import Score
from simrt.trace import parse_event

To = Literal["other", "pcm16", "ulaw", "alaw"]

_FORMATS = {"pcm16": AudioFormat(), "ulaw": AudioFormat("ulaw", 8000), "alaw": AudioFormat("alaw", 8000)}
_NAMES: dict[str, dict[str, Any]] = {
    "pcm16": {"type": "audio/pcm", "rate": 24000},
    "ulaw": {"type": "audio/pcmu"},
    "alaw": {"type": "audio/pcma"},
}
_BETA = {"pcm16": "pcm16", "ulaw": "g711_ulaw", "alaw": "g711_alaw"}


class WrongFormat(Fault, frozen=True):
    """All audio deltas are in format `to` (PCM16 at 24 kHz, or G.711 at 8 kHz), whatever the session has agreed on.

    "other": μ-law where PCM16 was agreed on, PCM16 where it was not. `told`: whether `session.updated` says so.
    """

    name: ClassVar[str] = "wrong-format"
    to: To = "other"
    told: Literal["yes", "no"] = "no"

    @classmethod
    def draw(cls, draw: Draw) -> WrongFormat:
        """Not the one agreed on, told and untold."""
        to: To = draw.pick(("other", "alaw"))
        told: Literal["yes", "no"] = draw.pick(("yes", "no"))
        return cls(to, told)

    def harm(self) -> Harm:
        """Where it is told a client can notice; else nobody can."""
        return "fatal"

    def check(self, score: Score) -> None:
        """There must be audio, in the Realtime protocol."""
        self.about("realtime", score)
        if not score.replies:
            raise self.never("the cassette has no reply")

    def arm(self, context: Context, number: int) -> Armed:
        """Converts what goes out."""
        return _Armed(self, context, number)


class _Armed(Armed):
    fault: WrongFormat

    def emit(self, send: Send, now_us: int) -> Iterable[Action]:
        agreed = self.context.session.formats.output
        to = self.fault.to
        if to == "other":
            to = "ulaw" if agreed.encoding == "pcm16" else "pcm16"
        real = _FORMATS[to]
        if agreed == real:
            return (send,)
        if send.kind in AUDIO_DELTAS and send.audio:
            self.fire(now_us)
            event = parse_event(send.payload) or {}
            event = {**event, "delta": base64.b64encode(convert(send.audio, agreed, real)).decode()}
        elif send.kind == "session.updated" and self.fault.told == "yes":
            self.fire(now_us)
            event = _told(parse_event(send.payload) or {}, to)
        else:
            return (send,)
        return (msgspec.structs.replace(send, payload=msgspec.json.encode(event).decode()),)


def _told(event: dict[str, Any], to: str) -> dict[str, Any]:
    """A `session.updated` that states this output format."""
    made = copy.deepcopy(event)
    session = made.get("session") or {}
    if "output_audio_format" in session:
        session["output_audio_format"] = _BETA[to]
    else:
        session.setdefault("audio", {}).setdefault("output", {})["format"] = _NAMES[to]
    return made
