"""The Realtime protocol at replay: what the server knows, and what it answers when the cassette has no answer.

Rules from the OpenAI Realtime reference and from recorded sessions; the PolyAI profile differs as PROTOCOLS tells: a
`session.update` with an unsupported field is dropped whole, `metadata` is not echoed, `speech_started` comes only when
the barge-in is confirmed.
"""

import base64
import binascii
from collections.abc import Sequence
from typing import Any

import msgspec

from simrt.dialect.base import Formats
from simrt.dialect.realtime import AUDIO_DELTAS, GA_TO_BETA, apply_session
from simrt.faults.base import Armed, Fault, Send
from simrt.replay.answers import Answers
from simrt.replay.early import Opened, follow
from simrt.replay.restate import convert, merge, quoted, restated, same, stated_detection
from simrt.replay.score import Cause, Score, ScoredFrame, ScoredReply, ScoredTurn, control_kind
from simrt.replay.session import Observer, Session, Verdict
from simrt.replay.turns import Turns
from simrt.trace import parse_event
from simrt.wire import Refusal, Request

_a2b = binascii.a2b_base64
_encode = msgspec.json.Encoder().encode
_PLAIN = frozenset(
    {
        "session.update",
        "conversation.item.create",
        "conversation.item.delete",
        "conversation.item.retrieve",
        "conversation.item.truncate",
        "input_audio_buffer.commit",
        "input_audio_buffer.clear",
    }
)
_HANDLED = _PLAIN | {"response.create", "response.cancel", "output_audio_buffer.clear"}
APPEND_LIMIT = 15 * 1024 * 1024


