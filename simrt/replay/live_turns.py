"""The caller's turns on a Live session: what was heard of them, when the agent takes them up, what it delegates.

There are no speech events on the wire: a turn shows in its transcript, in a reply that breaks off, and in what follows
its end. Words that did not arrive are in no transcript.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simrt.dialect import live_events
from simrt.replay.listener import Listener, Match, Utterance
from simrt.replay.live_timeline import TURN, window_ms
from simrt.replay.score import ScoredFrame, ScoredTurn

if TYPE_CHECKING:
    from simrt.replay.live import LiveSession

INPUT_TEXT = "session.input_transcript.delta"
DELEGATED = "session.delegation.created"
COMMITTED = "kugel.input_transcript.committed"
_DELEGATE_US = 25_000  # from the slot at the turn's end to the delegation


class LiveTurns:
    """Listens for one session, and lets the turns of its score come about."""

    def __init__(self, session: LiveSession) -> None:
        self.s = session
        turns = session.score.turns
        for turn in turns:
            if turn.utterance is None and turn.samples is not None and len(turn.samples):
                turn.utterance = Utterance(turn.index, turn.samples, turn.words, turn.home_us)
        self.listener = Listener([turn.utterance for turn in turns if turn.utterance is not None])
        self.listener.arrivals = session.timeline
        self.matches: dict[int, Match] = {}
        self.talking: set[int] = set()
        self._by_index = {turn.index: turn for turn in turns}
        self._ranges: dict[int, tuple[int, int, int]] = {}  # of each transcript delta: turn, first and last word
        self._arrived: dict[int, list[bool]] = {}

    def recognised(self, match: Match) -> None:
        """The caller has begun to say one of the clips."""
        s = self.s
        turn = self._by_index[int(match.utterance.key)]
        if turn.hearing == "unheard":
            return
        self.matches[turn.index] = match
        onset_us = match.offset_us + max(0, turn.start_at_us)
        s.timeline.wait(max(onset_us, match.from_us), TURN, lambda position: self._starts(turn, position))
        s.timeline.wait(match.offset_us + turn.stop_at_us, TURN, lambda position: self._stops(turn, position))
        self._spread(turn)
        s.reached(("turn.start", turn.index), match.offset_us)

    def _spread(self, turn: ScoredTurn) -> None:
        """Which words of the turn each of its transcript deltas tells."""
        frames = [f for f in self.s.score.answers.get(("turn.start", turn.index), ()) if f.kind == INPUT_TEXT]
        told = ""
        for frame in frames:
            delta = str((frame.event or {}).get("delta"))
            goes_on = bool(told) and not told[-1].isspace() and delta[:1].isalpha() and told[-1].isalpha()
            first = len(told.split()) - goes_on
            told += delta if goes_on else f" {delta}"
            self._ranges[frame.index] = (turn.index, first, len(told.split()))
        if len(told.split()) != len(turn.words):  # its words are not those of the deltas: nobody knows which were lost
            for frame in frames:
                del self._ranges[frame.index]

    def _starts(self, turn: ScoredTurn, position_us: int) -> None:
        if turn.hearing != "turn":
            return
        self.talking.add(turn.index)
        speaking = self.s.track.speaking
        if speaking is None or speaking.index in turn.over:
            return
        if turn.cut_us:
            self.s.timeline.wait(position_us + turn.cut_us, TURN, self.s.track.cut)
        else:
            self.s.track.cut(position_us)

    def _stops(self, turn: ScoredTurn, position_us: int) -> None:
        s = self.s
        self.talking.discard(turn.index)
        arrived = self.arrived(turn.index)
        s.reached(("turn.stop", turn.index), position_us)
        moment = s.timeline.when(position_us) or s.now_us
        if turn.hearing == "turn" and turn.text:  # a cough is no answer
            s.appends.turn_finished()
            if s.appends.expecting:
                s.appends.expecting = False
                if not self._delegates(turn) and s.rules.delegates:
                    self._delegate(position_us, moment)
        if s.observer is not None:
            s.observer.turn_heard(turn.index, self.text(turn.index), arrived.count(False), moment)

    def _delegates(self, turn: ScoredTurn) -> bool:
        return any(frame.kind == DELEGATED for frame in self.s.score.answers.get(("turn.stop", turn.index), ()))

    def _delegate(self, position_us: int, moment_us: int) -> None:
        """The answer to a question that was asked for the client is the client's, script or no script."""
        s = self.s
        s.delegations_made += 1
        event = live_events.delegation_created(s.new_id(), f"item_made_{s.delegations_made:04d}", 0)
        event["offset_ms"] = window_ms(position_us)[0]
        s.delegate(event, position_us, moment_us + s.live.lag_us + _DELEGATE_US)

    def arrived(self, index: int, last: int | None = None) -> list[bool]:
        """For each word of a turn, or those before `last`, whether it has arrived.

        That is settled once for each word: when it is told in the transcript, or when the turn is over.
        """
        known = self._arrived.setdefault(index, [])
        last = len(self._by_index[index].words) if last is None else last
        if len(known) < last:
            known.extend(self.listener.words_of(self.matches[index], len(known), last))
        return known[:last]

    def text(self, index: int) -> str:
        """What was heard of a turn."""
        turn = self._by_index[index]
        there = self.arrived(index) if index in self.matches else []
        if all(there):
            return turn.text
        said = " ".join(word.text for word, heard in zip(turn.words, there, strict=True) if heard)
        return said[:1].upper() + said[1:]

    # --- what the events about a turn say in this call -----------------------------------------------------------

    def adapt(self, frame: ScoredFrame, event: dict[str, Any]) -> dict[str, Any] | None:
        """A turn's event with this call's positions and words; None if nothing changes, empty if it is left out."""
        cause, index = frame.cause
        match = self.matches.get(index) if cause in ("turn.start", "turn.stop") else None
        if match is None:
            return None
        changed: dict[str, Any] = {}
        if frame.kind == INPUT_TEXT and frame.index in self._ranges:
            delta = self._part(frame, event)
            if not delta:
                return {}
            changed["delta"] = delta
        if frame.kind == COMMITTED:
            changed["text"] = self._committed(index, str(event.get("text")))
        turn = self._by_index[index]
        shift_us = match.offset_us - (turn.home_us or 0)
        if turn.home_us is None:
            at_us = match.offset_us + (turn.stop_at_us if cause == "turn.stop" else 0) + (frame.position_us or 0)
            changed |= _on_grid(event, at_us)
            if frame.kind == COMMITTED:
                changed["start_ms"] = window_ms(match.offset_us + turn.onset_us)[0]
        elif shift_us:
            for key in ("start_ms", "end_ms", "offset_ms"):
                if isinstance(event.get(key), int):
                    changed[key] = max(0, event[key] + shift_us // 1000)
        changed = {key: value for key, value in changed.items() if event.get(key) != value}
        return {**event, **changed} if changed else None

    def _committed(self, index: int, text: str) -> str:
        """What is committed of a turn: without the words that did not arrive. It may be a part of the turn only."""
        own, words = text.lower().split(), [word.text.lower() for word in self._by_index[index].words]
        first = next((k for k in range(len(words)) if words[k : k + len(own)] == own), None)
        there = self.arrived(index)
        if first is not None and all(there[first : first + len(own)]):
            return text
        return text if all(there) else self.text(index)

    def _part(self, frame: ScoredFrame, event: dict[str, Any]) -> str:
        """What a delta of the transcript tells: without the words that did not arrive."""
        index, first, last = self._ranges[frame.index]
        arrived = self.arrived(index, last)[first:last]
        delta = str(event.get("delta"))
        if all(arrived):
            return delta
        kept = [word for word, there in zip(delta.split(), arrived, strict=True) if there]
        return (" " if delta.startswith(" ") else "") + " ".join(kept) if kept else ""


def _on_grid(event: dict[str, Any], at_us: int) -> dict[str, Any]:
    """The windows of an event of a script, which knows of no timeline."""
    start, end = window_ms(at_us)
    out: dict[str, Any] = {}
    if "offset_ms" in event:
        out["offset_ms"] = start
    if "start_ms" in event:
        out |= {"start_ms": start, "end_ms": end}
    return out
