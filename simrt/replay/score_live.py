"""Scores Live recordings: what each server frame hangs on, mostly a position on the timeline.

Where the caller's audio is whole, its turns are found in it and what follows a turn moves with that. Byte counts say
when the timeline had come how far, and nothing more: there all hangs on absolute positions.
"""

import base64
import binascii
import statistics
from bisect import bisect_right
from typing import Any

import msgspec

from simrt.cassette.header import Header
from simrt.dialect import Formats, dialect
from simrt.dialect.live import INPUT_AUDIO, OUTPUT_AUDIO, session_format
from simrt.dialect.live_rules import NOT_JSON, Rules
from simrt.replay.clips import CallerAudio, place_words
from simrt.replay.live_appends import APPENDS
from simrt.replay.live_replies import LiveReplies
from simrt.replay.live_stretches import Text, find_turns
from simrt.replay.live_timeline import Timeline
from simrt.replay.live_track import OUTPUT_TEXT
from simrt.replay.live_turns import COMMITTED, DELEGATED, INPUT_TEXT
from simrt.replay.live_wire import CLOSED, USAGE
from simrt.replay.score import (
    Cause,
    ClientEvent,
    LiveScore,
    Score,
    ScoredFrame,
    ScoredReply,
    ScoredTurn,
    index_answers,
)
from simrt.trace import Trace

_START: Cause = ("session.start", 0)
_CLOSE: Cause = ("session.close", 0)
_TIMELINE: Cause = ("timeline", 0)
_ANSWERS = {
    "session.started": "session.start",
    "session.updated": "session.update",
    "session.input_audio.muted": "session.input_audio.mute",
    "session.input_audio.unmuted": "session.input_audio.unmute",
    CLOSED: "session.close",
}
_ACKS = {f"{name}ed": name for name in APPENDS}
_LATE_US = 2_000_000  # the longest silence that the agent waits for at the end of a turn
_USUAL_US = 700_000  # ... and the longest that is usual
_PLACED = {INPUT_TEXT, OUTPUT_TEXT, DELEGATED, COMMITTED, *_ACKS}


class RecordedAppend(msgspec.Struct):
    """A recorded append: where the timeline stood when it came, and where it was placed."""

    number: int
    kind: str
    content: str
    event_id: Any
    came_us: int
    loose: bool = False  # belongs to no delegation
    placed_us: int | None = None
    answered: bool = False
    refused: bool = False


