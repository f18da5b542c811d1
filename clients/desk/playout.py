"""What the caller has heard of each reply: the speaker's clock, laid over the items that were queued on it.

Over a WebSocket the server never learns what was played. When the caller cuts in, it must be told how much of
the item was heard (`conversation.item.truncate`), or the model believes that everything was.
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from simrt import Line


@dataclass
class _Item:
    response_id: str
    item_id: str
    content_index: int
    start_ms: float  # on the speaker's clock
    received_ms: float = 0.0
    complete: bool = False
    cut_ms: float | None = None  # how much of it had been heard when the caller cut in

    def heard_ms(self, played_ms: float) -> float:
        """How much of it has been heard when the speaker has played that much."""
        if self.cut_ms is not None:
            return self.cut_ms
        return min(max(played_ms - self.start_ms, 0.0), self.received_ms)


@dataclass(frozen=True)
class Heard:
    """What became of a response's audio so far. `whole`: all of it was received. `over`: no more will be heard."""

    heard_ms: float
    received_ms: float
    whole: bool
    over: bool


@dataclass(frozen=True)
class Cut:
    """An item of which the caller heard the beginning, or nothing."""

    item_id: str
    content_index: int
    heard_ms: int
    received_ms: int


class Playout:
    """The line's speaker, and which item is on it."""

    def __init__(self, line: "Line") -> None:
        self._speaker = line.speaker
        self._bytes_per_ms = line.format.bytes_per_ms
        self._items: list[_Item] = []
        self._of: dict[str, list[_Item]] = {}  # those that are over too
        self._silenced: set[str] = set()  # responses that the caller talked over: their audio is now late
        self._unqueued: set[str] = set()  # those of which audio came too late to be queued
        self._lost: set[str] = set()

    def play(self, response_id: str, item_id: str, content_index: int, pcm: bytes) -> None:
        """Queue a chunk, unless the caller has already talked over its response."""
        if response_id in self._silenced:
            self._unqueued.add(response_id)
            self._lost.add(response_id)
            return
        item = self._item(response_id, item_id, content_index)
        item.received_ms += len(pcm) / self._bytes_per_ms
        self._speaker.play(pcm)

    def complete(self, response_id: str) -> None:
        """No more audio will come of this response; one that was talked over before that stays in pieces."""
        if response_id in self._silenced:
            return
        for item in self._of.get(response_id, []):
            item.complete = True

    def heard(self, response_id: str) -> Heard:
        """How much of this response the caller has heard by now."""
        items, played_ms = self._of.get(response_id, []), self._speaker.played_ms
        heard_ms, received_ms = sum(item.heard_ms(played_ms) for item in items), sum(item.received_ms for item in items)
        broken = response_id in self._silenced or any(item.cut_ms is not None for item in items)
        whole = bool(items) and all(item.complete for item in items) and response_id not in self._unqueued
        return Heard(heard_ms, received_ms, whole, broken or (whole and received_ms - heard_ms < 1))

    def cut(self, active: str | None) -> list[Cut]:
        """Fall silent, because the caller talks. `active` is the response still under way, if there is one.

        Returns the items to truncate, or to delete if nothing of them was heard: not those that were played to their
        end.
        """
        played_ms = self._speaker.played_ms
        self._speaker.clear()
        cuts = []
        for item in self._items:
            heard_ms = item.cut_ms = item.heard_ms(played_ms)
            if item.received_ms - heard_ms >= 1:
                self._lost.add(item.response_id)
            elif item.complete:
                continue
            whole_ms = int(heard_ms + 0.001)  # the clock's rounding must not cost a millisecond
            cuts.append(Cut(item.item_id, item.content_index, whole_ms, round(item.received_ms)))
        self._items.clear()
        if active is not None:
            self._silenced.add(active)
        return cuts

    def silenced(self, response_id: str) -> bool:
        """Whether the caller has talked over this response."""
        return response_id in self._silenced

    def lost_audio_of(self, response_id: str) -> bool:
        """Whether audio of this response was received and then not played."""
        return response_id in self._lost

    def _item(self, response_id: str, item_id: str, content_index: int) -> _Item:
        for item in self._items:
            if item.item_id == item_id and item.content_index == content_index:
                return item
        played_ms, queued_ms = self._speaker.played_ms, self._speaker.queued_ms
        self._items = [item for item in self._items if item.start_ms + item.received_ms > played_ms]
        for item in self._items:
            item.complete = True  # audio comes item by item
        self._items.append(_Item(response_id, item_id, content_index, played_ms + queued_ms))
        self._of.setdefault(response_id, []).append(self._items[-1])
        return self._items[-1]
