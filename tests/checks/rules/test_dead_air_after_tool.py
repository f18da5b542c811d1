import asyncio

from tests.checks.talk import Talk

from .calling import findings
from .small import Small


class NeverAsks(Small):
    """Sends the output and thinks that this is enough."""

    async def ask(self) -> None:
        pass


class Slow(Small):
    """Has a tool that takes 15 s, and says nothing meanwhile."""

    seconds = 15.0

    async def output(self, call_id: str, output: str) -> None:
        await asyncio.sleep(self.seconds)
        await super().output(call_id, output)


class Quick(Slow):
    """Has one that takes 4 s."""

    seconds = 4.0


class Patient(Small):
    """Waits for a reply that it has asked for as long as it takes."""


class Impatient(Small):
    """Asks again when nothing has come for 6 s."""

    async def ask(self) -> None:
        before = self.asked
        await super().ask()
        if self.asked and not before:
            self.spawn(self.ask_again())

    async def ask_again(self) -> None:
        await asyncio.sleep(6)
        if self.asked:
            self.asked, self.wanted = False, True
            await self.ask()


def test_an_output_after_which_nobody_speaks() -> None:
    (found,) = findings("AGT210", NeverAsks, "front-desk", cap_ms=30_000)
    assert "no reply is asked for" in found.message
    assert findings("AGT210", Small, "front-desk") == []


def test_a_slow_tool_without_a_word() -> None:
    (found,) = findings("AGT210", Slow, "front-desk")
    assert "while a tool runs" in found.message
    assert findings("AGT210", Quick, "front-desk") == []


def test_a_reply_that_never_comes() -> None:
    lost = "ignore"
    (found,) = findings("AGT210", Patient, "front-desk", lost, cap_ms=60_000)
    assert "none comes" in found.message
    assert found.evidence["quiet_ms"] > 15_000
    assert findings("AGT210", Impatient, "front-desk", lost) == []


def test_a_response_that_hangs() -> None:
    (found,) = findings("AGT210", Small, "front-desk", "hang:response=1", cap_ms=60_000)
    assert "does not go on" in found.message


def test_a_late_reply_is_no_matter_of_the_client() -> None:
    for faults in (["delay:event=response.done,nth=0,for=2s"], ["stall:reply=0,for=5s"], ["latency:add=1s"]):
        assert findings("AGT210", Small, "front-desk", *faults) == []


def called() -> Talk:
    """A recording in which a function is called at 2 s."""
    return Talk().ready().turn(500, 1500).created(1600).call(2000).done(2100)


def test_recordings() -> None:
    (found,) = called().output(3000).append(9000, b"\0\0").findings("AGT210")
    assert found.t_ms == 3000
    asked = called().output(3000).client(3010, "response.create").created(3100, "resp_2").audio(3200, 2000, "resp_2")
    assert asked.done(3300, "resp_2").append(30_000, b"\0\0").findings("AGT210") == []
    spoken = called().output(3000).turn(4000, 5000, "item_v").created(5100, "resp_2").audio(5200, 900, "resp_2")
    assert spoken.done(5300, "resp_2").append(20_000, b"\0\0").findings("AGT210") == []


def test_while_a_response_is_active_nobody_can_ask() -> None:
    talk = Talk().ready().turn(500, 1500).created(1600).call(2000).output(2100)
    (found,) = talk.done(8000).append(12_000, b"\0\0").findings("AGT210")
    assert found.t_ms == 8000


def test_the_last_of_several_outputs_counts() -> None:
    talk = Talk().ready().turn(500, 1500).created(1600).call(2000, "call_1").call(2000, "call_2").done(2100)
    talk.output(2200, "call_1").output(8000, "call_2").client(8010, "response.create").created(8100, "resp_2")
    talk.audio(8200, 1000, "resp_2").done(8300, "resp_2")
    assert talk.append(20_000, b"\0\0").findings("AGT210") == []


def test_a_call_that_was_broken_off_is_owed_nothing() -> None:
    talk = Talk().ready().turn(500, 900).created(1000).call(1100, arguments='{"a', status="incomplete")
    assert talk.done(1200, status="incomplete").append(20_000, b"\0\0").findings("AGT210") == []
    whole = Talk().ready().turn(500, 900).created(1000).call(1100).done(1200)
    assert whole.append(20_000, b"\0\0").findings("AGT210")