class LiveScorer:
    """Goes through a trace once for the audio and once for the causes; `score()` is the result."""

    def __init__(self, trace: Trace, header: Header) -> None:
        self.trace, self.header = trace, header
        self.audio = CallerAudio()
        self.format = session_format(None)
        self.rules = Rules(header.profile)
        self.kugel = False
        self.frames: list[ScoredFrame] = []
        self.client_events: list[ClientEvent] = []
        self.appends: list[RecordedAppend] = []
        self.cause_time: dict[Cause, int] = {("open", 0): 0}
        self.live = LiveScore()
        self.turns: list[ScoredTurn] = []
        self.replies: list[ScoredReply] = []
        self._came = 0  # audio appends
        self._counts: dict[str, int] = {}
        self._pending: list[ClientEvent] = []

    def score(self) -> Score:
        """Put the score together."""
        self._listen()
        self.timeline = self._timeline()
        for number, frame in enumerate(self.trace.frames):
            event = frame.event()
            if frame.sender == "client":
                self._client(event, frame.t_us)
            else:
                kind = str(event.get("type")) if event is not None else ""
                scored = ScoredFrame(number, frame.payload, event, kind, _TIMELINE, 0, t_us=frame.t_us)
                self._server(scored, event or {})
                self.frames.append(scored)
        self._find()
        return self._finished()

    def _finished(self) -> Score:
        closing = self.trace.closing
        by_server = closing is not None and closing.by != "client"
        cause = _CLOSE if _CLOSE in self.cause_time else _START if _START in self.cause_time else ("open", 0)
        return Score(
            dialect="live",
            profile=self.header.profile,
            opening=self.trace.opening,
            frames=self.frames,
            answers=index_answers(self.frames),
            turns=self.turns,
            replies=self.replies,
            client_events=self.client_events,
            closing=closing,
            closing_cause=cause if by_server else None,
            closing_delay_us=closing.t_us - self.cause_time[cause] if by_server and closing else 0,
            input_format=self.format,
            output_format=self.format,
            live=self.live,
        )

    # --- the timeline --------------------------------------------------------------------------------------------

    def _listen(self) -> None:
        """Take in the caller's audio, and what the session is."""
        speaks, formats, muted = dialect("live"), Formats(), False
        for frame in self.trace.frames:
            event = frame.event()
            if event is None:
                continue
            speaks.update_formats(formats, frame.sender, event)
            kind = event.get("type")
            if frame.sender == "client" and kind == INPUT_AUDIO:
                data = decoded(event.get("audio"))
                if muted:
                    data = formats.input.silence(1)[: formats.input.width] * (len(data) // formats.input.width)
                self.audio.add(data, formats.input, frame.t_us)
            elif frame.sender == "client" and kind in ("session.input_audio.mute", "session.input_audio.unmute"):
                muted = kind == "session.input_audio.mute"
            elif kind == "session.started":
                session = event.get("session")
                self.kugel = isinstance(session, dict) and isinstance(session.get("kugel"), dict)
        self.format = formats.output

    def _timeline(self) -> Timeline:
        """When the recorded session had come where. It may have gone on after the last audio that is known of."""
        arrivals = self.audio.arrivals
        total_us = arrivals.total_us
        furthest, output_us = 0, 0
        for frame in self.trace.sent_by("server"):
            event = frame.event() or {}
            kind = str(event.get("type"))
            if kind == OUTPUT_AUDIO:
                furthest = furthest if self.kugel else max(furthest, output_us)
                output_us += self.format.duration_us(len(decoded(event.get("delta"))))
            elif kind in _PLACED and not (self.kugel and kind == OUTPUT_TEXT):
                furthest = max(furthest, _position(event))
        self.live.run_from_us, self.live.run_us = total_us, max(0, furthest - total_us)
        timeline = Timeline(total_us, self.live.run_us)
        before = 0
        for end_us, t_us in zip(arrivals.ends, arrivals.times, strict=True):
            timeline.add(end_us - before, t_us)
            before = end_us
        return timeline

    def stood(self, t_us: int) -> int:
        """Where the timeline stood at a moment of the recording."""
        k = bisect_right(self.timeline.times, t_us)
        if k == len(self.timeline.times):
            return self.timeline.position(t_us)
        return self.timeline.ends[k - 1] if k else 0

    def hang(self, scored: ScoredFrame, cause: Cause, cause_us: int, position_us: int) -> None:
        """Let a frame hang on a position of the timeline that had been reached, `cause_us` being the cause's own."""
        position_us = max(0, min(position_us, self.stood(scored.t_us)))
        reached = self.timeline.when(position_us)
        if reached is None:  # no audio at all: all there is is the start
            self._after(scored, _START)
            return
        scored.cause, scored.position_us = cause, position_us - cause_us
        scored.delay_us = scored.t_us - reached

    def _after(self, scored: ScoredFrame, cause: Cause) -> None:
        """Let a frame hang on the moment of a cause."""
        if cause not in self.cause_time:
            cause = ("open", 0)
        scored.cause, scored.position_us = cause, None
        scored.delay_us = scored.t_us - self.cause_time[cause]

    # --- frame by frame ------------------------------------------------------------------------------------------

    def _client(self, event: dict[str, Any] | None, t_us: int) -> None:
        kind = str(event.get("type")) if event is not None else "?"
        if kind == INPUT_AUDIO:
            self._came += 1
            return
        nth = self._counts.get(kind, 0)
        self._counts[kind] = nth + 1
        made = ClientEvent(kind, nth, event, t_us)
        self.client_events.append(made)
        self._pending.append(made)
        if kind == "session.start" and event is not None and self.rules.refuse(event) is None:
            self.rules.start(event, "", 0)
        self.cause_time[kind, nth] = t_us
        if kind in APPENDS and event is not None:
            content = str(event.get("content"))
            loose = event.get("delegation_id") is None
            append = RecordedAppend(nth, kind, content, event.get("event_id"), self._came_us(t_us), loose)
            self.appends.append(append)

    def _came_us(self, t_us: int) -> int:
        """Where the timeline stands in the pass over the frames: what came at the same moment, but later, is not in."""
        if self._came == len(self.timeline.ends):
            return self.timeline.position(t_us)
        return self.timeline.ends[self._came - 1] if self._came else 0

    def _take(self, kind: str, event_id: Any = None) -> Cause | None:
        """The oldest unanswered command of that kind, or the one of that event_id; taken off the list."""
        for made in self._pending:
            named = event_id is not None and (made.event or {}).get("event_id") == event_id
            if named or (event_id is None and made.kind == kind):
                self._pending.remove(made)
                return made.kind, made.nth
        return None

    def _server(self, scored: ScoredFrame, event: dict[str, Any]) -> None:
        kind = scored.kind
        if kind in (USAGE, CLOSED):
            self.live.usage_us[scored.index] = self.stood(scored.t_us)
        if kind in _ANSWERS:
            self._after(scored, self._take(_ANSWERS[kind]) or _START)
        elif kind in _ACKS:
            self._acknowledged(scored, event)
        elif kind == "error":
            self._refused(scored, event)
        elif kind == USAGE:
            self._after(scored, _START)
        elif kind == OUTPUT_AUDIO:
            scored.audio = decoded(event.get("delta"))
        elif kind == "info" or not self.timeline.total_us:
            self._after(scored, _START)
        elif kind in _PLACED:
            self.rules.delegated(str((event.get("delegation") or {}).get("id")))
            self.hang(scored, _TIMELINE, 0, _position(event))
        else:
            self.hang(scored, _TIMELINE, 0, self.stood(scored.t_us))

    def _acknowledged(self, scored: ScoredFrame, event: dict[str, Any]) -> None:
        kind, named = _ACKS[scored.kind], event.get("client_event_id")
        waiting = [a for a in self.appends if a.kind == kind and a.placed_us is None and not a.refused]
        append = next((a for a in waiting if named is not None and a.event_id == named), next(iter(waiting), None))
        reached = self.timeline.when(append.came_us + 1) if append is not None else None
        if append is None or reached is None:
            self._after(scored, self._take(kind, named) or _START)
            return
        self._take(kind, named)
        append.placed_us = _position(event)
        scored.cause, scored.position_us = (f"placed:{APPENDS[kind]}", append.number), append.placed_us - append.came_us
        scored.delay_us = scored.t_us - reached

    def _refused(self, scored: ScoredFrame, event: dict[str, Any]) -> None:
        detail = event.get("error")
        detail = detail if isinstance(detail, dict) else {}
        named = detail.get("client_event_id") or event.get("client_event_id")
        if detail.get("code") == "context_injection_incomplete" and _CLOSE in self.cause_time:
            self._take("", named)
            self._after(scored, _CLOSE)
            return
        cause = self._take("", named) if named is not None else None
        if cause is None and self._pending:
            code = detail.get("code")
            made = next((p for p in reversed(self._pending) if self._refuses(p.event) == code), self._pending[-1])
            self._pending.remove(made)
            cause = made.kind, made.nth
        for append in self.appends:
            append.refused = append.refused or cause == (append.kind, append.number)
        self._after(scored, cause or _START)

    def _refuses(self, event: dict[str, Any] | None) -> str | None:
        """The code with which the rules refuse a command now."""
        problem = self.rules.refuse(event) if event is not None else NOT_JSON
        return problem.code if problem is not None else None

    # --- turns and replies ---------------------------------------------------------------------------------------

    def _find(self) -> None:
        """Say which frames belong to what the two sides said."""
        whole = self.header.caller_audio == "whole"
        heard = self.texts(INPUT_TEXT)
        words = self.header.words
        self.turns, owner = find_turns(self.audio, heard, words.get("caller", [])) if whole else ([], [])
        self._settle_stops()
        for text, index in zip(heard, owner, strict=False):
            if index >= 0:
                self.hang(text.frame, ("turn.start", index), self.home(index), text.start_us)
        for frame in self.frames:
            if frame.kind in (DELEGATED, COMMITTED):
                self._follow_turn(frame)
        replies = LiveReplies(self)
        replies.find()
        self.replies = replies.replies
        starts = None if self.kugel else [reply.home_us // 1000 for reply in self.replies]
        place_words(self.replies, words.get("agent", []), starts)

    def texts(self, kind: str) -> list[Text]:
        found = []
        for frame in self.frames:
            if frame.kind == kind and frame.event is not None:
                start_ms, end_ms = frame.event.get("start_ms"), frame.event.get("end_ms")
                if isinstance(start_ms, int) and isinstance(end_ms, int):
                    found.append(Text(frame, start_ms * 1000, end_ms * 1000, str(frame.event.get("delta"))))
        return found

    def home(self, index: int) -> int:
        return self.turns[index].home_us or 0

    def stop(self, turn: ScoredTurn) -> int:
        return (turn.home_us or 0) + turn.stop_at_us

    def _settle_stops(self) -> None:
        """A turn is over for the agent some time after its last sound: as is told where it was delegated or committed,
        and usually so long elsewhere."""
        told: dict[int, int] = {}
        for frame in self.frames:
            if frame.kind in (DELEGATED, COMMITTED):
                turn = self._begun(frame)
                late_us = _position(frame.event or {}) - self.stop(turn) if turn is not None else -1
                if turn is not None and 0 <= late_us <= _LATE_US:
                    told[turn.index] = min(late_us, told.get(turn.index, late_us))
        usual_us = min(_USUAL_US, statistics.median_low(told.values())) if told else 0
        for turn in self.turns:
            turn.stop_at_us += told.get(turn.index, usual_us)

    def _begun(self, frame: ScoredFrame) -> ScoredTurn | None:
        """The turn that had begun last where a frame stands."""
        position_us = _position(frame.event or {}) or self.stood(frame.t_us)
        return next((turn for turn in reversed(self.turns) if self.home(turn.index) <= position_us), None)

    def _follow_turn(self, frame: ScoredFrame) -> None:
        """A delegation or a turn's final text belongs to the turn before it."""
        turn = self._begun(frame)
        if turn is None:
            return
        position_us, stop_us = _position(frame.event or {}), self.stop(turn)
        if self.stood(frame.t_us) >= stop_us:
            self.hang(frame, ("turn.stop", turn.index), stop_us, max(position_us, stop_us))
        else:
            self.hang(frame, ("turn.start", turn.index), self.home(turn.index), position_us)


def _position(event: dict[str, Any]) -> int:
    """Where an event says that it lies, in µs of the timeline."""
    value = event.get("start_ms", event.get("offset_ms"))
    if event.get("type") == COMMITTED:  # its window is the whole turn's
        end_ms = event.get("end_ms")
        value = end_ms - 200 if isinstance(end_ms, int) else value
    return value * 1000 if isinstance(value, int) else 0


def decoded(value: Any) -> bytes:
    """Base64 audio; empty if it is none."""
    if not isinstance(value, str):
        return b""
    try:
        return base64.b64decode(value)
    except (binascii.Error, ValueError):
        return b""
