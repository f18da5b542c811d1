"""What the Realtime server answers to each client event: the cassette's answer if there is one, else the protocol's.

Made-up answers are marked synthetic. Error codes and wording follow the OpenAI reference and recorded sessions.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from simrt.faults.base import Send
from simrt.replay.early import CLOSERS, closed_early, follow, item_of
from simrt.replay.listener import Match
from simrt.replay.score import ScoredFrame, ScoredTurn
from simrt.replay.session import Fires, Queued

if TYPE_CHECKING:
    from simrt.replay.realtime import RealtimeSession

_ACK_US = 50_000  # session.update to session.updated, measured live
_QUICK_US = 20_000
_LEAST_COMMIT_US = 100_000
_POLYAI_DETECTION = {"type", "create_response"}


class Answers:
    """The handlers, one a client event type; `session` holds the state."""

    def __init__(self, session: RealtimeSession) -> None:
        self.s = session
        self._made = 0
        self._made_up_until_us = 0

    # --- errors --------------------------------------------------------------------------------------------------

    def error(
        self, now_us: int, event: dict[str, Any], kind: str, code: str | None, message: str, param: str | None = None
    ) -> None:
        """An `error` event that names the client's event_id; the session stays open."""
        body = {"type": kind, "code": code, "message": message, "param": param, "event_id": event.get("event_id")}
        self.s.synthesize({"type": "error", "event_id": self._id("event"), "error": body}, now_us)

    def unknown(self, event: dict[str, Any], now_us: int) -> None:
        """An event type that the protocol does not have."""
        message = f"Invalid value: '{event.get('type')}' is no client event of this API."
        self.error(now_us, event, "invalid_request_error", "invalid_value", message, "type")

    def _id(self, prefix: str) -> str:
        self._made += 1
        return f"{prefix}_simrt_{self._made:04d}"

    def _say(self, now_us: int, kind: str, **fields: Any) -> None:
        self.s.synthesize({"type": kind, "event_id": self._id("event"), **fields}, now_us)

    # --- session -------------------------------------------------------------------------------------------------

    def on_session_update(self, event: dict[str, Any], now_us: int) -> None:
        """Merge the configuration; PolyAI drops an update whole for one field that it does not know."""
        s = self.s
        session = event.get("session")
        if not isinstance(session, dict):
            self.error(now_us, event, "invalid_request_error", "invalid_type", "'session' is no object.", "session")
            return
        audio = session.get("audio")
        halves = [audio.get(side) for side in ("input", "output")] if isinstance(audio, dict) else []
        if not all(isinstance(part, dict | None) for part in (audio, *halves)):
            message = "'session.audio' and what is in it must be objects."
            self.error(now_us, event, "invalid_request_error", "invalid_type", message, "session.audio")
            return
        refused = self._unsupported(session) if s.polyai else None
        if refused:
            message = f"Unsupported parameter: '{refused}'. The whole update is dropped."
            self.error(now_us + _ACK_US, event, "invalid_request_error", "unsupported_parameter", message, refused)
            return
        s.configure(session)
        if not s.ask(event, now_us):
            s.session = s.merge_session(session)
            self._say(now_us + _ACK_US, "session.updated", session=s.session)

    @staticmethod
    def _unsupported(session: dict[str, Any]) -> str | None:
        detection = ((session.get("audio") or {}).get("input") or {}).get("turn_detection")
        if not isinstance(detection, dict):
            return None
        if detection.get("type") not in (None, "server_vad"):
            return "session.audio.input.turn_detection.type"
        extra = next((key for key in detection if key not in _POLYAI_DETECTION), None)
        return f"session.audio.input.turn_detection.{extra}" if extra else None

    # --- conversation items --------------------------------------------------------------------------------------

    def on_conversation_item_create(self, event: dict[str, Any], now_us: int) -> None:
        """Take the item into the conversation."""
        s = self.s
        item = event.get("item")
        if not isinstance(item, dict) or not isinstance(item.get("type"), str):
            self.error(now_us, event, "invalid_request_error", "invalid_type", "'item' has no type.", "item")
            return
        if not isinstance(item.get("id"), str | None):
            self.error(now_us, event, "invalid_request_error", "invalid_type", "'item.id' is no string.", "item.id")
            return
        if item.get("id") in s.items and item.get("id"):
            message = f"Item with id '{item['id']}' exists already."
            self.error(now_us, event, "invalid_request_error", "item_create_duplicate_item_id", message, "item.id")
            return
        if s.ask(event, now_us):
            return
        made = {"object": "realtime.item", "status": "completed", **item, "id": item.get("id") or self._id("item")}
        for kind in ("conversation.item.added", "conversation.item.done"):
            self._say(now_us + _QUICK_US, kind, previous_item_id=event.get("previous_item_id"), item=made)
        s.items[made["id"]] = made

    def on_conversation_item_delete(self, event: dict[str, Any], now_us: int) -> None:
        """Forget an item."""
        item_id = event.get("item_id")
        if not self._known(event, now_us, "item_delete_invalid_item_id"):
            return
        self.s.items.pop(str(item_id), None)
        if not self.s.ask(event, now_us):
            self._say(now_us + _QUICK_US, "conversation.item.deleted", item_id=item_id)

    def on_conversation_item_retrieve(self, event: dict[str, Any], now_us: int) -> None:
        """Show an item as the server has it."""
        if not self._known(event, now_us, "item_retrieve_invalid_item_id"):
            return
        if not self.s.ask(event, now_us):
            item = self.s.items[str(event.get("item_id"))]
            self._say(now_us + _QUICK_US, "conversation.item.retrieved", item=item)

    def on_conversation_item_truncate(self, event: dict[str, Any], now_us: int) -> None:
        """Cut an assistant's audio to what was played; beyond what was sent is an error."""
        s = self.s
        if not self._known(event, now_us, "item_truncate_invalid_item_id"):
            return
        item_id, end_ms = str(event.get("item_id")), event.get("audio_end_ms")
        sent_ms = s.audio_sent_us(item_id) // 1000
        if s.items[item_id].get("role") != "assistant" or not s.audio_sent_us(item_id):
            message = "Only model output audio messages can be truncated"
            self.error(now_us, event, "invalid_request_error", "unsupported_content_type", message)
        elif not isinstance(end_ms, int) or end_ms < 0 or end_ms > sent_ms:
            message = f"Audio content of {sent_ms}ms is already shorter than {end_ms}ms"
            self.error(now_us, event, "invalid_request_error", "invalid_value", message)
        else:
            self._forget_unheard(item_id, end_ms)
            if not s.ask(event, now_us):
                fields = {"item_id": item_id, "content_index": event.get("content_index", 0), "audio_end_ms": end_ms}
                self._say(now_us + _QUICK_US, "conversation.item.truncated", **fields)

    def _forget_unheard(self, item_id: str, end_ms: int) -> None:
        """The server's history holds what was played: OpenAI drops the transcript, PolyAI cuts it."""
        reply = next((r for r in self.s.score.replies if r.item_id == item_id), None)
        heard = None
        if self.s.polyai and reply is not None and reply.words:
            heard = " ".join(word.text for word in reply.words if word.end_ms <= end_ms)
        item = copy.deepcopy(self.s.items[item_id])
        for part in item.get("content") or []:
            if "transcript" in part:
                part["transcript"] = heard
        self.s.items[item_id] = item

    def _known(self, event: dict[str, Any], now_us: int, code: str) -> bool:
        item_id = str(event.get("item_id"))
        if item_id in self.s.items:
            return True
        message = f"Item with item_id '{item_id}' is not in the conversation."
        self.error(now_us, event, "invalid_request_error", code, message, "item_id")
        return False

    # --- responses -----------------------------------------------------------------------------------------------

    def on_response_create(self, event: dict[str, Any], now_us: int) -> None:
        """Start a response, unless one is active."""
        s = self.s
        nth = s.counts.get("response.create", 0)
        answers = s.score.answers.get(("response.create", nth), [])
        refused_then = bool(answers) and answers[0].kind == "error"
        if self.busy(now_us) and not refused_then:
            self.refuse_busy(event, now_us)
            return
        if s.polyai and s.turns.speaking:
            s.turns.held_create = event  # PolyAI holds it, and answers with one reply after the turn
            return
        if any(armed.asked(now_us) for armed in s.armed):
            return
        if s.ask(event, now_us) or s.turns.answer(now_us):
            return
        response_id = s.active_id = self._id("resp")
        self._made_up_until_us = now_us + 400_000
        asked = event.get("response")
        metadata = asked.get("metadata") if isinstance(asked, dict) and not s.polyai else None
        made: dict[str, Any] = {
            "object": "realtime.response",
            "id": response_id,
            "output": [],
            "metadata": metadata,
            "usage": None,
        }
        for delay, kind, status in ((93_000, "created", "in_progress"), (400_000, "done", "completed")):
            body = {**made, "status": status, "status_details": None}
            self._say(now_us + delay, f"response.{kind}", response=body)

    def busy(self, now_us: int) -> bool:
        """Whether a response is active, or about to begin."""
        return self.s.active is not None or self._made_up_active(now_us) or self.starting() is not None

    def refuse_busy(self, event: dict[str, Any], now_us: int) -> None:
        """There can be one response at a time."""
        message = f"Conversation already has an active response in progress: {self.s.active_id or 'resp'}."
        self.error(now_us, event, "invalid_request_error", "conversation_already_has_active_response", message)

    def _made_up_active(self, now_us: int) -> bool:
        """A response that the cassette does not have is under way."""
        return now_us < self._made_up_until_us

    def starting(self) -> ScoredFrame | None:
        """The `response.created` of a response that is about to begin: the server has it already."""
        frames = (_frame_of(entry) for entry in self.s.queued())
        return next((frame for frame in frames if frame is not None and frame.kind == "response.created"), None)

    def _cut_made_up(self, now_us: int, at_us: int, reason: str) -> None:
        """End a response that the cassette does not have."""
        s = self.s
        waiting = [e for e in s.queued() if isinstance(e[3], Send) and s.active_id in str(e[3].payload)]
        s.remove([e for e in waiting if e[3].kind == "response.done"])  # type: ignore[union-attr]
        at_us = max([at_us, *(e[0] for e in waiting if e[3].kind == "response.created")])  # type: ignore[union-attr]
        self._made_up_until_us = now_us
        details = {"type": "cancelled", "reason": reason}
        body = {"object": "realtime.response", "id": s.active_id, "status": "cancelled", "output": []}
        self._say(at_us, "response.done", response={**body, "status_details": details, "usage": None})

    def on_response_cancel(self, event: dict[str, Any], now_us: int) -> None:
        """Stop the active response; with none active it is an error."""
        s = self.s
        if s.active is None and self._made_up_active(now_us):
            self._cut_made_up(now_us, now_us + _QUICK_US, "client_cancelled")
        elif s.active is None or event.get("response_id") not in (None, s.active_id):
            message = "Cancellation failed: no active response found"
            self.error(now_us, event, "invalid_request_error", "response_cancel_not_active", message)
        elif not s.ask(event, now_us):
            self.cut(now_us + _QUICK_US, "client_cancelled")

    # --- input audio ---------------------------------------------------------------------------------------------

    def on_input_audio_buffer_commit(self, event: dict[str, Any], now_us: int) -> None:
        """The client ends the turn itself."""
        s = self.s
        if s.ask(event, now_us):
            return
        if s.turns.commit(now_us):
            return
        held_us = s.turns.listener.arrivals.total_us - s.turns.committed_us
        if held_us < _LEAST_COMMIT_US:
            message = f"Error committing input audio buffer: buffer too small, {held_us / 1000:.2f}ms of audio."
            self.error(now_us, event, "invalid_request_error", "input_audio_buffer_commit_empty", message)
            return
        s.turns.committed_us = s.turns.listener.arrivals.total_us
        item_id = self._id("item")
        self._say(now_us + _QUICK_US, "input_audio_buffer.committed", item_id=item_id, previous_item_id=None)
        content = [{"type": "input_audio", "transcript": None}]
        item = {"id": item_id, "object": "realtime.item", "type": "message", "role": "user", "content": content}
        for kind in ("conversation.item.added", "conversation.item.done"):
            self._say(now_us + _QUICK_US, kind, previous_item_id=None, item={**item, "status": "completed"})

    def on_input_audio_buffer_clear(self, event: dict[str, Any], now_us: int) -> None:
        """Forget the audio that is not committed."""
        self.s.turns.forget()
        if not self.s.ask(event, now_us):
            self._say(now_us + _QUICK_US, "input_audio_buffer.cleared")

    def on_output_audio_buffer_clear(self, event: dict[str, Any], now_us: int) -> None:
        """Only WebRTC and SIP sessions have an output buffer; a recording may hold an answer."""
        if not self.s.ask(event, now_us):
            message = "There is no output audio buffer on a WebSocket."
            self.error(now_us, event, "invalid_request_error", "invalid_value", message)

    # --- cutting a response off ----------------------------------------------------------------------------------

    def cut_by_turn(self, turn: ScoredTurn, match: Match, when_us: int) -> int:
        """The caller talks over the active response: end it. Returns how much later `speech_started` comes, in µs."""
        s = self.s
        starts = s.score.answers.get(("turn.start", turn.index), ())
        started_us = when_us + (starts[0].delay_us if starts else 0)
        extra = 0
        if s.polyai and turn.cut_us:
            first_us = s.turns.listener.arrivals.spoken(s.turns.first_sound(turn, match))
            extra = max(0, (when_us if first_us is None else first_us) + turn.cut_us - started_us)
        self.cut(started_us + extra + 200, "turn_detected")  # just behind speech_started
        return extra

    def under_way(self) -> int | None:
        """The number of the response that is active, or that is about to begin."""
        starting = self.starting() if self.s.active is None else None
        return self.s.active if starting is None else starting.response

    def make_way(self, created: ScoredFrame, now_us: int) -> None:
        """A response is to begin by itself: one that is under way (the client has asked for it meanwhile) ends first,
        unless the two were under way together on the recording."""
        s = self.s
        number, at_us = self.under_way(), now_us + created.delay_us - 200
        if number is None:
            if self._made_up_until_us > at_us:
                self._cut_made_up(now_us, at_us, "turn_detected")
            return
        if created.t_us and any(f.response == number and f.t_us > created.t_us for f in s.score.frames):
            return
        over = (e for e in s.queued() if (f := _frame_of(e)) is not None and f.response == number)
        if not any(e[3].kind == "response.done" and e[0] <= at_us for e in over):  # type: ignore[union-attr]
            self.cut(at_us, "turn_detected")

    def cut(self, at_us: int, reason: str) -> None:
        """From `at_us` on the response under way is over: its deltas are dropped, what closes it comes at once."""
        s = self.s
        number, response_id = self.under_way(), s.active_id
        starting = self.starting() if s.active is None else None
        rest = [e for e in s.queued() if (f := _frame_of(e)) is not None and f.response == number and e[0] >= at_us]
        moved = {f.index for e in rest if (f := _frame_of(e)) is not None}
        s.remove(rest + [e for e in s.queued() if isinstance(e[3], Fires) and e[3].frame.index in moved])
        before = [f for e in s.queued() if (f := _frame_of(e)) is not None and f.response == number]
        opened = copy.deepcopy(s.output_items) if starting is None else {}
        if starting is not None and starting.index in moved:
            response_id = str(((starting.event or {}).get("response") or {}).get("id"))
            s.schedule(starting, at_us, cut=True)
        for earlier in sorted(before, key=lambda f: f.place):
            follow(opened, earlier.kind, earlier.event or {})
        done, details = False, {"type": "cancelled", "reason": reason}
        for waiting in sorted(rest, key=lambda e: e[:3]):
            frame = _frame_of(waiting)
            if frame is None or frame is starting:
                continue
            event = frame.event or {}
            keep = frame.kind in CLOSERS or frame.kind == "rate_limits.updated"
            if frame.kind not in ("response.done", "rate_limits.updated") and item_of(event) not in opened:
                keep = False
            if not keep:
                s.cut.add(frame.index)
                continue
            s.overrides[frame.index] = closed_early(event, opened, "cancelled", details)
            done = done or frame.kind == "response.done"
            s.schedule(frame, at_us, cut=True)
        if not done and number is not None:
            body = {"object": "realtime.response", "id": response_id, "status": "cancelled", "output": []}
            self._say(at_us, "response.done", response={**body, "status_details": details, "usage": None})
            s.active = None

    def drop_rest(self, frame: ScoredFrame) -> None:
        """A response is over: what is still queued of it never comes."""
        left = [
            e
            for e in self.s.queued()
            if (f := _frame_of(e)) is not None and f.response == frame.response and f.kind != "rate_limits.updated"
        ]
        self.s.cut.update(f.index for e in left if (f := _frame_of(e)) is not None)
        self.s.remove(left)


def _frame_of(entry: Queued) -> ScoredFrame | None:
    return entry[3] if isinstance(entry[3], ScoredFrame) else None
