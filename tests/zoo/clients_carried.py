"""Bugs of clients whose caller is at the end of a carrier's media stream."""

import asyncio
from collections import deque
from typing import Any

from clients.call import Call
from simrt.audio import FRAME_MS
from tests.zoo.exhibit import Exhibit


class Carrier:
    """Plays what it is sent at its own pace: all of it, unless it is told to clear. Says by marks how far it is."""

    def __init__(self, line: Any, mark: Any) -> None:
        self._speaker = line.speaker
        self._mark = mark

    def send(self, message: dict[str, Any]) -> None:
        """What the client sends over the media stream."""
        match message["event"]:
            case "media":
                self._speaker.play(message["payload"])
            case "mark":
                left_s = self._speaker.queued_ms / 1000
                asyncio.get_running_loop().call_later(left_s, self._mark, message["name"])
            case "clear":
                self._speaker.clear()


class Leg:
    """The client's end of the stream: a speaker as the desk has it, which knows of the sound what the marks say."""

    def __init__(self, line: Any) -> None:
        self.carrier = Carrier(line, self._marked)
        self._bytes_per_ms = line.format.bytes_per_ms
        self._sent: deque[tuple[str, float]] = deque()  # marks that are still to come, and the ms before each
        self._marks = 0
        self._queued_ms = self._played_ms = 0.0
        self._idle = asyncio.Event()
        self._idle.set()

    @property
    def played_ms(self) -> float:
        """What has been played, as far as is known."""
        return self._played_ms

    @property
    def queued_ms(self) -> float:
        """What was sent, and may not have been played."""
        return self._queued_ms

    def play(self, pcm: bytes) -> None:
        """Send audio, in pieces, and a mark behind each."""
        size = int(FRAME_MS * self._bytes_per_ms)
        for at in range(0, len(pcm), size):
            piece, self._marks = pcm[at : at + size], self._marks + 1
            self._sent.append((f"mark-{self._marks}", len(piece) / self._bytes_per_ms))
            self._queued_ms += self._sent[-1][1]
            self._idle.clear()
            self.carrier.send({"event": "media", "payload": piece})
            self.carrier.send({"event": "mark", "name": self._sent[-1][0]})

    def clear(self) -> None:
        """Play nothing more of what was sent."""
        self._forget()
        self.carrier.send({"event": "clear"})

    async def drain(self) -> None:
        """Wait until the last mark has come back, or nothing more is to be played."""
        await self._idle.wait()

    def _forget(self) -> None:
        self._sent.clear()
        self._queued_ms = 0.0
        self._idle.set()

    def _marked(self, name: str) -> None:
        if not any(name == sent for sent, _ in self._sent):
            return  # from before a clear
        while self._sent:
            sent, ms = self._sent.popleft()
            self._played_ms += ms
            self._queued_ms -= ms
            if sent == name:
                break
        if not self._sent:
            self._forget()


class DeafLeg(Leg):
    """Forgets what it has sent, and does not tell the carrier, which plays it."""

    def clear(self) -> None:
        self._forget()


class Phone:
    """A line on which a leg is the speaker."""

    def __init__(self, line: Any, speaker: Leg) -> None:
        self._line = line
        self.speaker = speaker

    def __getattr__(self, name: str) -> Any:
        return getattr(self._line, name)


class Carried(Call):
    """Talks to its caller over a carrier."""

    leg: type[Leg] = Leg

    def __init__(self, line: Any) -> None:
        phone: Any = Phone(line, self.leg(line))
        super().__init__(phone)


class LeavesQueue(Carried):
    """Falls silent itself when the caller cuts in; what the carrier has is played on."""

    leg = DeafLeg


class TakesSentForHeard(Carried):
    """Truncates at what was sent to the carrier."""

    def _barge_in(self) -> None:
        for cut in self.playout.cut(self.turns.active):
            sent = {"content_index": cut.content_index, "audio_end_ms": cut.received_ms}
            self.spawn(self._send({"type": "conversation.item.truncate", "item_id": cut.item_id, **sent}))


EXHIBITS = (
    Exhibit(
        "B20",
        "cloudflare/agents#2261",
        "the carrier goes on playing after a barge-in",
        LeavesQueue,
        Carried,
        "answer",
        ("AGT203",),
        ("barge-in:reply=0,answer=breakfast",),
    ),
    Exhibit(
        "B21",
        "twilio/twilio-agent-connect-python#118",
        "truncates at what was queued, not played",
        TakesSentForHeard,
        Carried,
        "answer",
        ("PRO305",),
        ("barge-in:reply=0,answer=breakfast",),
    ),
)
