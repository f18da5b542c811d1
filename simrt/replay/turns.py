"""The caller's turns at replay: which were recognised, when the server speaks up about them, and what it heard.

Speech events move with the audio: a turn starts and stops when that much of its clip has *arrived*. Words that did not
arrive are not in its transcript.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from simrt.audio import AudioFormat
from simrt.replay.listener import Listener, Match, Utterance
from simrt.replay.score import Cause, ScoredFrame, ScoredTurn

if TYPE_CHECKING:
    from simrt.replay.realtime import RealtimeSession

_DELTA = "conversation.item.input_audio_transcription.delta"
_COMPLETED = "conversation.item.input_audio_transcription.completed"
_LOST_HEAD_US = 60_000  # less is how coarsely the listener sees where sound begins


class Turns:
    """Listens for one session, and lets the turns of its score come about."""

    def __init__(self, session: RealtimeSession) -> None:
        self.s = session
        turns = session.score.turns
        for turn in turns:
            if turn.utterance is None and turn.samples is not None and len(turn.samples):
                turn.utterance = Utterance(turn.index, turn.samples, turn.words, turn.home_us)
        self.listener = Listener([turn.utterance for turn in turns if turn.utterance is not None])
        self.matches: dict[int, Match] = {}
        self.speaking = False
        self.held: list[ScoredFrame] = []  # a reply that waits for the client's response.create
        self.held_create: dict[str, Any] | None = None  # PolyAI: one that waits for the end of the turn
        self.committed_us = 0
        self._by_index = {turn.index: turn for turn in turns}
        self._by_item = {turn.item_id: turn for turn in turns}
        self.heard: dict[int, str] = {}  # what was heard of the turns that lost words
        self._told: set[int] = set()
        self._started_us: dict[int, int] = {}  # when the client is told of each turn's beginning
        self._awaiting: list[tuple[int, str, ScoredTurn, Match]] = []

    def feed(self, data: bytes, fmt: AudioFormat, now_us: int) -> None:
        """Caller audio has arrived."""
        for match in self.listener.feed(data, fmt, now_us):
            self._recognised(match)
        if self._awaiting and self._awaiting[0][0] <= self.listener.arrivals.total_us:
            self._reach()

    def forget(self) -> None:
        """The client has cleared the input buffer."""
        self.listener.forget()
        self.committed_us = self.listener.arrivals.total_us

    def _recognised(self, match: Match) -> None:
        turn = self._by_index[int(match.utterance.key)]
        if turn.hearing == "unheard":
            return
        self.matches[turn.index] = match
        start_at = match.offset_us + turn.start_at_us
        first = self.first_sound(turn, match)
        if first > match.offset_us + turn.onset_us:
            start_at = max(start_at, first)
        if turn.hearing == "turn":
            self._awaiting.append((max(0, start_at), "start", turn, match))
        self._awaiting.append((match.offset_us + turn.stop_at_us, "stop", turn, match))
        self._awaiting.sort(key=lambda entry: entry[0])

    @staticmethod
    def first_sound(turn: ScoredTurn, match: Match) -> int:
        """Where in the caller's audio the voice begins: the clip's own onset, later when its head did not arrive."""
        onset_us = match.offset_us + turn.onset_us
        return match.from_us if match.from_us - onset_us > _LOST_HEAD_US else onset_us

    def _reach(self) -> None:
        """Let the speech events come about whose position in the caller's audio has arrived."""
        if self.s.detection is None:  # the client commits by itself
            return
        while self._awaiting:
            position, what, turn, match = self._awaiting[0]
            when = self.listener.arrivals.when(position)
            if when is None:
                return
            del self._awaiting[0]
            if what == "start":
                self._starts(turn, match, when)
            else:
                self._stops(turn, match, when)

    def _starts(self, turn: ScoredTurn, match: Match, when_us: int) -> None:
        s = self.s
        self.speaking = True
        extra = 0
        number = s.answers.under_way()
        if number is not None and (s.detection or {}).get("interrupt_response") is not False:
            starts = s.score.answers.get(("turn.start", turn.index), ())
            recorded = any(f.response == number for f in starts)
            if s.active is None and starts and starts[0].t_us:
                began = next(f for f in s.score.frames if f.response == number and f.kind == "response.created")
                recorded = recorded or began.t_us > starts[0].t_us  # it began while the caller spoke, there too
            if not recorded:
                extra = s.answers.cut_by_turn(turn, match, when_us)
        cause = ("turn.start", turn.index)
        s.happened(cause, when_us, extra)
        told = [frame.delay_us for frame in s.score.answers.get(cause, ()) if frame.response is None]
        self._started_us[turn.index] = when_us + extra + max(told, default=0)

    def _stops(self, turn: ScoredTurn, match: Match, when_us: int) -> None:
        s = self.s
        if turn.hearing == "turn":
            self.speaking = False
        lost = self._listen(turn, match)
        cause = ("turn.stop", turn.index)
        when_us += self._too_soon(cause, when_us)
        if (s.detection or {}).get("create_response") is False:
            self.held = [frame for frame in s.score.answers.get(cause, ()) if frame.response is not None]
            s.happened(cause, when_us, only=lambda frame: frame.response is None)
        else:
            created = next((f for f in s.score.answers.get(cause, ()) if f.kind == "response.created"), None)
            if created is not None:
                s.answers.make_way(created, when_us)
            s.happened(cause, when_us)
        create, self.held_create = self.held_create, None
        if create is not None and s.answers.starting() is not None:
            s.acknowledge(create)
        elif create is not None:
            s.answers.on_response_create(create, when_us)
        self._note(turn, lost, when_us)

    def _too_soon(self, cause: Cause, when_us: int) -> int:
        """How much later a turn must end that came in one piece, so that it does not end before it has begun."""
        first_us = min((frame.delay_us for frame in self.s.score.answers.get(cause, ())), default=0)
        return max(0, self._started_us.get(cause[1], 0) - when_us - first_us)

    def commit(self, now_us: int) -> bool:
        """The client ends the turn itself: the one that is being heard is taken. False if none is."""
        turn, match = next(((t, m) for _, what, t, m in self._awaiting if what == "stop"), (None, None))
        if turn is None or match is None:
            return False
        self._awaiting = [entry for entry in self._awaiting if entry[2] is not turn]
        self.committed_us = self.listener.arrivals.total_us
        lost = self._listen(turn, match)
        frames = self.s.score.answers.get(("turn.stop", turn.index), ())
        self.held = [frame for frame in frames if frame.response is not None]
        speech = "input_audio_buffer.speech_stopped"
        self.s.happened(
            ("turn.stop", turn.index), now_us, only=lambda frame: frame.response is None and frame.kind != speech
        )
        self._note(turn, lost, now_us)
        return True

    def answer(self, now_us: int) -> bool:
        """The client asks for the reply that its settings kept back. False if there is none."""
        held, self.held = self.held, []
        for frame in held:
            self.s.schedule(frame, now_us + frame.delay_us)
        return bool(held)

    def _listen(self, turn: ScoredTurn, match: Match) -> int:
        """Settle what was heard of a turn; returns how many words were lost."""
        arrived = self.listener.words_of(match)
        if not all(arrived):
            text = " ".join(word.text for word, there in zip(turn.words, arrived, strict=True) if there)
            self.heard[turn.index] = text[:1].upper() + text[1:]
        return arrived.count(False)

    def _note(self, turn: ScoredTurn, lost: int, when_us: int) -> None:
        if self.s.observer is not None:
            self.s.observer.turn_heard(turn.index, self.heard.get(turn.index, turn.text), lost, when_us)

    # --- what the events about a turn say in this call -----------------------------------------------------------

    def adapt(self, frame: ScoredFrame, event: dict[str, Any]) -> dict[str, Any] | None:
        """A turn's event with this call's positions and words; None if nothing changes, empty if it is left out."""
        if frame.kind == _DELTA:
            return self._part(event)
        if frame.kind == _COMPLETED:
            turn = self._by_item.get(str(event.get("item_id")))
            text = self.heard.get(turn.index) if turn is not None else None
            return None if text is None else {**event, "transcript": text}
        if frame.kind in ("input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped"):
            return self._placed(frame, event)
        return None

    def _part(self, event: dict[str, Any]) -> dict[str, Any] | None:
        """A delta of the transcript: once a word is lost only the first one behind the turn's end tells anything."""
        turn = self._by_item.get(str(event.get("item_id")))
        match = self.matches.get(turn.index) if turn is not None else None
        if turn is None or match is None:
            return None
        text = self.heard.get(turn.index)
        if text is None:
            over_us = self.listener.arrivals.total_us - match.offset_us
            arrived = zip(turn.words, self.listener.words_of(match), strict=True)
            if any(word.end_ms * 1000 <= over_us and not there for word, there in arrived):
                return {}
        elif turn.index in self._told:
            return {}
        self._told.add(turn.index)
        return None if text is None else {**event, "delta": text}

    def _placed(self, frame: ScoredFrame, event: dict[str, Any]) -> dict[str, Any] | None:
        cause, index = frame.cause
        match = self.matches.get(index) if cause in ("turn.start", "turn.stop") else None
        if match is None:
            return None
        turn = self._by_index[index]
        for key, value_us in (("audio_start_ms", turn.start_value_us), ("audio_end_ms", turn.stop_value_us)):
            if key in event:
                ms = max(0, (match.offset_us + value_us) // 1000)
                return None if ms == event[key] else {**event, key: ms}
        return None
