"""The Live protocol at replay (OpenAI Live, KugelAudio's fluid-1): a timeline that moves with the caller's audio.

    LiveSession ── Timeline      positions, and when they are reached
                ├─ Track         what the agent says, slot by slot
                ├─ LiveTurns     what the caller says, and what is delegated
                ├─ Appends       what the client tells the agent
                └─ Wire          what all this is on the wire

What the server refuses stands in simrt.dialect.live_rules. Times as in simrt.replay.session.
"""

from __future__ import annotations

import binascii
from collections.abc import Sequence
from typing import Any

import msgspec

from simrt.caller.cue import ReplyKey
from simrt.dialect import live_events
from simrt.dialect.live import INPUT_AUDIO, OUTPUT_AUDIO, session_format
from simrt.dialect.live_rules import BAD_AUDIO, NOT_JSON, Problem, Rules
from simrt.faults.base import Armed, End, Fault, Send
from simrt.replay.live_appends import APPENDS, Appends
from simrt.replay.live_timeline import TURN, Timeline
from simrt.replay.live_track import CANCELLED, Track
from simrt.replay.live_turns import DELEGATED, LiveTurns
from simrt.replay.live_wire import CLOSED, USAGE, Wire
from simrt.replay.restate import merge, same
from simrt.replay.score import Cause, LiveScore, Score, ScoredFrame, ScoredReply
from simrt.replay.session import Observer, Session, Verdict
from simrt.trace import parse_event

_a2b = binascii.a2b_base64
_encode = msgspec.json.Encoder().encode
_SPARE = 1 << 38  # indexes of frames that are made during the call
_USAGE_US = 15_000_000
_HOUR_US = 3_600_000_000
_EXPIRES_AT = 1798000000


class Delegation(msgspec.Struct):
    """One piece of work that the agent gave to the client: at `offset_ms` of the timeline, sent at `t_us`."""

    id: str
    offset_ms: int
    t_us: int
    turn: int | None = None


