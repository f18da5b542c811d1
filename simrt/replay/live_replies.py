"""What the agent said on a Live recording, reply by reply, and what brought each of them out."""

from __future__ import annotations

import statistics
from typing import TYPE_CHECKING

from simrt.dialect.live import OUTPUT_AUDIO
from simrt.replay.live_stretches import Stretch, Text, find_bursts, find_stretches, joined
from simrt.replay.live_track import CANCELLED, OUTPUT_TEXT
from simrt.replay.live_words import ENOUGH, told
from simrt.replay.score import Cause, ScoredFrame, ScoredReply, ScoredTurn

if TYPE_CHECKING:
    from simrt.replay.score_live import LiveScorer, RecordedAppend

_TIMELINE: Cause = ("timeline", 0)
_NEXT_US = 600_000  # after a longer pause it is another reply, if something has asked for one
_ALWAYS_US = 1_200_000  # ... in any case
_REACTS_US = 300_000  # nobody answers a turn that has only just begun
_CUT_US = 1_500_000  # a reply that ends so soon after the caller has begun to talk was broken off by that


class LiveReplies:
    """Cuts the output of one recording into replies and what lies between them."""

    def __init__(self, scorer: LiveScorer) -> None:
        self.s = scorer
        self.replies: list[ScoredReply] = []

    def find(self) -> None:
        """Cut the output into slots, fillers and replies."""
        pieces = [frame for frame in self.s.frames if frame.kind == OUTPUT_AUDIO]
        lengths = [self.s.format.duration_us(len(frame.audio)) for frame in pieces]
        slot_us = statistics.mode(lengths) if lengths else 0
        self.s.live.slot_us = slot_us = slot_us or self.s.live.slot_us
        texts = self.s.texts(OUTPUT_TEXT)
        if self.s.kugel:
            for burst, said in find_bursts(pieces, texts):
                self._burst(burst, said, slot_us)
        else:
            for number, frame in enumerate(pieces):
                frame.cause, frame.position_us = _TIMELINE, number * slot_us
                reached = self.s.timeline.when(number * slot_us)
                self.s.live.lags.append(frame.t_us - reached if reached is not None else self.s.live.lag_us)
                self.s.live.fillers[number] = frame
            self.s.live.lag_us = round(statistics.median(self.s.live.lags)) if pieces else self.s.live.lag_us
            whole = self.s.header.agent_audio == "whole"
            self._join(find_stretches(pieces, slot_us, self.s.format, texts, whole), pieces, slot_us)
        for turn in self.s.turns:
            self._talks_over(turn)

    def _burst(self, pieces: list[ScoredFrame], texts: list[Text], slot_us: int) -> None:
        """One reply that was sent as fast as it was made: its frames follow the moment at which it was begun."""
        first = min((text.start_us for text in texts), default=1 << 62)
        start_us = min(first, self.s.stood(pieces[0].t_us)) // slot_us * slot_us
        index, text = len(self.replies), joined(texts)
        reply = ScoredReply(index, index, f"reply-{index}", "", text, home_us=start_us)
        reply.cause, origin_us = self._asked_by(text, start_us, reply)
        reply.start_us = start_us - origin_us
        reached = self.s.timeline.when(start_us) or 0
        for frame in pieces:
            frame.audio_us = self.s.format.duration_us(len(frame.audio))
            frame.audio_start_us = reply.audio_us
            reply.audio_us += frame.audio_us
        for said in texts:
            said.frame.position_us = said.frame.audio_start_us = max(0, said.start_us - start_us)
        for frame in [*pieces, *(said.frame for said in texts)]:
            frame.reply, frame.response, frame.cause = index, index, reply.cause
            frame.delay_us = frame.t_us - reached
        self.replies.append(reply)

    def _join(self, stretches: list[Stretch], slots: list[ScoredFrame], slot_us: int) -> None:
        """Stretches that follow each other are one reply, unless something has asked for another."""
        current: Stretch | None = None
        reply = ScoredReply(0, 0, "")
        for stretch in stretches:
            if current is not None and not self._another(current, reply.content, stretch, slot_us):
                current.last = stretch.last
                current.texts.extend(stretch.texts)
                continue
            if current is not None:
                self._reply(reply, current, slots, slot_us)
            current, index = stretch, len(self.replies)
            reply = ScoredReply(index, index, f"reply-{index}", home_us=stretch.first * slot_us)
            reply.cause, origin_us = self._asked_by(stretch.text, reply.home_us, reply)
            reply.start_us = reply.home_us - origin_us
        if current is not None:
            self._reply(reply, current, slots, slot_us)

    def _another(self, before: Stretch, content: str, stretch: Stretch, slot_us: int) -> bool:
        """Whether a stretch is another reply than the one before, which answers the commentary `content`, if any."""
        end_us, start_us = (before.last + 1) * slot_us, stretch.first * slot_us
        waiting = self._placed(start_us)
        fits = max((told(a.content, stretch.text) for a in waiting), default=0.0)
        if fits >= ENOUGH and fits > (told(content, stretch.text) if content else 0.0):
            return True
        if any(before.first * slot_us < self.s.stop(turn) <= start_us for turn in self.s.turns):
            return True
        return start_us - end_us >= (_NEXT_US if waiting else _ALWAYS_US)

    def _placed(self, until_us: int) -> list[RecordedAppend]:
        """The commentaries on the timeline by then that no reply has answered, and that were not dropped."""
        return [
            a
            for a in self.s.appends
            if a.kind == "session.commentary.append"
            and not a.answered
            and a.placed_us is not None
            and max(a.placed_us, a.came_us + 1) <= until_us
            and not (a.loose and self._dropped(a, until_us))
        ]

    def _dropped(self, append: RecordedAppend, until_us: int) -> bool:
        """KugelAudio drops what belongs to no delegation when the caller finishes a turn first."""
        ends = (self.s.stop(turn) for turn in self.s.turns)
        return self.s.header.profile == "kugel" and any(append.came_us < end_us <= until_us for end_us in ends)

    def _reply(self, reply: ScoredReply, stretch: Stretch, slots: list[ScoredFrame], slot_us: int) -> None:
        """Give a reply its frames."""
        index, start_us, reply.text = int(reply.index), reply.home_us, stretch.text
        for number in range(stretch.first, stretch.last + 1):
            frame = self.s.live.fillers.pop(number)
            frame.reply, frame.response, frame.audio_us = index, index, slot_us
            frame.audio_start_us = reply.audio_us
            reply.audio_us += slot_us
        for text in stretch.texts:
            self.s.hang(text.frame, reply.cause, start_us, text.start_us)
            text.frame.reply = text.frame.response = index
            text.frame.audio_start_us = max(0, min(text.start_us - start_us, reply.audio_us))
        for number in range(stretch.first, stretch.last + 1):
            slots[number].cause = reply.cause
            slots[number].position_us = slots[number].delay_us = (number - stretch.first) * slot_us
        self.replies.append(reply)

    def _asked_by(self, text: str, start_us: int, reply: ScoredReply) -> tuple[Cause, int]:
        """A commentary whose words it has, a turn of the caller, any commentary: the cause, and where that stood."""
        talks = ((self.s.home(t.index) + t.start_at_us, self.s.stop(t)) for t in self.s.turns)
        reply.over = any(begun_us <= start_us < end_us for begun_us, end_us in talks)
        waiting = self._placed(start_us)
        best = max(waiting, key=lambda a: (told(a.content, text), -a.came_us), default=None)
        answered = {other.cause for other in self.replies}
        turn = next((t for t in reversed(self.s.turns) if self.s.home(t.index) + _REACTS_US <= start_us), None)
        free = turn is not None and not {("turn.start", turn.index), ("turn.stop", turn.index)} & answered
        if best is not None and (told(best.content, text) >= ENOUGH or not free):
            best.answered, reply.content = True, best.content
            self.s.live.answered.append(best.number)
            return ("commentary", 0), max(best.placed_us or 0, best.came_us + 1)
        if turn is None:
            return _TIMELINE, 0
        stop_us = self.s.stop(turn)
        if start_us < stop_us:
            return ("turn.start", turn.index), self.s.home(turn.index)
        return ("turn.stop", turn.index), stop_us

    def _talks_over(self, turn: ScoredTurn) -> None:
        """A reply that was being spoken when the caller began: broken off, or not."""
        start_us = self.s.home(turn.index) + turn.start_at_us
        for reply in self.replies:
            end_us = reply.home_us + reply.audio_us
            if not reply.home_us <= start_us < end_us or not isinstance(reply.index, int):
                continue
            turn.barge_in = True
            begun, last = (
                self.s.timeline.when(start_us) or 0,
                self.s.timeline.when(min(end_us, self.s.timeline.total_us)) or 0,
            )
            cancelled = next(
                (f for f in self.s.frames if f.kind == CANCELLED and begun <= f.t_us <= last + _CUT_US), None
            )
            if cancelled is not None:
                cancelled.reply, cancelled.cause, cancelled.position_us = reply.index, ("turn.start", turn.index), None
                cancelled.delay_us = cancelled.t_us - begun
            elif self.s.kugel or end_us - start_us > _CUT_US:
                turn.over.append(reply.index)
            else:
                turn.cut_us = end_us - start_us
