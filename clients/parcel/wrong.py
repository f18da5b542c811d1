"""Parcel services that are wrong, each in one thing, as services really are."""

import asyncio
from typing import TYPE_CHECKING, Any, ClassVar

from .live_desk import Append, Kind
from .parcel import Parcel
from .transcript import Turn
from .voice import Utterance
from .words import read

if TYPE_CHECKING:
    from simrt import Line


class BlockingParcel(Parcel):
    """Works where it receives: while the carrier is asked, nothing that the agent says is played."""

    async def delegated(self, delegation_id: str, offset_ms: int, turn: Turn | None) -> None:
        await self.settled(delegation_id, offset_ms, turn)


class GatedParcel(Parcel):
    """Sends no audio when the caller has been silent for 3 s: the timeline stands, and what is appended waits for
    ever."""

    gate_frames: ClassVar[int] = 150
    silent_frames = 0

    async def send_audio(self, frame: bytes) -> None:
        self.silent_frames = 0 if any(frame) else self.silent_frames + 1
        if self.silent_frames <= self.gate_frames:
            await super().send_audio(frame)


class AppendedParcel(Parcel):
    """Takes what was placed for what was heard."""

    def heard(self, append: Append, order: str, *, before: Turn | None = None, since_ms: float | None = None) -> bool:
        return append.placed_ms is not None


class DeltaParcel(Parcel):
    """Makes up its mind while the caller still speaks, at the first words that mean something."""

    def __init__(self, line: "Line", *args: Any, **options: Any) -> None:
        super().__init__(line, *args, **options)
        self._understood: dict[int, str] = {}  # by where the turn begins

    async def take(self, event: Any) -> None:
        await super().take(event)
        turn = self.transcript.last
        if event.type == "session.input_transcript.delta" and turn is not None:
            wish = read(turn.text, ["4711", "4712", "4713"], self.question and self.question[0])
            if wish.order is not None:
                self._understood.setdefault(turn.start_ms, turn.text)

    def words_of(self, turn: Turn) -> str:
        return self._understood.get(turn.start_ms, turn.text)


class ForgetfulParcel(Parcel):
    """Drops what it is working on when the caller talks over the agent."""

    def __init__(self, line: "Line", *args: Any, **options: Any) -> None:
        super().__init__(line, *args, **options)
        self._working: list[asyncio.Task[None]] = []

    async def delegated(self, delegation_id: str, offset_ms: int, turn: Turn | None) -> None:
        self._working.append(self.spawn(self.settled(delegation_id, offset_ms, turn)))

    async def take(self, event: Any) -> None:
        await super().take(event)
        if event.type == "kugel.response.cancelled":
            for task in self._working:
                task.cancel()


class HastyParcel(Parcel):
    """Hangs up after whatever the agent says next, once the caller has said goodbye."""

    _first: Turn | None = None

    def farewell(self) -> Turn | None:
        self._first = self._first or super().farewell()
        return self._first

    def is_goodbye(self, spoken: Utterance, farewell: Turn) -> bool:
        return spoken.whole and spoken.start_ms >= farewell.start_ms


class LoudParcel(Parcel):
    """Has the caller told of its progress."""

    progress: ClassVar[Kind] = "commentary"
