"""The caller's audio on its way out: kept until the session is ready, and in order always."""

from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from itertools import islice

FRAME_MS = 20
LEAD_FRAMES = 5  # of silence: a sound begins softly


class Uplink:
    """Takes frames from the microphone and has `send` send them.

    Until `open`, the last `hold_ms` of them are kept. None overtakes those that are still to be sent.
    """

    def __init__(
        self, microphone: AsyncIterator[bytes], send: Callable[[bytes], Awaitable[None]], hold_ms: int
    ) -> None:
        self._microphone, self._send = microphone, send
        self._hold_ms = hold_ms
        self._held: deque[bytes] = deque()
        self._forgotten = 0
        self._open = False

    async def listen(self) -> None:
        """Run until the microphone ends: the caller has hung up."""
        async for frame in self._microphone:
            if not self._open:
                self._held.append(frame)
                if len(self._held) * FRAME_MS > self._hold_ms:
                    self._held.popleft()
                    self._forgotten += 1
            elif self._held:
                self._held.append(frame)  # behind those that are still to be sent
            else:
                await self._send(frame)

    def open(self, silent: Callable[[bytes], bool] = lambda frame: False) -> str:
        """The session is ready; `flush` is to follow. Says what was kept: not the silence before the first sound, by a
        session that is told what is silent."""
        self._open = True
        while len(self._held) > LEAD_FRAMES and all(silent(frame) for frame in islice(self._held, LEAD_FRAMES + 1)):
            self._held.popleft()
        return f"{len(self._held)} frames held, {self._forgotten} dropped"

    async def flush(self) -> None:
        """Send what was kept."""
        while self._held:
            await self._send(self._held[0])
            self._held.popleft()  # only now: while one is on its way, no later frame may go straight out
