"""Bugs in what a client does when the caller cuts in."""

import asyncio
from typing import Any

from clients.call import Call
from tests.zoo.exhibit import Exhibit


class WallClock(Call):
    """Takes the time since a reply's first sound for what was heard of it, and is deaf after any error event."""

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self._begun: dict[str, float] = {}
        self._deaf = False

    def on_event(self, event: dict[str, Any]) -> None:
        if self._deaf:
            return
        if event.get("type") == "response.output_audio.delta":
            self._begun.setdefault(event["item_id"], asyncio.get_running_loop().time())
        super().on_event(event)
        self._deaf = event.get("type") == "error"  # its loop over the events has ended

    def _barge_in(self) -> None:
        for cut in self.playout.cut(self.turns.active):
            elapsed_ms = round((asyncio.get_running_loop().time() - self._begun[cut.item_id]) * 1000)
            heard = {"content_index": cut.content_index, "audio_end_ms": elapsed_ms}
            self.spawn(self._send({"type": "conversation.item.truncate", "item_id": cut.item_id, **heard}))


class TruncatesSilence(Call):
    """Truncates the item of the reply that is under way, also when no sound of it has come yet."""

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self._silent: str | None = None  # an item without audio so far

    def on_event(self, event: dict[str, Any]) -> None:
        match event.get("type"):
            case "response.content_part.added":
                self._silent = event["item_id"]
            case "response.output_audio.delta" | "response.done":
                self._silent = None
        super().on_event(event)

    def _barge_in(self) -> None:
        super()._barge_in()
        if self._silent is not None:
            heard = {"content_index": 0, "audio_end_ms": 0}
            self.spawn(self._send({"type": "conversation.item.truncate", "item_id": self._silent, **heard}))


class NeverTruncates(Call):
    """Falls silent when the caller cuts in, and does not tell the server."""

    def _barge_in(self) -> None:
        self.playout.cut(self.turns.active)


class Cancels(Call):
    """Cancels the reply itself when the caller cuts in, if there is one to cancel."""

    def on_event(self, event: dict[str, Any]) -> None:
        playing = self.line.speaker.queued_ms > 0
        super().on_event(event)
        if event.get("type") == "input_audio_buffer.speech_started" and playing:
            self.stop_reply()

    def stop_reply(self) -> None:
        """Have the server stop."""
        if self.turns.active is not None:
            self.spawn(self._send_cancel())

    async def _send_cancel(self) -> None:
        await self._send({"type": "response.cancel"})


class CancelsPlaying(Cancels):
    """Cancels whenever something is still being played, and ends the call over the error that this may bring."""

    def stop_reply(self) -> None:
        self.spawn(self._send_cancel())

    def on_event(self, event: dict[str, Any]) -> None:
        super().on_event(event)
        if event.get("type") == "error":
            self.end(f"the server reports {event['error'].get('message')}")


class CancelsLate(Cancels):
    """Makes sure that it is speech before it cancels; by then the server has done so."""

    def stop_reply(self) -> None:
        self.spawn(self._send_cancel())

    async def _send_cancel(self) -> None:
        await asyncio.sleep(0.3)
        await super()._send_cancel()


EXHIBITS = (
    Exhibit(
        "B07",
        "pipecat-ai/pipecat#3677",
        'truncate refused ("already shorter"), then the agent is mute',
        WallClock,
        Call,
        "cut-in",
        ("PRO304",),
        ("stall:reply=0,at=500ms,for=1000ms",),
    ),
    Exhibit(
        "B08",
        "livekit/agents#6157",
        "truncate at 0 ms refused",
        TruncatesSilence,
        Call,
        "goes-on",
        ("PRO304",),
        ("stall:reply=0",),
    ),
    Exhibit(
        "B09",
        "openai/openai-agents-python#2009",
        "history keeps words nobody heard",
        NeverTruncates,
        Call,
        "answer",
        ("PRO306",),
        ("barge-in:reply=0",),
    ),
    Exhibit(
        "B10",
        "pipecat-ai/pipecat#3755",
        "a cancel with nothing active kills the connection",
        CancelsPlaying,
        Cancels,
        "cut-in",
        ("PRO303", "PRO313"),
        ("burst:reply=0",),
    ),
    Exhibit(
        "B11",
        "mapluisch/OpenAI-Realtime-API-for-Unity#5",
        '"no active response found"',
        CancelsLate,
        Cancels,
        "answer",
        ("PRO303",),
        ("barge-in:reply=0",),
    ),
)
