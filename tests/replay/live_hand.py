"""A Live session driven by hand: no loop, no socket. Times are ms since the connection opened."""

import base64
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np

from simrt.audio import PCM24, AudioFormat, resample
from simrt.caller.clip import fixture_clip
from simrt.cassette.script import Delegate, Pacing, Reply, Script, Step, Turn
from simrt.faults.base import Fault
from simrt.replay.authored_live import author_live
from simrt.replay.live import LiveSession
from simrt.replay.score import Score
from simrt.wire import Request
from tests.replay.hand import Call, Got, React, frames, turn

REQUEST = Request("api.openai.com", "/v1/live/sessions", [("Authorization", "Bearer key")])
STATUS = "Order 4711 shipped yesterday and arrives tomorrow."
AUDIO = "session.output_audio.delta"
SAID = "session.output_transcript.delta"
HEARD = "session.input_transcript.delta"
DELEGATED = "session.delegation.created"


def says(clip: str, on: Any = "turn", **fields: Any) -> Reply:
    """A scripted reply of a shipped clip."""
    said = fixture_clip(clip)
    return Reply(on, said.text, list(said.words), said.samples, **fields)


def script(*steps: Step, profile: str = "openai", **pacing: int) -> Score:
    """The score of a Live script."""
    return author_live(Script(list(steps), Pacing(**{"ready_ms": 450, **pacing}), "live"), profile)


@cache
def parcel(profile: str = "openai") -> Score:
    """Greeting; "where is my order", which is delegated; the status; goodbye."""
    return script(
        says("parcel-greeting", "start"),
        turn("parcel-where"),
        Delegate(),
        says("status-4711", "commentary"),
        turn("thats-all"),
        says("parcel-goodbye"),
        profile=profile,
    )


def asked_back(profile: str = "kugel") -> Score:
    """The caller wants to cancel; what comes then is not in the script."""
    return script(turn("parcel-cancel"), Delegate(), turn("yes-please"), profile=profile)


class LiveCall(Call):
    """One connection to a Live session."""

    def __init__(
        self,
        score: Score,
        faults: Sequence[Fault | str] = (),
        seed: int = 0,
        *,
        react: React | None = None,
        request: Request = REQUEST,
        **session: Any,
    ) -> None:
        super().__init__(score, faults, seed, react=react, request=request)
        model = "fluid-1" if score.profile == "kugel" else "gpt-live-1"
        self.send(0, {"type": "session.start", "session": {"model": model, **session}})

    def stream(
        self, start_ms: float, until_ms: float, *clips: tuple[float, str], fmt: AudioFormat = PCM24, burst: bool = False
    ) -> "LiveCall":
        """Plan to send 20 ms frames from the one moment to the other, with clips said at moments of their own."""
        track = np.zeros(round((until_ms - start_ms) * 24), np.int16)
        for at_ms, clip in clips:
            samples = fixture_clip(clip).samples
            first = round((at_ms - start_ms) * 24)
            track[first : first + len(samples)] = samples[: len(track) - first]
        data = fmt.encode(resample(track, PCM24.rate, fmt.rate))
        for k, frame in enumerate(frames(data, fmt)):
            at = start_ms if burst else start_ms + (k + 1) * 20
            self.send(at, {"type": "session.input_audio.append", "audio": base64.b64encode(frame).decode()})
        return self

    def append(
        self, ms: float, content: str, kind: str = "commentary", delegation_id: str | None = None, **fields: Any
    ) -> "LiveCall":
        """Plan to append something."""
        event = {"type": f"session.{kind}.append", "content": content, "delegation_id": delegation_id, **fields}
        self.send(ms, event)
        return self

    @property
    def live(self) -> LiveSession:
        assert isinstance(self.session, LiveSession)
        return self.session

    # --- what came

    def said(self) -> str:
        """What the agent said, by its transcript."""
        return "".join(got.event["delta"] for got in self.of(SAID)).strip()

    def heard(self) -> str:
        """What the agent heard of the caller, by its transcript."""
        return "".join(got.event["delta"] for got in self.of(HEARD)).strip()

    def speech(self) -> list[Got]:
        """The deltas in which somebody speaks."""
        return [got for got in self.of(AUDIO) if got.send.reply is not None]

    def codes(self) -> list[str]:
        """The codes of the errors."""
        return [got.event["error"]["code"] for got in self.of("error")]


def answering(content: str = STATUS, after_ms: float = 300, **fields: Any) -> React:
    """A reaction: answer each delegation with a commentary."""

    def react(call: Call, ms: float, event: dict[str, Any]) -> None:
        if event.get("type") == DELEGATED and isinstance(call, LiveCall):
            call.append(ms + after_ms, content, delegation_id=event["delegation"]["id"], **fields)

    return react


def clip_ms(clip: str) -> float:
    """How long a shipped clip lasts."""
    return fixture_clip(clip).duration_ms


__all__ = ["Delegate", "LiveCall", "Turn", "answering", "asked_back", "clip_ms", "parcel", "says", "script", "turn"]
