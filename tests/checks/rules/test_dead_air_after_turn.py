from clients.call import Call
from tests.checks.talk import Talk

from .calling import findings
from .small import Event, Small


class EndsTurns(Small):
    """Has told the session that it asks for the replies itself; asks for one after each turn if `asks`."""

    asks = True

    async def on_event(self, event: Event) -> None:
        if event["type"] == "session.created":
            detection = {"type": "server_vad", "create_response": False}
            await self.send("session.update", session={"audio": {"input": {"turn_detection": detection}}})
            return
        await super().on_event(event)
        if event["type"] == "input_audio_buffer.committed" and self.asks:
            self.wanted = True
            await self.ask()


class NeverAsks(EndsTurns):
    """Then waits for them."""

    asks = False


class AsksAgain(Small):
    """Asks for another reply when a noise has cut one off."""

    async def on_event(self, event: Event) -> None:
        await super().on_event(event)
        noise = event["type"] == "conversation.item.input_audio_transcription.completed" and not event["transcript"]
        if noise:
            self.wanted = True
            await self.ask()


def test_a_client_that_ends_the_turns_and_asks_for_nothing() -> None:
    (found,) = findings("AGT209", NeverAsks, "front-desk", cap_ms=30_000)
    assert "asks for no reply" in found.message
    assert findings("AGT209", EndsTurns, "front-desk") == []


def test_a_cough_that_ends_the_reply() -> None:
    cough = "cough:reply=0,at=2s"
    (found,) = findings("AGT209", Small, "front-desk", cough)
    assert "noise" in found.message
    assert findings("AGT209", AsksAgain, "front-desk", cough) == []


def test_slow_and_stalled_replies_are_no_matter_of_the_client() -> None:
    for faults in (["stall:for=5s"], ["clog:reply=0,at=1s,for=4s"], ["latency:add=1500ms"], ["spread"]):
        assert findings("AGT209", Small, "front-desk", *faults) == []


def test_a_turn_that_the_server_does_not_answer_can_be_asked_about() -> None:
    talk = Talk().ready().turn(500, 1500)
    (found,) = talk.append(20_000, b"\0\0").findings("AGT209")
    assert "the server does not answer it" in found.message
    assert Talk().ready().turn(500, 1500).append(14_000, b"\0\0").findings("AGT209") == []
    asked = Talk().ready().turn(500, 1500).client(8_000, "response.create").created(8_100).audio(8_200, 2000)
    assert asked.done(9_000).append(20_000, b"\0\0").findings("AGT209") == []


def test_a_recording_without_real_times_or_whole_audio_tells_nothing() -> None:
    talk = Talk().ready().turn(500, 1500).append(20_000, b"\0\0")
    assert talk.findings("AGT209", timing="paced") == []
    assert talk.findings("AGT209", agent_audio="truncated") == []


def test_a_recording_of_a_client_that_ends_the_turns() -> None:
    manual = {"audio": {"input": {"turn_detection": None}}}
    talk = Talk().ready(**manual).client(1000, "input_audio_buffer.commit")
    talk.server(1050, "input_audio_buffer.committed", item_id="item_u")
    (found,) = talk.append(9_000, b"\0\0").findings("AGT209")
    assert found.evidence["quiet_ms"] > 7000
    both = Talk().ready(**manual).client(1000, "input_audio_buffer.commit").client(1000, "response.create")
    both.server(1050, "input_audio_buffer.committed", item_id="item_u").created(1100).audio(1200, 3000).done(1300)
    assert both.append(9_000, b"\0\0").findings("AGT209") == []


def test_a_reply_that_a_noise_cut_off_can_be_taken_up_when_its_end_has_come() -> None:
    late = ("cough:reply=0,at=2s", "delay:event=response.done,nth=1,for=5s")
    assert findings("AGT209", Call, "front-desk", *late) == []
