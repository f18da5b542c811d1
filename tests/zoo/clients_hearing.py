"""Bugs in what of the caller reaches the server, and in what of a reply is heard."""

import base64
from collections.abc import Iterator
from typing import Any

from clients.call import Call
from simrt.audio import FRAME_MS, PCM24, ULAW8, AudioFormat, resample, rms_dbfs
from simrt.dialect.realtime import parse_format
from tests.zoo.exhibit import Exhibit


class DropsUntilReady(Call):
    """Opens the microphone at once, and throws away what comes until the session is ready."""

    hold_ms = 0


class Gated(Call):
    """Lets nothing of the microphone through while the agent speaks, for fear of echo, until its own detector is sure
    that the caller does; what that had to hear first is not sent.
    """

    sure_ms = 300
    quiet_dbfs = -45.0

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self._loud_ms = 0
        self._open = False

    async def _append(self, frame: bytes) -> None:
        if not self._lets_through(frame):
            frame = self.line.format.silence(FRAME_MS)
        await super()._append(frame)

    def _lets_through(self, frame: bytes) -> bool:
        if not self.line.speaker.queued_ms:
            self._loud_ms, self._open = 0, False
            return True
        loud = rms_dbfs(self.line.format.decode(frame)) > self.quiet_dbfs
        self._loud_ms = self._loud_ms + FRAME_MS if loud else 0
        self._open = self._open or self._loud_ms > self.sure_ms
        return self._open


class Transcoding(Call):
    """Asks for μ-law, as carriers have it, and takes the audio to be in the format that the session states."""

    asked = ULAW8

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self.format: AudioFormat = self.asked

    def _session(self) -> dict[str, Any]:
        session = super()._session()
        for side in session["audio"].values():
            side["format"] = {"type": "audio/pcmu"}
        return session

    def _check_format(self, updated: dict[str, Any]) -> None:
        self.format = parse_format(updated["session"]["audio"]["output"]["format"]) or self.asked

    async def _append(self, frame: bytes) -> None:
        samples = self.line.format.decode(frame)
        await super()._append(self.asked.encode(resample(samples, self.line.format.rate, self.asked.rate)))

    def on_event(self, event: dict[str, Any]) -> None:
        if event.get("type") == "response.output_audio.delta":
            samples = self.format.decode(base64.b64decode(event["delta"]))
            pcm = PCM24.encode(resample(samples, self.format.rate, PCM24.rate))
            event = {**event, "delta": base64.b64encode(pcm).decode()}
        super().on_event(event)


class TakesForAsked(Transcoding):
    """Takes the audio to be in the format that it has asked for."""

    def _check_format(self, updated: dict[str, Any]) -> None:
        pass


class FirstItem(Call):
    """Plays the first message of a response, and warns of any other."""

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self._first: dict[str, str] = {}  # by response

    def on_event(self, event: dict[str, Any]) -> None:
        if event.get("type") == "response.output_audio.delta":
            first = self._first.setdefault(event["response_id"], event["item_id"])
            if event["item_id"] != first:
                self.line.note("more than one message in a response")
                return
        super().on_event(event)


class WaitsForWords(Call):
    """Breaks a reply off as soon as it hears something, and then waits for what the caller has to say."""

    def unanswered(self) -> None:
        """A turn without words has no consequences."""


def _exhibits() -> Iterator[Exhibit]:
    yield Exhibit(
        "B22",
        "DevEmperor/DictateKeyboard#216",
        "first words lost",
        DropsUntilReady,
        Call,
        "takes-a-breath",
        ("CLR101",),
        ("late-ready",),
    )
    yield Exhibit(
        "B23",
        "livekit/agents#3261",
        "the first syllables of a barge-in are lost",
        Gated,
        Call,
        "answer",
        ("CLR102",),
        ("barge-in:reply=0,answer=breakfast",),
    )
    yield Exhibit(
        "B24",
        "PatterAI/Patter#154",
        "static",
        TakesForAsked,
        Transcoding,
        "answer",
        ("AGT208",),
        ("wrong-format:to=pcm16,told=yes",),
    )
    yield Exhibit(
        "B25",
        "livekit/agents#5768, pipecat-ai/pipecat#4465",
        "the second part of a reply is never heard",
        FirstItem,
        Call,
        "answer",
        ("AGT207",),
        ("second-item:reply=0",),
    )
    yield Exhibit(
        "B26",
        "vellum-ai/vellum-assistant#41801",
        "a cough kills the reply",
        WaitsForWords,
        Call,
        "answer",
        ("AGT209",),
        ("cough:reply=0",),
    )


EXHIBITS = tuple(_exhibits())
