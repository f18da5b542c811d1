"""CLR104 and CLR105: audio that the server reads in another format than it is in."""

import base64
from typing import Any

import numpy as np

from simrt.audio import PCM24, ULAW8, AudioFormat, resample
from simrt.caller import fixture_clip
from tests.checks.talk import Talk
from tests.replay.hand import front_desk

from .calling import findings
from .small import Event, Small

ULAW = {"audio": {"input": {"format": {"type": "audio/pcmu"}}, "output": {"format": {"type": "audio/pcmu"}}}}


class Telephone(Small):
    """Is on an 8 kHz μ-law line, and says so."""

    async def on_event(self, event: Event) -> None:
        if event["type"] == "session.created":
            await self.send("session.update", session=ULAW)
        else:
            await super().on_event(event)


class Early(Telephone):
    """Sends the microphone from the first moment on, and says only after a second what it is."""

    async def on_event(self, event: Event) -> None:
        if event["type"] == "session.created":
            self.ready.set()
            self.line.clock.call_at(1_000_000, lambda: self.spawn(self.send("session.update", session=ULAW)))
        else:
            await super().on_event(event)


class NeverSays(Small):
    """Is on a μ-law line and leaves the session at PCM16."""


class TooFast(Small):
    """Sends 16 kHz in a session of 24 kHz."""

    async def send(self, kind: str, **fields: Any) -> None:
        if kind == "input_audio_buffer.append":
            samples = np.frombuffer(base64.b64decode(fields["audio"]), np.int16)
            fields["audio"] = base64.b64encode(resample(samples, 24000, 16000).tobytes()).decode()
        await super().send(kind, **fields)


def speech(format: AudioFormat, ms: int = 3000) -> bytes:
    clip = fixture_clip("booking")
    return format.encode(clip.at_rate(format.rate))[: format.size_of(ms)]


def sent(talk: Talk, ms: float, data: bytes) -> Talk:
    """Audio in appends of 4 kB, all at once."""
    for at in range(0, len(data), 4096):
        talk.append(ms, data[at : at + 4096])
    return talk


def test_audio_before_its_format_was_named() -> None:
    (found,) = findings("CLR104", Early, "front-desk", format=ULAW8, cap_ms=30_000)
    assert "8 kHz μ-law" in found.message
    assert "24 kHz PCM16" in found.message
    assert found.frame is not None
    assert findings("CLR104", Telephone, "front-desk", format=ULAW8) == []
    assert findings("CLR105", Telephone, "front-desk", format=ULAW8) == []


def test_audio_in_a_format_that_was_never_named() -> None:
    (found,) = findings("CLR105", NeverSays, "front-desk", format=ULAW8, cap_ms=30_000)
    assert found.message.endswith("in 8 kHz μ-law; the session has 24 kHz PCM16")
    assert findings("CLR105", Small, "front-desk") == []


def test_audio_at_another_rate() -> None:
    (found,) = findings("CLR105", TooFast, front_desk("openai"), cap_ms=30_000)
    assert "16 kHz PCM16" in found.message


def test_recordings() -> None:
    early = sent(Talk(), 0, speech(ULAW8)).ready(**ULAW)
    (found,) = sent(early, 200, speech(ULAW8)).findings("CLR")
    assert (found.code, found.frame) == ("CLR104", 0)
    (found,) = sent(Talk().ready(), 200, speech(ULAW8)).findings("CLR")
    assert (found.code, found.frame) == ("CLR105", 3)
    (found,) = sent(Talk().ready(**ULAW), 200, speech(PCM24)).findings("CLR")
    assert found.code == "CLR105"


def test_recordings_that_are_right() -> None:
    assert sent(sent(Talk(), 0, speech(PCM24)).ready(**ULAW), 200, speech(ULAW8)).findings("CLR") == []
    assert sent(Talk().ready(**ULAW), 200, speech(ULAW8)).findings("CLR") == []
    assert sent(Talk().ready(), 200, speech(PCM24)).findings("CLR") == []
    assert sent(Talk().ready(), 200, b"\xff" * 50_000).findings("CLR") == []
    assert sent(Talk().ready(), 200, speech(ULAW8)).findings("CLR", caller_audio="truncated") == []


def test_between_the_update_and_its_answer_the_new_format_counts() -> None:
    talk = Talk().server(0, "session.created", session={}).client(10, "session.update", session=ULAW)
    sent(talk, 20, speech(ULAW8)).server(400, "session.updated", session=ULAW)
    assert talk.findings("CLR") == []


def test_a_refused_update_changes_nothing() -> None:
    talk = Talk().server(0, "session.created", session={}).client(10, "session.update", event_id="up", session=ULAW)
    talk.error(20, "unsupported_parameter", "up")
    (found,) = sent(talk, 30, speech(ULAW8)).findings("CLR")
    assert found.code == "CLR105"