class LiveSession(Session):
    """One client on the Live protocol."""

    CLOSE_US = 60_000
    _QUICK_US = 20_000

    def __init__(
        self, score: Score, faults: Sequence[Fault] = (), seed: int = 0, observer: Observer | None = None
    ) -> None:
        super().__init__(score, faults, seed, observer)
        score = self.score
        self.live = score.live or LiveScore()
        self.rules = Rules(score.profile)
        self.format = score.output_format
        self.timeline = Timeline(self.live.run_from_us, self.live.run_us)
        self.spare_index = _SPARE
        self.made_up: dict[ReplyKey, ScoredReply] = {}
        self.track = Track(self, self.live)
        self.turns = LiveTurns(self)
        self.appends = Appends(self)
        self.wire = Wire(self)
        self.delegations: list[Delegation] = []
        self.delegations_made = 0
        self.muted = False
        self._over = False  # session.closed has been sent
        self.counts: dict[str, int] = {}
        self.recorded = {(e.kind, e.nth): e for e in score.client_events}
        self.asked: set[Cause] = set()
        self._gates = [armed for armed in self.armed if type(armed).gate is not Armed.gate]
        self._repeated: str | bytes | None = None
        self._repeated_audio = b""
        self._made = 0
        self._recorded_us = max(self.live.usage_us.values(), default=0)

    # --- what the client sends -----------------------------------------------------------------------------------

    def handle(self, payload: str | bytes, now_us: int) -> None:
        """One client event."""
        if payload == self._repeated:  # silence, mostly: the same frame over and over
            self._hear(self._repeated_audio, now_us)
            return
        event = parse_event(payload)
        if event is None:
            self.refuse({}, NOT_JSON, now_us)
            return
        kind = event.get("type")
        if kind == INPUT_AUDIO:
            self._append(event, payload, now_us)
            return
        if any(armed.gate(event, now_us) for armed in self._gates):
            return
        kind = str(kind)
        cause = (kind, self.counts.get(kind, 0))
        self.counts[kind] = cause[1] + 1
        recorded = self.recorded.get(cause)
        if recorded is None:
            if not self.score.authored or (kind not in APPENDS and kind != "session.close"):
                self.verdict.unscripted.append(kind)
        else:
            self.asked.add(cause)
            self._name(recorded.event or {}, event)
        answers = self.score.answers.get(cause, ())
        refused = [frame for frame in answers if frame.kind == "error" and kind != "session.close"]
        as_recorded = recorded is not None and same(recorded.event, event)
        if refused and (as_recorded or kind == "session.start"):  # a session is refused whatever it is to be
            self.happened(cause, now_us)
            self._note_refusal(event, str(((refused[0].event or {}).get("error") or {}).get("code")), now_us)
            return
        self.cut.update(frame.index for frame in refused)
        problem = None if as_recorded else self.rules.refuse(event)
        if problem is not None:
            self.refuse(event, problem, now_us)
        else:
            self._accept(kind, event, cause, bool(answers), now_us)

    def _name(self, recorded: dict[str, Any], event: dict[str, Any]) -> None:
        """The name that the client gave a command stands for the recorded client's."""
        was, now = recorded.get("event_id"), event.get("event_id")
        if was is not None and was != now:
            self.wire.renamed[was] = now

    def _accept(self, kind: str, event: dict[str, Any], cause: Cause, answered: bool, now_us: int) -> None:
        if kind == "session.start":
            self._start(event, cause, now_us)
        elif kind in APPENDS:
            self.appends.take(event, now_us)
        elif kind == "session.close":
            self.close("close_requested", now_us, event.get("event_id"))
        elif kind == "session.update":
            session = self.rules.update(event)
            if not self.happened(cause, now_us):
                self._answer(live_events.updated(self.new_id(), session, event.get("event_id")), now_us)
        elif kind in ("session.input_audio.mute", "session.input_audio.unmute"):
            self.muted = kind.endswith(".mute")
            if not self.happened(cause, now_us):
                self._answer(live_events.muted(self.new_id(), self.muted, event.get("event_id")), now_us)
        else:
            self.happened(cause, now_us)

    def _answer(self, event: dict[str, Any], now_us: int) -> None:
        self.synthesize(event, now_us + self._QUICK_US, synthetic=not self.score.authored)

    def refuse(self, event: dict[str, Any], problem: Problem, now_us: int) -> None:
        """An `error`, and the end of the connection if the problem is of that kind."""
        self.synthesize(live_events.error(self.new_id(), problem, event.get("event_id")), now_us)
        self._note_refusal(event, problem.code, now_us)
        if problem.close_code is not None:
            self._push(now_us, 1 << 41, End(problem.close_code, problem.code))

    def _note_refusal(self, event: dict[str, Any], code: str, now_us: int) -> None:
        if event.get("type") in APPENDS:
            self.appends.refused(event, code, now_us)

    def _start(self, event: dict[str, Any], cause: Cause, now_us: int) -> None:
        """The session is set up; its timeline begins with the first audio."""
        session = self.rules.start(event, "live_0001", _EXPIRES_AT)
        self.format = self.output_format = session_format(session)
        answers = self.score.answers.get(cause, ())
        ready_us = now_us
        for frame in answers:
            if frame.kind == "session.started" and self.score.authored:
                self.wire.restate(frame, session=session, client_event_id=event.get("event_id"))
            elif frame.kind == "session.started" and not same(self.recorded[cause].event, event):
                recorded = (frame.event or {}).get("session") or {}
                self.wire.restate(frame, session=merge(recorded, event["session"]))
        self.happened(cause, now_us)
        if not any(frame.kind == "session.started" for frame in answers):
            started = live_events.started(self.new_id(), session, event.get("event_id"))
            self.synthesize(started, now_us + self._QUICK_US)
        if self.score.authored:
            ready_us = max([now_us, *(entry[0] for entry in self.queued())])
            for code, message in self.rules.notices(event):
                notice = live_events.info(self.new_id(), code, message, event.get("event_id"))
                self.synthesize(notice, ready_us, synthetic=False)
            self._plan_usage(ready_us + _USAGE_US)
        self.track.begin()
        if self.live.run_us:
            self.timeline.wait(self.live.run_from_us, TURN, self._runs)
        self.reached(("timeline", 0), 0)

    def _runs(self, position_us: int) -> None:
        """The timeline goes on by itself from here: there is something to wake up for."""
        self.scheduled += 1

    def _append(self, event: dict[str, Any], payload: str | bytes, now_us: int) -> None:
        plain = self.rules.session is not None and len(event) == 2 and isinstance(event.get("audio"), str)
        problem = None if plain else self.rules.refuse(event)
        if problem is None:
            try:
                data = _a2b(event["audio"], strict_mode=True)
            except (binascii.Error, ValueError):
                problem = BAD_AUDIO
            else:
                if len(data) % self.format.width:
                    problem = BAD_AUDIO
        if problem is not None:
            self.refuse(event, problem, now_us)
            return
        self._repeated, self._repeated_audio = payload, data
        self._hear(data, now_us)

    def _hear(self, data: bytes, now_us: int) -> None:
        """Caller audio has arrived: the timeline moves on. What is muted is silence to the agent."""
        if self.rules.closing:
            return
        if self.muted:
            data = self.format.silence(1)[: self.format.width] * (len(data) // self.format.width)
        for match in self.turns.listener.feed(data, self.format, now_us):
            self.turns.recognised(match)
        timeline = self.timeline
        if timeline.next_us <= timeline.total_us:
            timeline.advance(now_us)
        else:
            timeline.done_us = timeline.total_us

    def schedule(self, frame: ScoredFrame, due_us: int, *, cut: bool = False, after_us: int = 0) -> int:
        """As the base; nothing goes out before its cause has come about."""
        return super().schedule(frame, due_us, cut=cut, after_us=max(after_us, self.now_us))

    # --- what comes about ----------------------------------------------------------------------------------------

    def at(self, origin_us: int, frame: ScoredFrame) -> None:
        """A frame has its place on the timeline, behind `origin_us`: it is due its delay after that is reached."""

        def reached(position_us: int) -> None:
            moment = self.timeline.when(position_us)
            if moment is not None and frame.index not in self.cut:
                self.schedule(frame, moment + frame.delay_us)

        self.timeline.wait(origin_us + (frame.position_us or 0), TURN, reached)

    def reached(self, cause: Cause, position_us: int) -> None:
        """A cause with a place on the timeline has come about there: its frames and its replies follow."""
        for frame in self.score.answers.get(cause, ()):
            if frame.reply is None and frame.kind != OUTPUT_AUDIO:
                self.at(position_us, frame)
        for reply in self.score.replies:
            if reply.cause == cause:
                self.track.wish(reply, position_us)
        if cause == self.score.closing_cause:
            self.happened(cause, self.now_us, only=lambda frame: False)

    def delegate(self, event: dict[str, Any], position_us: int, due_us: int) -> None:
        """A delegation that no script has."""
        self.schedule(self.make(event), due_us)

    def cancelled(self, reply: ScoredReply, position_us: int) -> int:
        """With `kugel` in the session: a reply broke off, and the client is to drop what is not played yet.

        Returns when it is told so.
        """
        moment = self.timeline.when(position_us) or self.now_us
        recorded = next((f for f in self.score.frames if f.kind == CANCELLED and f.reply == reply.index), None)
        if recorded is not None:
            return self.schedule(recorded, moment + recorded.delay_us)
        if not self.score.authored:
            self.verdict.synthetic.append(CANCELLED)
        made = self.make(live_events.kugel_cancelled(self.new_id()))
        made.reply = reply.index
        return self.schedule(made, moment + self.live.lag_us)

    def next_due(self) -> int | None:
        """As the base; a timeline that goes on by itself also has its moments."""
        due, running = super().next_due(), self.timeline.next_due()
        if running is None or self.ended:
            return due
        return running if due is None else min(due, running)

    def due(self, now_us: int) -> list[Any]:
        """As the base."""
        running = self.timeline.next_due()
        if running is not None and running <= now_us:
            self.now_us = max(self.now_us, now_us)
            self.timeline.advance(now_us)
        return super().due(now_us)

    def close(self, reason: live_events.CloseReason, now_us: int, client_event_id: Any = None) -> None:
        """The session ends: what was never placed is told, then `session.closed`, then the connection closes."""
        if self.rules.closing:
            return
        self.rules.close()
        self.appends.close(now_us)
        recorded = [f for f in self.score.answers.get(("session.close", 0), ()) if f.kind != "error"]
        if reason != "close_requested":
            self.cut.update(frame.index for frame in recorded)
            recorded = []
        for frame in recorded:
            self.schedule(frame, now_us + frame.delay_us)
        if any(frame.kind == CLOSED for frame in recorded):
            self.happened(("session.close", 0), now_us, only=lambda frame: False)
            return
        event = live_events.closed(self.new_id(), reason, self.rules.session or {}, 0, client_event_id)
        frame = ScoredFrame(1 << 39, "", event, CLOSED, ("session.close", 0), 0)
        self._push(now_us + self.CLOSE_US, 1 << 41, frame)

    def freeze(self, now_us: int, for_us: int) -> None:
        """The server stands still: it takes nothing in for a while, and what it was about to send comes that much
        later."""
        self.timeline.stand(now_us + for_us)
        waiting = [entry for entry in self.queued() if isinstance(entry[3], (ScoredFrame, Send))]
        self.remove(waiting)
        for due_us, place, _, entry in sorted(waiting, key=lambda entry: entry[:3]):
            self._push(due_us + for_us, place, entry)
        self.track.later(for_us)

    # --- what the server sends -----------------------------------------------------------------------------------

    def render(self, frame: ScoredFrame, now_us: int) -> Send | None:
        """Play a scored frame as this call needs it, and keep the server's own state."""
        if frame.index in self.cut or self._over:
            return None
        if frame.kind == OUTPUT_AUDIO:
            self.track.went_out(frame, now_us)
            return self.wire.audio(frame)
        event = frame.event
        if event is None:
            return super().render(frame, now_us)
        if not frame.payload:
            event = self._write(frame, event, now_us)
            return Send(_encode(event).decode(), frame.kind, frame)
        told = self.wire.event(frame, event, now_us)
        if not told:
            self.cut.add(frame.index)
            return None
        if frame.kind == DELEGATED:
            self._delegated(frame, told, now_us)
        elif frame.kind == CANCELLED and frame.reply is not None and self.observer is not None:
            self.observer.reply_ended(frame.reply, now_us, True)
        elif frame.kind == CLOSED:
            self._over = True
            self.rules.close()
        payload = frame.payload if told is event else _encode(told).decode()
        return Send(payload, frame.kind, frame, frame.reply in self.made_up, frame.reply)

    def _plan_usage(self, due_us: int) -> None:
        event = live_events.usage_updated(self.new_id(), 0, 0.0)
        frame = ScoredFrame(1 << 40, "", event, USAGE, ("session.start", 0), 0)
        self._push(due_us, frame.index, frame)

    def _write(self, frame: ScoredFrame, event: dict[str, Any], now_us: int) -> dict[str, Any]:
        """An event that is settled only now: usage, and the end."""
        if frame.kind == CLOSED:
            self._push(now_us, 1 << 42, End(1005))
        elif now_us >= _HOUR_US:
            self.close("expired", now_us)
        else:
            self._plan_usage(now_us + _USAGE_US)
        return {**event, **self.wire.usage(frame, event, now_us)}

    def _delegated(self, frame: ScoredFrame, event: dict[str, Any], now_us: int) -> None:
        made = event.get("delegation") or {}
        self.rules.delegated(str(made.get("id")))
        turn = frame.cause[1] if frame.cause[0] == "turn.stop" else None
        self.delegations.append(Delegation(str(made.get("id")), int(event.get("offset_ms") or 0), now_us, turn))

    # --- for the engine's parts ----------------------------------------------------------------------------------

    def new_id(self) -> str:
        """A fresh event id."""
        self._made += 1
        return f"event_simrt_{self._made:04d}"

    def make(self, event: dict[str, Any]) -> ScoredFrame:
        """A frame that no score has."""
        self.spare_index += 1
        return ScoredFrame(self.spare_index, _encode(event).decode(), event, event["type"], ("timeline", 0), 0)

    def reply_of(self, key: ReplyKey) -> ScoredReply | None:
        """Also the replies that were made up."""
        return self.made_up.get(key) or super().reply_of(key)

    def unplayed(self) -> list[str]:
        """As the base; silence is not missed."""
        for frame in self.live.fillers.values():
            self.sent.add(frame.index)
        return super().unplayed()

    def final_verdict(self) -> Verdict:
        """Also the client events that never came."""
        verdict = super().final_verdict()
        verdict.unasked = [kind for kind, nth in self.recorded if (kind, nth) not in self.asked]
        if self.score.authored:
            verdict.unasked += [f"session.commentary.append ({text})" for text in self.appends.unanswered()]
        return verdict
