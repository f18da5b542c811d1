"""CLR101 to CLR103: what the caller said in vain, when."""

import base64
from typing import Any

import numpy as np
import pytest

from clients.call import Call, NaiveCall
from simrt.audio import ULAW8, resample
from simrt.caller import Say, fixture_clip, parse_cue
from simrt.checks import Case, Limits, judge
from tests.checks.talk import Talk
from tests.replay.hand import front_desk

from .calling import findings, result_of
from .small import Small

OVER = "barge-in:reply=0,at=1500ms,answer=breakfast"


class Gates(Small):
    """Sends no microphone while the agent speaks."""

    async def listen(self) -> None:
        async for frame in self.line.microphone:
            await self.ready.wait()
            if not self.line.speaker.queued_ms:
                await self.send("input_audio_buffer.append", audio=base64.b64encode(frame).decode())


class Stutters(Small):
    """Loses half a second of each two."""

    async def listen(self) -> None:
        number = 0
        async for frame in self.line.microphone:
            await self.ready.wait()
            number += 1
            if number % 100 < 75:
                await self.send("input_audio_buffer.append", audio=base64.b64encode(frame).decode())


class Louder(Small):
    """Passes the microphone on at half its level, so that no frame is what it was; loses what came before `since`."""

    since = 0

    async def listen(self) -> None:
        number = 0
        async for frame in self.line.microphone:
            await self.ready.wait()
            number += 1
            if number > self.since:
                quiet = (np.frombuffer(frame, np.int16) // 2).tobytes()
                await self.send("input_audio_buffer.append", audio=base64.b64encode(quiet).decode())


class LouderAndLate(Louder):
    """And loses the first second."""

    since = 50


class Bridge(Small):
    """Has a line of 8 kHz μ-law and a session of 24 kHz PCM16."""

    async def listen(self) -> None:
        async for frame in self.line.microphone:
            await self.ready.wait()
            pcm = resample(ULAW8.decode(frame), 8000, 24000).tobytes()
            await self.send("input_audio_buffer.append", audio=base64.b64encode(pcm).decode())

    def play(self, event: dict[str, Any]) -> None:
        samples = np.frombuffer(base64.b64decode(event["delta"]), np.int16)
        pcm = ULAW8.encode(resample(samples, 24000, 8000))
        super().play({**event, "delta": base64.b64encode(pcm).decode()})


def test_words_said_before_the_session_is_ready() -> None:
    (found,) = findings("CLR101", NaiveCall, "front-desk")
    assert found.evidence["words"] == ["Hi,"]
    (late,) = findings("CLR101", NaiveCall, "front-desk", "late-ready:at=2s")
    assert len(late.evidence["words"]) > 3
    for faults in ((), ("late-ready:at=2s",), ("late-ready:at=4s",)):
        assert findings("CLR101", Call, "front-desk", *faults) == []


def test_nobody_has_to_hold_more_than_the_limit() -> None:
    ten = ("late-ready:at=10s",)
    assert findings("CLR101", Call, "front-desk", *ten) == []
    case = Case.of_result(result_of(NaiveCall, "front-desk", "late-ready:at=2s"))
    assert judge(case, ["CLR101"])
    assert judge(case, ["CLR101"], limits=Limits(hold_ms=100)) == []


def test_a_session_that_never_comes_about_hears_nobody() -> None:
    for faults in (["refuse"], ["close:at=100ms"], ["reset:at=1s"]):
        try:
            result = result_of(Call, "front-desk", *faults)
        except Exception:
            continue
        assert judge(Case.of_result(result), ["CLR"]) == []


def test_words_said_over_the_agent() -> None:
    (found,) = findings("CLR102", Gates, "front-desk", OVER, cap_ms=60_000)
    assert found.evidence["words"][:2] == ["Oh", "wait,"]
    assert findings("CLR101", Gates, "front-desk", OVER, cap_ms=60_000) == []
    assert findings("CLR102", Small, "front-desk", OVER, cap_ms=60_000) == []


def test_a_television_is_not_the_caller() -> None:
    assert findings("CLR102", Gates, "tv", cap_ms=60_000) == []


def test_words_said_in_the_middle_of_the_call() -> None:
    found = findings("CLR103", Stutters, "front-desk", cap_ms=30_000)
    assert found
    assert findings("CLR103", Small, "front-desk") == []


def test_a_client_that_converts_is_judged_by_the_sound() -> None:
    assert findings("CLR101", Louder, "front-desk") == []
    (found,) = findings("CLR101", LouderAndLate, "front-desk", "late-ready:at=1500ms")
    assert found.evidence["words"][:3] == ["Hi,", "yes,", "I'm"]
    assert findings("CLR", Bridge, front_desk("openai"), format=ULAW8) == []


def test_two_voices_at_once_are_not_told_apart_by_their_sound() -> None:
    says = [
        Say(fixture_clip("booking"), parse_cue("pickup+0ms")),
        Say(fixture_clip("one-more-thing"), parse_cue("pickup+400ms"), parallel=True),
    ]
    alone = findings(
        "CLR101", LouderAndLate, front_desk("openai"), "late-ready:at=1500ms", says=says[:1], cap_ms=60_000
    )
    both = findings("CLR101", LouderAndLate, front_desk("openai"), "late-ready:at=1500ms", says=says, cap_ms=60_000)
    assert alone
    assert both == []


def test_what_the_line_does_not_give_is_lost_by_nobody() -> None:
    for send in ("silence", "nothing"):
        mute = f"mute:at=1s,for=2s,send={send}"
        assert findings("CLR", Call, "front-desk", mute) == []


def test_who_hangs_up_in_the_middle_of_a_word_loses_no_word() -> None:
    assert findings("CLR103", NaiveCall, "talk-over") == []


@pytest.mark.parametrize("faults", [("spread",), ("latency:add=1s",), ("clog:at=0ms,for=1s",), ("burst",)])
def test_the_network_is_not_the_clients_fault(faults: tuple[str, ...]) -> None:
    assert findings("CLR", Call, "front-desk", *faults) == []


def test_a_recording_does_not_show_what_was_said() -> None:
    assert Talk().ready().turn(500, 1500, text="").append(3000, b"\0\0").findings("CLR") == []
