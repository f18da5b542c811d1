"""The telephone line as the client under test has it: a microphone, a speaker, and where to connect to.

The same code runs on a World's virtual loop and on a real asyncio loop.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Literal, NamedTuple, Protocol

import msgspec
import numpy as np

from simrt.audio import FRAME_MS, PCM24, AudioFormat, Samples
from simrt.caller.clip import Clip
from simrt.caller.clock import US, Clock, release

FRAME_US = FRAME_MS * 1000

HungUpBy = Literal["client", "caller", "harness"]


class Said(NamedTuple):
    """A clip that was spoken into the microphone, and when its first sample was."""

    start_us: int
    clip: Clip


class Microphone(AsyncIterator[bytes]):
    """The caller's voice: an async iterator of 20 ms frames of bytes in `format`.

    Frames lie on a grid from pickup: frame k covers [20k, 20k + 20) ms and is handed out at its end. The microphone
    opens at the first iteration, and the frame in progress at that moment counts as before it: what was said until
    then is lost, as with a real one. From then on nothing is: frames that are not read at once wait. Iteration ends
    when the line is hung up.
    """

    def __init__(self, clock: Clock, format: AudioFormat = PCM24) -> None:
        self.format = format
        self.opened_us: int | None = None
        self.said: list[Said] = []
        self._clock = clock
        self._per_frame = format.rate * FRAME_MS // 1000
        if self._per_frame * 1000 != format.rate * FRAME_MS:
            raise ValueError(f"a {FRAME_MS} ms frame at {format.rate} Hz is no whole number of samples")
        self._silent = format.silence(FRAME_MS)
        self._spoken: dict[int, bytes] = {}
        self._timeline: list[tuple[int, Samples]] = []
        self._mutes: list[tuple[int, int]] = []
        self._skips: list[tuple[int, int | None]] = []
        self._next = 0
        self._closed = False
        self._waiters: list[asyncio.Future[None]] = []

    def say(self, clip: Clip, at_us: int | None = None) -> int:
        """Speak a clip from `at_us` on (default and at the earliest: now), added to what is said then.

        Returns the µs since pickup at which its first sample is said.
        """
        start_us = max(self._clock.now_us(), 0 if at_us is None else at_us)
        self.said.append(Said(start_us, clip))
        samples = clip.at_rate(self.format.rate)
        if len(samples):
            first = self._sample(start_us)
            self._timeline.append((first, samples))
            self._encode(first, first + len(samples))
        return start_us

    def mute(self, start_us: int, end_us: int) -> None:
        """Let nothing through between these two moments, whatever is said; what was handed out already stays."""
        span = (self._sample(max(start_us, self._clock.now_us())), self._sample(end_us))
        if span[0] < span[1]:
            self._mutes.append(span)
            self._encode(*span)

    def skip(self, start_us: int, end_us: int | None) -> None:
        """Give no frames at all between these two moments (None: never again), as a line does that sends no silence."""
        first = -(-max(start_us, self._clock.now_us()) // FRAME_US)
        self._skips.append((first, None if end_us is None else -(-end_us // FRAME_US)))

    def close(self) -> None:
        """End the iteration: at hang-up."""
        self._closed = True
        for waiter in self._waiters:
            release(waiter)

    def __aiter__(self) -> "Microphone":
        return self

    async def __anext__(self) -> bytes:
        clock = self._clock
        if self.opened_us is None:
            self._open()
        while not self._closed:
            due_us = self._due_us() if self._skips else (self._next + 1) * FRAME_US
            if due_us is not None and clock.now_us() >= due_us:
                break
            waiter = clock.loop.create_future()
            timer = None if due_us is None else clock.call_at(due_us, release, waiter)
            self._waiters.append(waiter)
            try:
                await waiter
            except BaseException:
                if timer is not None:
                    timer.cancel()
                raise
            finally:
                self._waiters.remove(waiter)
            if not self._skips:  # what has woken it is the time, or the end
                break
        if self._closed:
            raise StopAsyncIteration
        frame = self._spoken.pop(self._next, self._silent)
        self._next += 1
        return frame

    def _due_us(self) -> int | None:
        """When the next frame is complete; None if there is none any more."""
        for first, end in self._skips:
            if first <= self._next and (end is None or self._next < end):
                if end is None:
                    return None
                self._next = end
        return (self._next + 1) * FRAME_US

    def _open(self) -> None:
        self.opened_us = self._clock.now_us()
        self._next = max(0, -(-self.opened_us // FRAME_US))
        self._spoken = {index: frame for index, frame in self._spoken.items() if index >= self._next}

    def _sample(self, t_us: int) -> int:
        return (t_us * self.format.rate + US // 2) // US

    def gives(self, index: int) -> bool:
        """Whether the client gets frame `index`: none from before the microphone opened, none that is skipped."""
        if self.opened_us is None or index * FRAME_US < self.opened_us:
            return False
        return not any(first <= index and (end is None or index < end) for first, end in self._skips)

    def audio(self, first: int, stop: int) -> bytes:
        """What the frames from `first` to `stop` hold, whether the client has got them or not."""
        size = self._per_frame
        base = first * size
        mix = np.zeros((stop - first) * size, dtype=np.int32)
        for position, samples in self._timeline:
            low, high = max(position, base), min(position + len(samples), stop * size)
            if low < high:
                mix[low - base : high - base] += samples[low - position : high - position]
        for low, high in self._mutes:
            mix[max(low - base, 0) : max(high - base, 0)] = 0
        return self.format.encode(np.clip(mix, -32768, 32767).astype(np.int16))

    def _encode(self, start: int, end: int) -> None:
        """Make the frames that these samples touch, once, so that handing them out costs nothing."""
        size = self._per_frame
        first, stop = max(start // size, self._next), -(-end // size)
        if first >= stop:
            return
        data = self.audio(first, stop)
        width = len(self._silent)
        for index in range(first, stop):
            self._spoken[index] = data[(index - first) * width : (index - first + 1) * width]


class SpeakerListener(Protocol):
    """Who is told what a speaker does: the Ear. Positions count the samples played and queued, from 0."""

    def played(self, position: int, pcm: bytes) -> None:
        """These bytes (whole samples in the line's format) are queued to be played at that position."""
        ...

    def cleared(self, position: int) -> None:
        """All from this position on will not be played."""
        ...


class Segment(NamedTuple):
    """Audio that was played without a break: int16 samples at the line's rate from `start_us` on."""

    start_us: int
    samples: Samples


class _Run(msgspec.Struct):
    """The samples `first` to `first + count`, played without a break from `start_us` on."""

    start_us: int
    first: int
    count: int


class Speaker:
    """What the caller hears. Plays in the loop's time: at once when idle, otherwise after what is queued.

    All accounting is in whole samples, worked out from the time when somebody asks.
    """

    def __init__(self, clock: Clock, format: AudioFormat = PCM24) -> None:
        self.clock = clock
        self.format = format
        self.listener: SpeakerListener | None = None
        self._audio = bytearray()
        self._runs: list[_Run] = []
        self._total = 0
        self._end_us = 0
        self._odd = b""
        self._stopped = False
        self._clears = 0
        self._waiters: list[asyncio.Future[None]] = []

    def play(self, pcm: bytes) -> None:
        """Queue audio in the line's format; half a sample at its end is kept for the next call. After stop()
        nothing is played."""
        if self._stopped:
            return
        width, pcm = self.format.width, self._odd + pcm
        half = len(pcm) % width
        self._odd = bytes(pcm[len(pcm) - half :])
        if half:
            pcm = pcm[:-half]
        if not pcm:
            return
        count, position, now_us = len(pcm) // width, self._total, self.clock.now_us()
        if not self._runs or now_us > self._end_us:
            self._runs.append(_Run(now_us, position, 0))
        run = self._runs[-1]
        run.count += count
        self._total += count
        self._end_us = run.start_us + self._us(run.count)
        self._audio += pcm
        if self.listener is not None:
            self.listener.played(position, pcm)

    def clear(self) -> float:
        """Drop what is queued and not yet played; the ms that were dropped."""
        now_us = self.clock.now_us()
        played = self.position(now_us)
        dropped = self._total - played
        self._odd = b""
        if dropped:
            run = self._runs[-1]
            run.count = played - run.first
            self._total = played
            self._end_us = now_us
            del self._audio[played * self.format.width :]
            if self.listener is not None:
                self.listener.cleared(played)
        self._clears += 1
        for waiter in self._waiters:
            release(waiter)
        return self._ms(dropped)

    def stop(self) -> float:
        """Hang up: like clear(), and nothing plays afterwards."""
        self._stopped = True
        return self.clear()

    async def drain(self) -> None:
        """Wait until the queue has run empty; returns too when it is cleared or the line is hung up."""
        clears = self._clears
        while self._clears == clears and self.clock.now_us() < self._end_us:
            waiter = self.clock.loop.create_future()
            timer = self.clock.call_at(self._end_us, release, waiter)
            self._waiters.append(waiter)
            try:
                await waiter
            finally:
                self._waiters.remove(waiter)
                timer.cancel()

    @property
    def stopped(self) -> bool:
        return self._stopped

    @property
    def played_ms(self) -> float:
        """What has been played so far, in ms."""
        return self._ms(self.position())

    @property
    def queued_ms(self) -> float:
        """What is queued and not yet played, in ms."""
        return self._ms(self._total - self.position())

    @property
    def segments(self) -> list[Segment]:
        """What was played, and what is queued to be, piece by piece."""
        width, decode = self.format.width, self.format.decode
        spans = [(run, run.first * width, (run.first + run.count) * width) for run in self._runs]
        return [Segment(run.start_us, decode(bytes(self._audio[a:b]))) for run, a, b in spans]

    def position(self, t_us: int | None = None) -> int:
        """How many samples have been played at that moment (default: now)."""
        now_us = self.clock.now_us() if t_us is None else t_us
        for run in reversed(self._runs):
            if now_us >= run.start_us:
                return run.first + min(run.count, (now_us - run.start_us) * self.format.rate // US)
        return 0

    def start_of(self, position: int) -> int:
        """When the sample at this position begins to be played, in µs since pickup."""
        run = next(run for run in reversed(self._runs) if position >= run.first)
        return run.start_us + self._us(position - run.first)

    def end_of(self, position: int) -> int:
        """When all samples before this position have been played, in µs since pickup."""
        run = next((run for run in reversed(self._runs) if position > run.first), self._runs[0])
        return run.start_us + self._us(position - run.first)

    def _us(self, samples: int) -> int:
        return -(-samples * US // self.format.rate)

    def _ms(self, samples: int) -> float:
        return samples * 1000 / self.format.rate


class Note(msgspec.Struct, frozen=True):
    """Something that the client noted."""

    t_us: int
    message: str


class Written(msgspec.Struct, frozen=True):
    """A line of the conversation as the client keeps it: what `role` ("user" or "assistant") said, and in which item
    of the server's. `t_us`: when it was written (last)."""

    t_us: int
    role: str
    text: str
    item_id: str | None = None


class Line:
    """What a client gets: where to connect to (`url`, `headers`), a `microphone` and a `speaker` in one `format`."""

    def __init__(
        self, url: str, headers: dict[str, str], format: AudioFormat, microphone: Microphone, speaker: Speaker
    ) -> None:
        self.url = url
        self.headers = headers
        self.format = format
        self.microphone = microphone
        self.speaker = speaker
        self.clock = speaker.clock
        self.notes: list[Note] = []
        self.written: list[Written] = []
        self.hung_up_us: int | None = None
        self.hung_up_by: HungUpBy | None = None
        self.on_hang_up: list[Callable[[], object]] = []

    @classmethod
    def on(cls, clock: Clock, url: str, headers: dict[str, str] | None = None, format: AudioFormat = PCM24) -> "Line":
        """A line with a microphone and a speaker of its own."""
        return cls(url, dict(headers or {}), format, Microphone(clock, format), Speaker(clock, format))

    @property
    def hung_up(self) -> bool:
        return self.hung_up_us is not None

    def note(self, message: str) -> None:
        """Put a message, with its time, into the result's log."""
        self.notes.append(Note(self.clock.now_us(), message))

    def transcript(self, role: str, text: str, item_id: str | None = None) -> None:
        """Write a line of the conversation as the client keeps it, for its log or its own history.

        Lines stand in the order in which they are written. One of an item that was written before takes that one's
        place: an empty line keeps a place for words that are still to come.
        """
        line = Written(self.clock.now_us(), role, text, item_id)
        for place, before in enumerate(self.written):
            if item_id is not None and before.item_id == item_id:
                self.written[place] = line
                return
        self.written.append(line)

    async def hang_up(self) -> None:
        """End the call from the client's side: the microphone ends, the speaker falls silent."""
        self.cut("client")

    def cut(self, by: HungUpBy) -> None:
        """End the call; who did it first is kept."""
        if self.hung_up:
            return
        self.hung_up_us = self.clock.now_us()
        self.hung_up_by = by
        self.microphone.close()
        self.speaker.stop()
        for listener in self.on_hang_up:
            listener()
