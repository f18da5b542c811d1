"""Scores Realtime recordings: which cause each server frame has, read off ids, types and positions.

The rules come from the event order of recorded sessions (OpenAI, Azure, Azure Voice Live, Hugging Face
speech-to-speech). Where none applies, a frame follows the one before it in the same burst.
"""

import base64
import binascii
from typing import Any

from simrt.cassette.header import Header
from simrt.dialect import Formats, dialect
from simrt.dialect.realtime import AUDIO_DELTAS, ga_type
from simrt.replay.clips import CallerAudio, cut_clip, place_words
from simrt.replay.score import (
    OPEN,
    Cause,
    ClientEvent,
    Score,
    ScoredFrame,
    ScoredReply,
    ScoredTurn,
    control_kind,
    index_answers,
)
from simrt.trace import Trace

_DIRECT_ANSWERS = {
    "session.updated": "session.update",
    "conversation.item.truncated": "conversation.item.truncate",
    "conversation.item.deleted": "conversation.item.delete",
    "conversation.item.retrieved": "conversation.item.retrieve",
    "input_audio_buffer.cleared": "input_audio_buffer.clear",
    "output_audio_buffer.cleared": "output_audio_buffer.clear",
}


class _Response:
    def __init__(self, number: int, cause: Cause, response_id: str) -> None:
        self.number, self.cause, self.id = number, cause, response_id
        self.ended = False
        self.cut_by: Cause | None = None
        self.reply: ScoredReply | None = None
        self.told, self.telling = "", ""  # what it said: parts that are done, and the one that is not