class RealtimeSession(Session):
    """One client on the Realtime protocol."""

    def __init__(
        self, score: Score, faults: Sequence[Fault] = (), seed: int = 0, observer: Observer | None = None
    ) -> None:
        super().__init__(score, faults, seed, observer)
        score = self.score
        self.formats = Formats(score.input_format, score.output_format if not score.authored else Formats().output)
        self.output_format = self.formats.output
        self.polyai = score.profile == "polyai"
        self.beta = False
        self.turns = Turns(self)
        self.answers = Answers(self)
        self.detection: dict[str, Any] | None = {}  # turn_detection as the client stated it; None: it is off
        self.counts: dict[str, int] = {}
        self.recorded = {(e.kind, e.nth): e for e in score.client_events}
        self.asked: set[Cause] = set()
        self.renamed: dict[str, str] = {}
        self.metadata: dict[int, Any] = {}
        self.session: dict[str, Any] = {}
        self.live: dict[Cause, dict[str, Any]] = {}  # what the client asked where it asked otherwise than recorded
        self.overrides: dict[int, dict[str, Any]] = {}
        self.active: int | None = None
        self.active_id = ""
        self._item_bytes: dict[str, int] = {}
        self.items: dict[str, dict[str, Any]] = {}
        self.output_items: dict[str, Opened] = {}  # the output items of the latest response
        self._repeated: str | bytes | None = None
        self._repeated_audio = b""
        self._appends = 0
        self._gates = [armed for armed in self.armed if type(armed).gate is not Armed.gate]
        self._by_append = any(cause[0] == "append" for cause in score.answers)

    def accept(self, request: Request) -> Refusal | None:
        """As the base; also notes whether the client speaks the beta names (`OpenAI-Beta` header)."""
        self.beta = "realtime=v1" in (request.header("OpenAI-Beta") or "")
        if self.polyai and not request.header("User-Agent"):
            return Refusal(403)
        return super().accept(request)

    # --- what the client sends -----------------------------------------------------------------------------------

    def handle(self, payload: str | bytes, now_us: int) -> None:
        """One client event."""
        if payload == self._repeated:  # silence, mostly: the same frame over and over
            self._take(self._repeated_audio, now_us)
            return
        event = parse_event(payload)
        if event is None:
            self.answers.error(now_us, {}, "invalid_request_error", "invalid_json", "The message is no JSON object.")
            return
        kind = event.get("type")
        if kind == "input_audio_buffer.append":
            self._append(event, payload, now_us)
        elif any(armed.gate(event, now_us) for armed in self._gates):
            return
        elif isinstance(kind, str) and kind in _PLAIN and self._as_recorded(event):
            self.ask(event, now_us)
        elif isinstance(kind, str) and kind in _HANDLED:
            getattr(self.answers, "on_" + kind.replace(".", "_"))(event, now_us)
        elif not (self.polyai and str(kind).startswith("poly.")):
            self.answers.unknown(event, now_us)

    def _as_recorded(self, event: dict[str, Any]) -> bool:
        """Whether the recorded client sent just this: then the recorded server's word counts, whatever the rules
        say."""
        kind = control_kind(event)
        recorded = self.recorded.get((kind, self.counts.get(kind, 0)))
        if recorded is None or not same(recorded.event, event):
            return False
        if kind == "session.update":
            self.configure(event.get("session"))
        elif kind == "input_audio_buffer.clear":
            self.turns.forget()
        return True

    def configure(self, session: Any) -> None:
        """Bring the formats that an accepted `session.update` states into force; a recorded refusal brings none."""
        answers = self.score.answers.get(("session.update", self.counts.get("session.update", 0)), ())
        if not any(frame.kind == "error" for frame in answers):
            apply_session(self.formats, session)
            self.output_format = self.formats.output
            self.detection = stated_detection(session, self.detection)

    def ask(self, event: dict[str, Any], now_us: int) -> bool:
        """Count a control event, and play the cassette's answer to it if there is one."""
        kind = control_kind(event)
        nth = self.counts.get(kind, 0)
        self.counts[kind] = nth + 1
        cause = (kind, nth)
        recorded = self.recorded.get(cause)
        if recorded is None:
            self.verdict.unscripted.append(kind)
            return False
        self.asked.add(cause)
        if not same(recorded.event, event):
            self.live[cause] = event
        answers = self.score.answers.get(cause, ())
        self._echo(event, recorded.event or {}, answers)
        return self.happened(cause, now_us)

    def acknowledge(self, event: dict[str, Any]) -> None:
        """A control event has had its effect by other means, as on the recording, where it brought nothing itself."""
        kind = control_kind(event)
        cause = (kind, self.counts.get(kind, 0))
        if cause in self.recorded and cause not in self.score.answers:
            self.counts[kind] = cause[1] + 1
            self.asked.add(cause)

    def _echo(self, event: dict[str, Any], recorded: dict[str, Any], answers: Sequence[ScoredFrame]) -> None:
        """Names that the client chose stand for the recorded client's in everything that follows."""
        pairs = [(recorded.get("event_id"), event.get("event_id"))]
        old, new = recorded.get("item"), event.get("item")
        if isinstance(old, dict) and isinstance(new, dict):
            pairs.append((old.get("id"), new.get("id")))
            if not old.get("id") and new.get("id"):
                made = next((f.event["item"]["id"] for f in answers if f.event and "item" in f.event), None)
                pairs.append((made, new.get("id")))
        for was, now in pairs:
            if isinstance(was, str) and isinstance(now, str) and was != now:
                self.renamed[quoted(was)] = quoted(now)
        response = event.get("response")
        before = recorded.get("response")
        metadata = response.get("metadata") if isinstance(response, dict) else None
        if metadata != (before.get("metadata") if isinstance(before, dict) else None) and not self.polyai:
            for frame in answers:
                if frame.response is not None:
                    self.metadata[frame.response] = metadata

    def _append(self, event: dict[str, Any], payload: str | bytes, now_us: int) -> None:
        try:
            data = _a2b(event["audio"], strict_mode=True)
        except (binascii.Error, ValueError, KeyError, TypeError):
            message = "Invalid 'audio': no base64."
            self.answers.error(now_us, event, "invalid_request_error", "invalid_value", message, "audio")
            return
        if len(data) > APPEND_LIMIT:
            message = f"Invalid 'audio': {len(data)} bytes, the limit is {APPEND_LIMIT}."
            self.answers.error(now_us, event, "invalid_request_error", "invalid_value", message, "audio")
            return
        self._repeated, self._repeated_audio = payload, data
        self._take(data, now_us)

    def _take(self, data: bytes, now_us: int) -> None:
        """Caller audio has arrived."""
        if len(data) % self.formats.input.width:
            self._note("input_audio_buffer.append with an odd number of PCM16 bytes")
        self.turns.feed(data, self.formats.input, now_us)
        if self._by_append:
            self.happened(("append", self._appends), now_us)
            self._appends += 1

    def _note(self, text: str) -> None:
        if text not in self.verdict.notes:
            self.verdict.notes.append(text)

    # --- what the server sends -----------------------------------------------------------------------------------

    def render(self, frame: ScoredFrame, now_us: int) -> Send | None:
        """Play a scored frame as this call needs it, and keep the server's own state."""
        event = frame.event
        if event is None:
            return super().render(frame, now_us)
        if frame.index in self.cut:
            return None
        payload, audio = frame.payload, frame.audio
        changed = self._adapt(frame, event)
        if changed is not None:
            if not changed:
                return None
            event = changed
            payload = _encode(event).decode()
        if audio and self.formats.output != self.score.output_format:
            audio = convert(audio, self.score.output_format, self.formats.output)
            event = {**event, "delta": base64.b64encode(audio).decode()}
            payload = _encode(event).decode()
        if self.renamed and isinstance(payload, str):
            for was, now in self.renamed.items():
                payload = payload.replace(was, now)
        self._track(frame, event, audio, now_us)
        kind = str(event.get("type"))
        if self.beta and (frame.kind in GA_TO_BETA or frame.kind == "conversation.item.added"):
            kind = GA_TO_BETA.get(frame.kind, "conversation.item.created")
            payload = _encode({**event, "type": kind}).decode()
        return Send(payload, kind, frame, False, frame.reply, audio)

    def _adapt(self, frame: ScoredFrame, event: dict[str, Any]) -> dict[str, Any] | None:
        """The event with what this call changes in it; None if nothing, empty if it is to be left out."""
        kind = frame.kind
        if frame.index in self.overrides:
            return self.overrides[frame.index]
        live = self.live.get(frame.cause)
        if live is not None and frame.response is None:
            return restated(event, live)
        if frame.response in self.metadata and kind in ("response.created", "response.done"):
            return {**event, "response": {**event["response"], "metadata": self.metadata[frame.response or 0]}}
        return self.turns.adapt(frame, event)

    def _track(self, frame: ScoredFrame, event: dict[str, Any], audio: bytes, now_us: int) -> None:
        kind = frame.kind
        if event["type"] in AUDIO_DELTAS:
            item_id = str(event.get("item_id"))
            self._item_bytes[item_id] = self._item_bytes.get(item_id, 0) + len(audio)
        elif kind == "response.created":
            self.active, self.active_id = frame.response, str((event.get("response") or {}).get("id"))
            self.output_items = {}
        elif kind == "response.done":
            cut = (event.get("response") or {}).get("status") == "cancelled"
            if self.active == frame.response:
                self.active = None
                if cut:
                    self.answers.drop_rest(frame)
            if cut and frame.reply is not None and self.observer is not None:
                self.observer.reply_ended(frame.reply, now_us, True)
        elif kind in ("session.created", "session.updated"):
            self.session = event.get("session") or {}
        if frame.response is not None:
            follow(self.output_items, kind, event)
        item = event.get("item")
        if isinstance(item, dict) and item.get("id"):
            self.items[str(item["id"])] = item

    def heard_at(self) -> list[tuple[ScoredTurn, int]]:
        """The turns that were recognised, each with where its clip began in the input buffer, in µs."""
        matches = self.turns.matches
        return [(turn, matches[turn.index].offset_us) for turn in self.score.turns if turn.index in matches]

    def sent_audio(self) -> list[tuple[ScoredReply, int]]:
        """The replies of which audio was sent, in that order, each with how much of it, in µs."""
        by_item = {reply.item_id: reply for reply in self.score.replies}
        return [(by_item[item_id], self.audio_sent_us(item_id)) for item_id in self._item_bytes if item_id in by_item]

    def audio_sent_us(self, item_id: str) -> int:
        """How much audio of an item was sent, in µs: of the whole, since the parts may end between two of them."""
        return self.formats.output.duration_us(self._item_bytes.get(item_id, 0))

    def synthesize(self, event: dict[str, Any], now_us: int, *, synthetic: bool = True) -> None:
        """As the base; under the name that the client knows it by."""
        if self.beta and event["type"] == "conversation.item.added":
            event = {**event, "type": "conversation.item.created"}
        super().synthesize(event, now_us, synthetic=synthetic)

    def retrieve(self, item_id: str) -> dict[str, Any] | None:
        """What `conversation.item.retrieve` brings now. For use after the call: the client hears nothing of it."""
        before = {entry[2] for entry in self._queue}
        kept, self.verdict = self.verdict, Verdict()
        self.handle(_encode({"type": "conversation.item.retrieve", "item_id": item_id}).decode(), self.now_us)
        self.verdict = kept
        answers = [entry for entry in self._queue if entry[2] not in before]
        self.remove(answers)
        events = [parse_event(entry[3].payload) for entry in answers if isinstance(entry[3], Send | ScoredFrame)]
        shown = next((event for event in events if event and event["type"] == "conversation.item.retrieved"), None)
        return None if shown is None else dict(shown["item"])

    def merge_session(self, stated: dict[str, Any]) -> dict[str, Any]:
        """The session's configuration with what the client states laid on it."""
        return merge(self.session, stated)

    def final_verdict(self) -> Verdict:
        """Also the client events that never came."""
        verdict = super().final_verdict()
        verdict.unasked = [kind for kind, nth in self.recorded if (kind, nth) not in self.asked]
        return verdict
