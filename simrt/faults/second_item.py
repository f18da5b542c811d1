"""A reply is two message items in one response.

The model speaks, and speaks on in a second item: the first is finished, another is opened, and its audio follows in
the same response. A client that ties a response to one item never plays the second, or plays it over the first:
reported for livekit/agents#5768 and pipecat-ai/pipecat#4465.
"""

from __future__ import annotations

import copy
from random import Random
from typing import Any, ClassVar

from simrt.faults.base import Armed, Context, Fault, Ms, Send
from simrt.faults.draw import Draw
from simrt.faults.rewrite import fresh_id, response_frames, retold
from simrt.faults.speech import check_place
from simrt.replay.early import item_of
from simrt.replay.edit import Changes, next_index, patched
from simrt.replay.score import Score, ScoredFrame

_OPENING = ("response.output_item.added", "conversation.item.added", "response.content_part.added")
_CLOSING = (
    "response.output_audio.done",
    "response.output_audio_transcript.done",
    "response.content_part.done",
    "conversation.item.done",
    "response.output_item.done",
)
_WORDS = "response.output_audio_transcript.delta"


class SecondItem(Fault, frozen=True):
    """From `at` ms of its audio on, reply `reply` goes on in a second message item of the same response."""

    name: ClassVar[str] = "second-item"
    reply: int = -1
    at: Ms = 1500

    @classmethod
    def draw(cls, draw: Draw) -> SecondItem:
        """Within any reply."""
        reply = draw.reply()
        return cls(reply, draw.place(reply))

    def check(self, score: Score) -> None:
        """The reply must be there and have a piece of audio that begins at `at` or later."""
        check_place(self, score, self.reply, self.at)
        frames = response_frames(self, score, self.reply)
        if _first_of_second(frames, self.at) is None:
            raise self.never(f"no piece of reply {self.reply}'s audio begins at {self.at}ms or later, but the first")

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """What follows the place is of another item."""
        frames = response_frames(self, score, self.reply)
        first = _first_of_second(frames, self.at)
        assert first is not None
        return _Split(score, frames, first, number).score()

    def arm(self, context: Context, number: int) -> Armed:
        """Has fired when the second item is opened."""
        return _Armed(self, context, number)


def _first_of_second(frames: list[ScoredFrame], at_ms: int) -> ScoredFrame | None:
    """The first piece of audio that is the second item's."""
    return next((f for f in frames if f.audio_us and f.audio_start_us >= max(1, at_ms * 1000)), None)


class _Split:
    """One response taken apart."""

    def __init__(self, score: Score, frames: list[ScoredFrame], first: ScoredFrame, number: int) -> None:
        self.whole, self.frames, self.first, self.number = score, frames, first, number
        self.item_id = item_of(first.event or {})
        self.second_id = fresh_id(self.item_id, number)
        self.mine = [frame for frame in frames if item_of(frame.event or {}) == self.item_id]
        while (before := self.mine[self.mine.index(self.first) - 1]).kind == _WORDS:
            self.first = before  # the words of a piece come before its sound
        self.at = 1 + max(int((frame.event or {}).get("output_index") or 0) for frame in frames)
        words = [frame for frame in self.mine if frame.kind == _WORDS]
        self.said = "".join(str((f.event or {}).get("delta")) for f in words if self._before(f))
        told = next((f.event or {} for f in self.mine if f.kind == "response.output_audio_transcript.done"), {})
        text = str(told.get("transcript") or "")
        later = "".join(str((f.event or {}).get("delta")) for f in words if not self._before(f))
        self.rest = (text[len(self.said) :] if text.startswith(self.said) else later).strip()

    def _before(self, frame: ScoredFrame) -> bool:
        return (frame.delay_us, frame.place) < (self.first.delay_us, self.first.place)

    def score(self) -> Score:
        """The score with it in two."""
        changes: Changes = {}
        for frame in self.mine:
            if not self._before(frame):
                changes[frame.index] = retold(frame, self._second(frame.event or {}, self.rest))
        for frame in self.frames:
            if frame.kind == "response.done":
                changes[frame.index] = retold(frame, self._summed_up(frame.event or {}))
        closing = [self._event(frame, self._told(frame.event or {}, self.said)) for frame in self._of(_CLOSING)]
        opening = [self._event(frame, self._second(frame.event or {}, "")) for frame in self._of(_OPENING)]
        more, index = [], next_index(self.whole)
        between = [*closing, *opening]
        for k, (frame, event) in enumerate(between):
            rank = self.first.place - 1 + (k + 1) / (len(between) + 1)
            when = {"delay_us": self.first.delay_us, "audio_start_us": self.first.audio_start_us}
            more.append(retold(frame, event, index=index + k, rank=rank, **when))
        return patched(self.whole, changes, more)

    def _of(self, kinds: tuple[str, ...]) -> list[ScoredFrame]:
        return [frame for frame in self.mine if frame.kind in kinds]

    def _event(self, frame: ScoredFrame, event: dict[str, Any]) -> tuple[ScoredFrame, dict[str, Any]]:
        return frame, {**event, "event_id": f"event_split{self.number}_{frame.index}"}

    def _told(self, event: dict[str, Any], text: str) -> dict[str, Any]:
        """The event with this for what the item says."""
        made = copy.deepcopy(event)
        if "transcript" in made:
            made["transcript"] = text
        parts = [made.get("part"), *((made.get("item") or {}).get("content") or [])]
        for part in parts:
            if isinstance(part, dict) and "transcript" in part:
                part["transcript"] = text
        return made

    def _second(self, event: dict[str, Any], text: str) -> dict[str, Any]:
        """The event as one of the second item."""
        made = self._told(event, text)
        if "item_id" in made:
            made["item_id"] = self.second_id
        if "output_index" in made:
            made["output_index"] = self.at
        if "previous_item_id" in made:
            made["previous_item_id"] = self.item_id
        if isinstance(made.get("item"), dict):
            made["item"]["id"] = self.second_id
        return made

    def _summed_up(self, event: dict[str, Any]) -> dict[str, Any]:
        made = copy.deepcopy(event)
        output = (made.get("response") or {}).get("output") or []
        item = next((item for item in output if item.get("id") == self.item_id), None)
        if item is not None:
            second = self._second({"item": item}, self.rest)["item"]
            output[output.index(item)] = self._told({"item": item}, self.said)["item"]
            output.append(second)
        return made


class _Armed(Armed):
    def __init__(self, fault: Fault, context: Context, number: int) -> None:
        super().__init__(fault, context, number)
        self.prefix = f"event_split{number}_"

    def emit(self, send: Send, now_us: int) -> tuple[Send, ...]:
        frame = send.frame
        if frame is not None and str((frame.event or {}).get("event_id")).startswith(self.prefix):
            self.fire(now_us)
        return (send,)
