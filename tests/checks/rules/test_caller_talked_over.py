import numpy as np

from tests.replay.hand import front_desk

from .calling import findings
from .small import Event, Small


class HoldMusic(Small):
    """Plays a tune of its own as soon as the caller talks."""

    async def barge_in(self) -> None:
        await super().barge_in()
        t = np.arange(4 * 24000) / 24000
        self.line.speaker.play((6000 * np.sin(2 * np.pi * 440 * t)).astype(np.int16).tobytes())


class Deaf(Small):
    """Has told the session that the caller's speech ends no reply, and does not stop for it."""

    async def on_event(self, event: Event) -> None:
        if event["type"] == "session.created":
            detection = {"type": "server_vad", "create_response": True, "interrupt_response": False}
            await self.send("session.update", session={"audio": {"input": {"turn_detection": detection}}})
        elif event["type"] != "input_audio_buffer.speech_started":
            await super().on_event(event)


def test_sounds_of_the_clients_own() -> None:
    found = findings("AGT212", HoldMusic, "front-desk")
    assert found
    assert found[0].evidence["over_ms"] > 2000
    assert findings("AGT212", Small, "front-desk") == []


def test_a_client_that_lets_the_reply_run_on() -> None:
    over = "barge-in:reply=0,at=1500ms,clip=refund-again,answer=breakfast"
    found = findings("AGT212", Deaf, front_desk("openai"), over, cap_ms=60_000)
    assert found[0].evidence["over_ms"] > 2000
    assert findings("AGT212", Small, front_desk("openai"), over, cap_ms=60_000) == []


def test_what_the_server_does_not_take_for_speech_is_no_turn() -> None:
    assert findings("AGT212", Small, "tv") == []
    assert findings("AGT212", Small, "mm-hmm") == []
