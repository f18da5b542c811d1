import base64

import pytest

from clients.call import Call
from simrt.audio import PCM24, ULAW8, AudioFormat, resample
from simrt.dialect.realtime import parse_format
from tests.zoo.scripts import cassette

from .calling import findings
from .small import Event, Small


class Reads(Small):
    """Plays what the session says that it sends."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.format = self.line.format

    async def on_event(self, event: Event) -> None:
        if event["type"] == "session.updated":
            self.format = parse_format(event["session"]["audio"]["output"]["format"]) or self.format
        await super().on_event(event)

    def play(self, event: Event) -> None:
        samples = self.format.decode(base64.b64decode(event["delta"]))
        mine = self.line.format
        pcm = mine.encode(resample(samples, self.format.rate, mine.rate))
        super().play({**event, "delta": base64.b64encode(pcm).decode()})


TOLD = "wrong-format:to=ulaw,told=yes"


def test_bytes_that_are_handed_on_undecoded() -> None:
    (found,) = findings("AGT208", Small, "front-desk", TOLD)
    assert (found.severity, found.evidence["stated"]) == ("error", "8 kHz μ-law")
    assert findings("AGT208", Reads, "front-desk", TOLD) == []


def test_nobody_can_know_what_the_server_does_not_say() -> None:
    (found,) = findings("AGT208", Small, "front-desk", "wrong-format:to=ulaw,told=no")
    assert found.severity == "note"


def test_a_reply_that_is_too_short_to_tell_by_is_told_by_the_others() -> None:
    """Half a second of it was sent when the caller went on."""
    (found,) = findings("AGT208", Call, cassette("goes-on"), "wrong-format:to=ulaw,told=no")
    assert found.severity == "note"


@pytest.mark.parametrize("format", [PCM24, ULAW8])
def test_speech_is_no_static(format: AudioFormat) -> None:
    assert findings("AGT208", Reads, "front-desk", format=format) == []


def test_other_rules_leave_static_alone() -> None:
    for code in ("AGT201", "AGT202", "AGT203", "AGT204", "AGT207"):
        assert findings(code, Small, "front-desk", TOLD) == []
