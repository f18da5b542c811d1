"""The timeline of a Live session: positions in the caller's audio, when each was reached, and what waits for one.

It moves with the audio that arrives and stands when none does. The server listens no faster than real time: what comes
in a burst is reached bit by bit.
"""

import heapq
from collections.abc import Callable, Iterable

from simrt.cassette.header import Word
from simrt.replay.score import Arrivals

WINDOW_US = 200_000  # what is placed on the timeline, and each piece of transcript, has a window of this grid

TURN, PLACE, SLOT = 0, 1, 2
"""What comes first of the things that wait for one position."""

_Wait = tuple[int, int, int, Callable[[int], None]]


def by_window(words: Iterable[Word]) -> list[tuple[str, int, int]]:
    """Words as they are told, those that end in one window together: text, first start and last end in ms.

    Windows count from the first sample of their audio.
    """
    told: list[tuple[str, int, int]] = []
    for word in words:
        if told and (told[-1][2] - 1) * 1000 // WINDOW_US == (word.end_ms - 1) * 1000 // WINDOW_US:
            told[-1] = (f"{told[-1][0]} {word.text}", told[-1][1], word.end_ms)
        else:
            told.append((word.text, word.start_ms, word.end_ms))
    return told


def window_ms(position_us: int) -> tuple[int, int]:
    """`start_ms` and `end_ms` of the window that a position lies in."""
    start = max(0, position_us) // WINDOW_US * WINDOW_US // 1000
    return start, start + WINDOW_US // 1000


class Timeline(Arrivals):
    """Arrivals of the caller's audio. `run_us`: how far it goes on by itself once `run_from_us` has been reached."""

    def __init__(self, run_from_us: int = 0, run_us: int = 0) -> None:
        super().__init__()
        self._paced: list[int] = []
        self._pace_us = -(1 << 62)
        self.next_us = 1 << 62
        """The position that is waited for next."""
        self.done_us = -1
        """All that waited for positions up to here has been called."""
        self._run_from_us, self._run_us = run_from_us, run_us
        self._ran_us: int | None = None  # when it began to go on by itself
        self._waits: list[_Wait] = []
        self._count = 0

    def add(self, duration_us: int, now_us: int) -> None:
        """As the base; in a burst the paced time of an append lies behind its arrival."""
        self.total_us = total_us = self.total_us + duration_us
        self.ends.append(total_us)
        self.times.append(now_us)
        self._pace_us = paced_us = max(now_us, self._pace_us + duration_us)
        self._paced.append(paced_us)
        if self._run_us and self._ran_us is None and self.total_us >= self._run_from_us:
            self._ran_us = paced_us

    def when(self, position_us: int) -> int | None:
        """When the server has come to that position, or will have, as far as it has arrived; None: not yet."""
        k = self.index(position_us)
        moment = None if k is None else max(self.times[k], self._paced[k] - (self.ends[k] - position_us))
        beyond = position_us - self._run_from_us
        if self._ran_us is not None and 0 < beyond <= self._run_us:
            moment = self._ran_us + beyond if moment is None else min(moment, self._ran_us + beyond)
        return moment

    def stand(self, until_us: int) -> None:
        """Come no further until then; what arrives meanwhile is reached bit by bit afterwards."""
        self._pace_us = max(self._pace_us, until_us)

    def position(self, now_us: int) -> int:
        """How far it has come."""
        if self._ran_us is None:
            return self.total_us
        return max(self.total_us, self._run_from_us + min(self._run_us, max(0, now_us - self._ran_us)))

    def wait(self, position_us: int, rank: int, then: Callable[[int], None]) -> None:
        """Call `then(position_us)` in `advance` once that position is reached; of equal ones the lower rank first."""
        self._count += 1
        heapq.heappush(self._waits, (position_us, rank, self._count, then))
        self.next_us = self._waits[0][0]

    def next_due(self) -> int | None:
        """When the next wait will be over without any more audio; None: never."""
        if self._ran_us is None or not self._waits:
            return None
        return self.when(max(self.next_us, self._run_from_us + 1))

    def advance(self, now_us: int) -> None:
        """Call all that has waited for what is reached now, in order of position."""
        reached_us = self.position(now_us)
        while self.next_us <= reached_us:
            position, _, _, then = heapq.heappop(self._waits)
            self.next_us = self._waits[0][0] if self._waits else 1 << 62
            self.done_us = max(self.done_us, position - 1)
            then(position)
        self.done_us = reached_us
