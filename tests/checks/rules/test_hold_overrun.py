import base64
from collections import deque

from clients.call import Call, NaiveCall
from simrt.scripts import authored

from .calling import findings
from .small import Small


class DropsNewest(Small):
    """Keeps the first second, then nothing until the session is ready."""

    async def listen(self) -> None:
        held: deque[bytes] = deque()
        async for frame in self.line.microphone:
            if self.ready.is_set() or len(held) < 50:
                held.append(frame)
            if self.ready.is_set():
                while held:
                    await self.send("input_audio_buffer.append", audio=base64.b64encode(held.popleft()).decode())


class Overtakes(Small):
    """Sends live frames at once, and what it held behind the first of them."""

    async def listen(self) -> None:
        held: deque[bytes] = deque()
        live = 0
        async for frame in self.line.microphone:
            if not self.ready.is_set():
                held.append(frame)
                continue
            await self.send("input_audio_buffer.append", audio=base64.b64encode(frame).decode())
            live += 1
            if live == 10:
                while held:
                    await self.send("input_audio_buffer.append", audio=base64.b64encode(held.popleft()).decode())


LATE = "late-ready:at=2s"


def test_a_queue_that_drops_the_newest() -> None:
    (found,) = findings("CLR106", DropsNewest, "front-desk", LATE, cap_ms=30_000)
    assert "missing" in found.message
    assert 700 < found.evidence["missing_ms"] < 1100


def test_live_frames_that_overtake() -> None:
    (found,) = findings("CLR106", Overtakes, "front-desk", LATE, cap_ms=30_000)
    assert "another order" in found.message


def test_who_holds_all_or_drops_the_oldest_is_not_to_blame() -> None:
    for faults in ((), (LATE,), ("late-ready:at=4s",)):
        assert findings("CLR106", Call, "front-desk", *faults) == []
        assert findings("CLR106", Small, "front-desk", *faults) == []
    assert findings("CLR106", NaiveCall, "front-desk", LATE) == []  # CLR101 says what it lost


def test_what_nobody_could_hold_is_a_note() -> None:
    (note,) = findings("CLR106", Call, authored("late-ready"))
    assert note.severity == "note"
    assert note.evidence["missing_ms"] > 3000