class RealtimeScorer:
    """One pass over a trace in arrival order; `score()` is the result."""

    def __init__(self, trace: Trace, header: Header) -> None:
        self.trace, self.header = trace, header
        self.formats = Formats()
        self.audio = CallerAudio()
        self.arrivals = self.audio.arrivals
        self.cause_time: dict[Cause, int] = {OPEN: 0}
        self.counts: dict[str, int] = {}
        self.pending: list[ClientEvent] = []
        self.held: set[Cause] = set()
        self.client_events: list[ClientEvent] = []
        self.turns: list[ScoredTurn] = []
        self.turn_of_item: dict[str, ScoredTurn] = {}
        self.item_cause: dict[str, Cause] = {}
        self.responses: list[_Response] = []
        self.by_id: dict[str, _Response] = {}
        self.replies: list[ScoredReply] = []
        self.frames: list[ScoredFrame] = []
        self.answered_turns: set[int] = set()
        self.stop_cause: dict[int, Cause] = {}
        self.start_cause: dict[int, Cause] = {}
        self.previous: Cause = OPEN
        self.previous_t = 0
        self.last_client: Cause = OPEN
        self.cancelled = {
            str(inner.get("id"))
            for frame in trace.frames
            if frame.sender == "server" and '"cancelled"' in str(frame.payload)
            for inner in [(frame.event() or {}).get("response")]
            if isinstance(inner, dict) and inner.get("status") == "cancelled"
        }

    def score(self) -> Score:
        """Walk the trace and put the score together."""
        for number, frame in enumerate(self.trace.frames):
            event = frame.event()
            if frame.sender == "client":
                self._client(event, frame.t_us)
            else:
                self._server(number, frame.payload, event, frame.t_us)
        self._place()
        closing = self.trace.closing
        by_server = closing is not None and closing.by != "client"
        return Score(
            dialect="realtime",
            profile=self.header.profile,
            opening=self.trace.opening,
            frames=self.frames,
            answers=index_answers(self.frames),
            turns=self.turns,
            replies=self.replies,
            client_events=self.client_events,
            closing=closing,
            closing_cause=self.previous if by_server else None,
            closing_delay_us=closing.t_us - self.cause_time[self.previous] if by_server and closing else 0,
            output_format=self.formats.output,
        )

    # --- the client's side -------------------------------------------------------------------------------------

    def _client(self, event: dict[str, Any] | None, t_us: int) -> None:
        kind = str(event.get("type")) if event is not None else "?"
        if event is not None and kind == "input_audio_buffer.append":
            data = _decode(event.get("audio"))
            self.audio.add(data, self.formats.input, t_us)
            self.last_client = ("append", len(self.arrivals.times) - 1)
            self.cause_time[self.last_client] = t_us
            return
        counted = control_kind(event) if event is not None else kind
        nth = self.counts.get(counted, 0)
        self.counts[counted] = nth + 1
        made = ClientEvent(counted, nth, event, t_us)
        self.pending.append(made)
        self.client_events.append(made)
        self.last_client = (counted, nth)
        if counted == "response.create" and self.header.profile == "polyai" and self._caller_talks():
            self.held.add(self.last_client)
        self.cause_time[self.last_client] = t_us
        if kind == "response.cancel":
            active = self._active()
            if active is not None and active.id in self.cancelled:
                active.cut_by = self.last_client

    def _caller_talks(self) -> bool:
        """A turn has started and not stopped."""
        return bool(self.turns) and self.turns[-1].index not in self.stop_cause

    def _take(self, kind: str, *, item_id: str | None = None) -> Cause | None:
        """The oldest unanswered client event of that kind (its prefix, for items), taken off the list."""
        matching = [p for p in self.pending if p.kind == kind or p.kind.startswith(kind + ":")]
        if item_id is not None:
            named = [p for p in matching if p.event and (p.event.get("item") or {}).get("id") == item_id]
            matching = named or [p for p in matching if not (p.event and (p.event.get("item") or {}).get("id"))]
        if not matching:
            return None
        self.pending.remove(matching[0])
        return matching[0].kind, matching[0].nth

    # --- the server's side -------------------------------------------------------------------------------------

    def _server(self, index: int, payload: str | bytes, event: dict[str, Any] | None, t_us: int) -> None:
        kind = ga_type(str(event.get("type"))) if event is not None else ""
        response = self._response_of(kind, event or {}, t_us)
        cause = self._cause(kind, event or {}, response, t_us)
        scored = ScoredFrame(index, payload, event, kind, cause, t_us - self.cause_time[cause], t_us=t_us)
        if response is not None:
            scored.response = response.number
            self._fill_reply(scored, response, event or {})
        self.frames.append(scored)
        self.previous, self.previous_t = cause, t_us
        if event is not None:
            dialect("realtime").update_formats(self.formats, "server", event)

    def _active(self) -> _Response | None:
        return next((r for r in reversed(self.responses) if not r.ended), None)

    def _response_of(self, kind: str, event: dict[str, Any], t_us: int) -> _Response | None:
        if kind == "rate_limits.updated" and self.responses and self.responses[-1].ended:
            return self.responses[-1]
        if not kind.startswith("response."):
            item = event.get("item")
            is_ours = kind.startswith("conversation.item.") and isinstance(item, dict)
            known = self.item_cause.get(str(item.get("id"))) if is_ours and isinstance(item, dict) else None
            return self.by_id.get(known[0][9:]) if known is not None and known[0].startswith("response:") else None
        inner = event.get("response")
        response_id = event.get("response_id") or (inner.get("id") if isinstance(inner, dict) else None)
        response = self.by_id.get(str(response_id))
        if response is None:
            asked = self._take("response.create")
            if asked in self.held:  # PolyAI: sent while the caller talked, answered after the turn
                asked = self._unanswered_turn() or asked
            cause = asked or self._unanswered_turn() or self._follow(t_us)
            response = _Response(len(self.responses), cause, str(response_id))
            self.responses.append(response)
            self.by_id[response.id] = response
        item = event.get("item")
        if isinstance(item, dict) and item.get("id"):
            self.item_cause[str(item["id"])] = (f"response:{response.id}", 0)
        if kind == "response.done":
            response.ended = True
        return response

    def _unanswered_turn(self) -> Cause | None:
        for turn in reversed(self.turns):
            if turn.index in self.stop_cause:
                if turn.index in self.answered_turns:
                    return None
                self.answered_turns.add(turn.index)
                return self.stop_cause[turn.index]
        return None

    def _cause(self, kind: str, event: dict[str, Any], response: _Response | None, t_us: int) -> Cause:
        if kind in ("session.created", "conversation.created"):
            return OPEN
        if response is not None:
            if response.cut_by is not None and not kind.endswith(".delta"):
                return response.cut_by
            return response.cause
        if kind in _DIRECT_ANSWERS:
            return self._take(_DIRECT_ANSWERS[kind]) or self._follow(t_us)
        if kind == "error":
            return self._error_cause(event, t_us)
        if kind.startswith("input_audio_buffer."):
            return self._buffer_cause(kind, event, t_us)
        if kind.startswith("conversation.item."):
            return self._item_cause(kind, event, t_us)
        return self._follow(t_us)

    def _error_cause(self, event: dict[str, Any], t_us: int) -> Cause:
        detail = event.get("error")
        wanted = detail.get("event_id") if isinstance(detail, dict) else None
        for made in self.pending:
            if wanted and made.event and made.event.get("event_id") == wanted:
                self.pending.remove(made)
                return made.kind, made.nth
        if self.pending and not wanted:
            made = self.pending.pop()
            return made.kind, made.nth
        return self._follow(t_us)

    def _buffer_cause(self, kind: str, event: dict[str, Any], t_us: int) -> Cause:
        item_id = str(event.get("item_id"))
        if kind == "input_audio_buffer.speech_started":
            return self._turn_starts(item_id, int(event.get("audio_start_ms") or 0) * 1000, t_us)
        turn = self.turn_of_item.get(item_id)
        if kind == "input_audio_buffer.speech_stopped" and turn is not None:
            return self._turn_stops(turn, int(event.get("audio_end_ms") or 0) * 1000, t_us)
        if kind == "input_audio_buffer.committed":
            if turn is not None and turn.index in self.stop_cause:
                return self.stop_cause[turn.index]
            cause = self._take("input_audio_buffer.commit")
            if cause is not None:
                self.item_cause[item_id] = cause
                return cause
        return self._follow(t_us)

    def _reached(self, position_us: int, t_us: int) -> int | None:
        """When that much caller audio had arrived, if it had by `t_us` and the audio is whole."""
        if self.header.caller_audio != "whole":
            return None
        when = self.arrivals.when(position_us)
        return when if when is not None and when <= t_us else None

    def _turn_starts(self, item_id: str, position_us: int, t_us: int) -> Cause:
        turn = ScoredTurn(len(self.turns), item_id, start_value_us=position_us)
        self.turns.append(turn)
        self.turn_of_item[item_id] = turn
        cause: Cause = ("turn.start", turn.index)
        when = self._reached(position_us, t_us)
        if when is None:
            cause = self.last_client
        else:
            self.cause_time[cause] = when
            turn.home_us = position_us
        active = self._active()
        if active is not None:
            turn.barge_in = True
            if active.id in self.cancelled:
                active.cut_by = cause
        self.start_cause[turn.index] = cause
        return cause

    def _turn_stops(self, turn: ScoredTurn, position_us: int, t_us: int) -> Cause:
        turn.stop_value_us = position_us
        cause: Cause = ("turn.stop", turn.index)
        when = self._reached(position_us, t_us) if turn.home_us is not None else None
        if when is None:
            cause, turn.home_us = self.last_client, None
        else:
            self.cause_time[cause] = when
        self.stop_cause[turn.index] = cause
        return cause

    def _item_cause(self, kind: str, event: dict[str, Any], t_us: int) -> Cause:
        item = event.get("item")
        item_id = str(item.get("id")) if isinstance(item, dict) else str(event.get("item_id"))
        turn = self.turn_of_item.get(item_id)
        if turn is not None:
            if kind.endswith("input_audio_transcription.completed"):
                turn.text = str(event.get("transcript") or "")
            return self.stop_cause.get(turn.index) or self.start_cause[turn.index]
        known = self.item_cause.get(item_id)
        if known is not None:
            return known if not known[0].startswith("response:") else self._follow(t_us)
        if isinstance(item, dict) and kind in (
            "conversation.item.added",
            "conversation.item.created",
            "conversation.item.done",
        ):
            cause = self._take("conversation.item.create", item_id=item_id)
            if cause is not None:
                self.item_cause[item_id] = cause
                return cause
        return self._follow(t_us)

    def _follow(self, t_us: int) -> Cause:
        """The same burst's cause, unless the client has sent a control event since (then that one)."""
        later = self.cause_time[self.last_client] >= self.previous_t and self.last_client[0] != "append"
        if later and self.pending:
            return self.last_client
        return self.previous

    # --- audio -------------------------------------------------------------------------------------------------

    def _fill_reply(self, scored: ScoredFrame, response: _Response, event: dict[str, Any]) -> None:
        reply = response.reply
        if event.get("type") in AUDIO_DELTAS:
            if reply is None:
                item_id = str(event.get("item_id") or "")
                reply = ScoredReply(len(self.replies), response.number, response.id, item_id)
                response.reply = reply
                self.replies.append(reply)
                for frame in self.frames:
                    if frame.response == response.number:
                        frame.reply = reply.index
            scored.audio = _decode(event.get("delta"))
            scored.audio_start_us = reply.audio_us
            scored.audio_us = self.formats.output.duration_us(len(scored.audio))
            reply.audio_us += scored.audio_us
        if scored.kind == "response.output_audio_transcript.done":
            response.told = f"{response.told} {event.get('transcript') or ''}".strip()
            response.telling = ""
        elif scored.kind == "response.output_audio_transcript.delta":
            response.telling += str(event.get("delta") or "")
        if reply is None:
            return
        scored.reply = reply.index
        scored.audio_start_us = scored.audio_start_us or reply.audio_us - scored.audio_us
        reply.text = f"{response.told} {response.telling}".strip()

    def _place(self) -> None:
        """Give the turns their clips, and both sides their words."""
        words = self.header.words
        for turn in self.turns:
            if turn.home_us is not None and not cut_clip(turn, self.audio, words.get("caller", [])):
                turn.home_us = None
                self._unplace(turn)
        place_words(self.replies, words.get("agent", []))

    def _unplace(self, turn: ScoredTurn) -> None:
        """Silence where a turn should be: hang its frames on the audio frame by which they had come."""
        for frame in self.frames:
            if frame.cause in (("turn.start", turn.index), ("turn.stop", turn.index)):
                t_us = self.cause_time[frame.cause] + frame.delay_us
                k = max(0, sum(1 for t in self.arrivals.times if t <= t_us) - 1)
                frame.cause = ("append", k)
                frame.delay_us = t_us - self.arrivals.times[k]


def _decode(value: Any) -> bytes:
    if not isinstance(value, str):
        return b""
    try:
        return base64.b64decode(value)
    except (binascii.Error, ValueError):
        return b""
