import asyncio

from .calling import findings
from .small import Event, Small

LATE = ("late-audio:reply=0,at=1500ms,after=400ms,for=800ms",)


class PlaysAll(Small):
    """Clears the queue when the caller talks, and plays whatever comes afterwards."""

    async def barge_in(self) -> None:
        await super().barge_in()
        self.cut.clear()


class Cancels(Small):
    """Thinks better of its first reply after 2 s of it, and cancels it; what is queued stays."""

    clears = False

    async def on_event(self, event: Event) -> None:
        first = event["type"] == "response.output_audio.delta" and not self.items
        await super().on_event(event)
        if first:
            self.spawn(self.cancel(event["response_id"]))

    async def cancel(self, response_id: str) -> None:
        await asyncio.sleep(2)
        self.cut.add(response_id)
        await self.send("response.cancel")
        if self.clears:
            self.line.speaker.clear()


class CancelsCleanly(Cancels):
    """Empties the queue as well."""

    clears = True


def test_late_audio_of_a_cancelled_response() -> None:
    (found,) = findings("AGT204", PlaysAll, "front-desk", *LATE)
    assert found.evidence["late_ms"] > 300
    assert findings("AGT204", Small, "front-desk", *LATE) == []


def test_the_queue_after_the_clients_own_cancel() -> None:
    """The reply comes three times as fast as it is spoken, so that much is queued when it is cancelled."""
    fast = "burst:reply=0,within=3000ms"
    (found,) = findings("AGT204", Cancels, "front-desk", fast)
    assert found.evidence["late_ms"] > 1000
    assert findings("AGT204", CancelsCleanly, "front-desk", fast) == []


def test_what_was_never_cancelled_may_play() -> None:
    assert findings("AGT204", Small, "talk-over") == []
