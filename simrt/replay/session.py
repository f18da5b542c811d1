"""The replay engine without I/O: frames and times in, frames and times out.

    session.opened(now)            the connection is there
    session.receive(payload, now)  the client sent something
    session.next_due()             when something will go out next, or None
    session.due(now)               what goes out now

`Session` plays a score by causes that it is told have happened; `GenericSession` knows the client's frames only by
their order. simrt.replay.realtime adds the Realtime protocol. Times are µs since the connection opened.
"""

import heapq
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, Protocol

import msgspec

from simrt.audio import AudioFormat
from simrt.caller.cue import ReplyKey
from simrt.errors import PlanError
from simrt.faults.base import Action, Armed, Context, End, Fault, Send
from simrt.replay.score import OPEN, Cause, Score, ScoredFrame, ScoredReply
from simrt.trace import Mark
from simrt.wire import Refusal, Request

_SUBPROTOCOLS = ("realtime", "openai-live")  # what is offered besides is a key
_LAST = 1 << 40  # sorts made-up frames behind recorded ones of the same moment


class Verdict(msgspec.Struct):
    """What the replay could not play straight; all lists empty means that the call went as on the cassette.

    `unplayed`: server frames that never went out, by kind. `unasked`: client events of the cassette (or expected by
    the script) that never came. `synthetic`: answers that were made up. `unscripted`: client events that the
    cassette does not have. `unfired`: faults that never acted. `unsaid`: caller lines whose cue never came.
    `notes`: oddities on the wire.
    """

    unplayed: list[str] = []
    unasked: list[str] = []
    synthetic: list[str] = []
    unfired: list[str] = []
    unscripted: list[str] = []
    unsaid: list[str] = []
    notes: list[str] = []

    @property
    def clean(self) -> bool:
        """Nothing to report."""
        return not any(msgspec.structs.astuple(self))

    def __str__(self) -> str:
        rows = [f"{name}: {', '.join(v)}" for name, v in msgspec.structs.asdict(self).items() if v]
        return "\n".join(rows) or "clean"


class Observer(Protocol):
    """Who listens to what the server says: the caller's ear, mostly."""

    def audio_sent(self, reply: ReplyKey, audio: bytes, fmt: AudioFormat, t_us: int) -> None: ...

    def reply_ended(self, reply: ReplyKey, t_us: int, cut: bool) -> None: ...

    def turn_heard(self, turn: int, transcript: str, words_lost: int, t_us: int) -> None: ...


class Fires(msgspec.Struct):
    """The moment at which a fault makes itself felt on a frame that it moves."""

    armed: Armed
    frame: ScoredFrame


class Timed(msgspec.Struct):
    """Something that a fault puts on the wire at a moment of its own."""

    action: Action
    armed: Armed


class Does(msgspec.Struct):
    """Something that a fault does at a moment of its own."""

    armed: Armed
    then: Callable[[int], None]


Entry = ScoredFrame | Fires | Timed | Does | Send | End
Queued = tuple[int, float, int, Entry]


class Session(ABC):
    """Plays one score to one client."""

    subprotocol: str | None = None

    def __init__(
        self, score: Score, faults: Sequence[Fault] = (), seed: int = 0, observer: Observer | None = None
    ) -> None:
        self.context = Context(score, seed)
        self.context.mark = self._mark
        self.context.put = self._put
        self.context.do = self._do
        self.context.session = self.context.live = self  # type: ignore[assignment]  # see Context
        for number, fault in enumerate(faults):
            fault.check(self.context.cassette)
            with suppress(PlanError):  # an earlier fault has taken away what this one is about: it will not fire
                score = fault.extend(score, number, self.context.rng(number))
        self.context.score = self.score = score
        self.output_format = score.output_format
        self.reply_lengths = {reply.index: reply.audio_us for reply in score.replies}
        self.armed = [fault.arm(self.context, number) for number, fault in enumerate(faults)]
        self.observer = observer
        self.marks: list[Mark] = []
        self.ended = False
        self.ended_it = False
        self.verdict = Verdict()
        self.sent: set[int] = set()
        self.cut: set[int] = set()
        self.now_us = 0
        self._queue: list[Queued] = []
        self._network: list[tuple[int, int, Action]] = []
        self._inbound: list[tuple[int, int, str | bytes]] = []
        self.scheduled = 0
        """Grows whenever something is put into a queue: a shell that sees it unchanged need not ask `next_due`."""
        self._released_us = 0
        self._reached_us = 0
        # most faults do one thing: the others need not be asked at each frame
        self._inbound_faults = [a for a in self.armed if type(a).hold_inbound is not Armed.hold_inbound]
        self._shifting = [a for a in self.armed if type(a).shift is not Armed.shift]
        self._emitting = [a for a in self.armed if type(a).emit is not Armed.emit]
        self._holding = [a for a in self.armed if type(a).hold is not Armed.hold]

    # --- the connection ------------------------------------------------------------------------------------------

    def accept(self, request: Request) -> Refusal | None:
        """Answer the opening handshake: None lets it in. A cassette of a refusal refuses."""
        for armed in self.armed:
            refusal = armed.refuse(request)
            if refusal is not None:
                return refusal
        opening = self.score.opening
        if opening.status not in (101, 200):
            return Refusal(opening.status, opening.response_body, opening.response_headers)
        if opening.subprotocol in request.subprotocols:
            self.subprotocol = opening.subprotocol
        else:
            self.subprotocol = next((name for name in _SUBPROTOCOLS if name in request.subprotocols), None)
        return None

    def opened(self, now_us: int) -> None:
        """The connection is there."""
        self.now_us = now_us
        for armed in self.armed:
            armed.opened(now_us)
        self.happened(OPEN, now_us)

    def receive(self, payload: str | bytes, now_us: int) -> None:
        """The client sent a message."""
        if not self._inbound_faults:
            self.now_us = now_us
            self.handle(payload, now_us)
            return
        size = len(payload)
        reach = max([self._reached_us, *(armed.hold_inbound(now_us, size) for armed in self._inbound_faults)])
        self._reached_us = reach
        self.scheduled += 1
        heapq.heappush(self._inbound, (reach, self.scheduled, payload))

    @abstractmethod
    def handle(self, payload: str | bytes, now_us: int) -> None:
        """A client message has reached the server."""

    def next_due(self) -> int | None:
        """When `due` has something to do next, or None."""
        if self.ended:
            return None
        due: int | None = self._queue[0][0] if self._queue else None
        for queue in (self._network, self._inbound):
            if queue and (due is None or queue[0][0] < due):
                due = queue[0][0]
        return due

    def due(self, now_us: int) -> list[Action]:
        """All that reaches the client by `now_us`, in order."""
        self.now_us = max(self.now_us, now_us)
        while self._inbound and self._inbound[0][0] <= now_us:
            reach, _, payload = heapq.heappop(self._inbound)
            self.handle(payload, reach)
        while self._queue and self._queue[0][0] <= now_us:
            due_us, _, _, entry = heapq.heappop(self._queue)
            if isinstance(entry, ScoredFrame):
                self._play(entry, due_us)
            elif isinstance(entry, Fires):
                if entry.frame.index not in self.cut:
                    entry.armed.fire(due_us, event=entry.frame.kind)
            elif isinstance(entry, Timed):
                entry.armed.fire(due_us)
                self._emit(entry.action, due_us)
            elif isinstance(entry, Does):
                entry.armed.fire(due_us)
                entry.then(due_us)
            else:
                self._emit(entry, due_us)
        out: list[Action] = []
        while self._network and self._network[0][0] <= now_us and not self.ended:
            release, _, action = heapq.heappop(self._network)
            out.append(action)
            self.ended = self.ended_it = isinstance(action, End)
            if isinstance(action, Send) and action.reply is not None:
                self._tell(action, max(release, self.now_us))
        return out

    def _tell(self, send: Send, now_us: int) -> None:
        """Let the observer know of audio that reaches the client, and of a reply's last piece."""
        observer, reply = self.observer, send.reply
        if observer is None or reply is None:
            return
        if send.audio:
            observer.audio_sent(reply, send.audio, self.output_format, now_us)
            total = self.reply_lengths.get(reply, 0)
            if send.frame is not None and send.frame.audio_start_us + send.frame.audio_us >= total:
                observer.reply_ended(reply, now_us, False)

    def acted(self, number: int, now_us: int) -> None:
        """The caller has done what the plan's fault of that number has them do."""
        self.armed[number].acted(now_us)

    def pong_due(self, now_us: int) -> int:
        """When a ping of the client that comes now is answered."""
        return max([now_us, *(armed.pong(now_us) for armed in self.armed)])

    def closed(self, now_us: int) -> None:
        """The connection is over, whoever ended it."""
        self.now_us = now_us
        self.ended = True

    # --- playing -------------------------------------------------------------------------------------------------

    def happened(
        self, cause: Cause, now_us: int, late_us: int = 0, only: Callable[[ScoredFrame], bool] | None = None
    ) -> bool:
        """A cause has come about: schedule what it brings (`only` some of it), `late_us` later than it would.

        False if it brings nothing.
        """
        answers = self.score.answers.get(cause, ())
        for frame in answers:
            if only is None or only(frame):
                self.schedule(frame, now_us + frame.delay_us + late_us)
        if cause == self.score.closing_cause and self.score.closing is not None:
            closing = self.score.closing
            end = End(closing.code, closing.reason, reset=closing.code == 1006)
            self._push(now_us + self.score.closing_delay_us, _LAST, end)
        return bool(answers)

    def schedule(self, frame: ScoredFrame, due_us: int, *, cut: bool = False, after_us: int = 0) -> int:
        """Put a scored frame in the queue, moved by the faults that move it; returns when it is due.

        `cut`: it closes a reply half-way. `after_us`: moved or not, it is not due before that.
        """
        for armed in self._shifting:
            if cut and armed.by_place:
                continue
            moved = armed.shift(frame, due_us)
            if moved != due_us:
                self._push(min(moved, due_us), frame.place, Fires(armed, frame))
                due_us = moved
        due_us = max(due_us, after_us)
        self._push(due_us, frame.place, frame)
        return due_us

    def reply_of(self, key: ReplyKey) -> ScoredReply | None:
        """The reply of that key; a session that makes replies up knows those too."""
        return next((reply for reply in self.score.replies if reply.index == key), None)

    def synthesize(self, event: dict[str, Any], now_us: int, *, synthetic: bool = True) -> None:
        """Queue a made-up event; synthetic ones are reported in the verdict."""
        kind = str(event.get("type"))
        if synthetic:
            code = (event.get("error") or {}).get("code") if kind == "error" else None
            self.verdict.synthetic.append(f"{kind} ({code})" if code else kind)
        self._push(now_us, _LAST, Send(msgspec.json.encode(event).decode(), kind, synthetic=synthetic))

    def _push(self, due_us: int, place: float, entry: Entry) -> None:
        self.scheduled += 1
        heapq.heappush(self._queue, (due_us, place, self.scheduled, entry))

    def queued(self) -> list[Queued]:
        """What waits for its time: (due, order, order, entry), in no order."""
        return self._queue

    def remove(self, entries: list[Queued]) -> None:
        """Take entries out of the queue."""
        gone = {entry[2] for entry in entries}
        if gone:
            self._queue = [entry for entry in self._queue if entry[2] not in gone]
            heapq.heapify(self._queue)

    def _put(self, due_us: int, action: Action, armed: Armed) -> None:
        self._push(due_us, _LAST, Timed(action, armed))

    def _do(self, due_us: int, armed: Armed, then: Callable[[int], None]) -> None:
        self._push(due_us, _LAST, Does(armed, then))

    def _mark(self, t_us: int, kind: str, detail: dict[str, Any]) -> None:
        self.marks.append(Mark(t_us, kind, detail))

    def _play(self, frame: ScoredFrame, now_us: int) -> None:
        send = self.render(frame, now_us)
        self.sent.add(frame.index)
        if send is not None:
            self._emit(send, now_us)

    def _emit(self, action: Action, now_us: int) -> None:
        actions: list[Action] = [action]
        for armed in self._emitting:
            passed: list[Action] = []
            for one in actions:
                passed.extend(armed.emit(one, now_us) if isinstance(one, Send) else (one,))
            actions = passed
        for one in actions:
            release = self._released_us
            if isinstance(one, Send):
                for armed in self._holding:
                    release = max(release, armed.hold(one, now_us))
            self._released_us = release = max(release, now_us)
            self.scheduled += 1
            heapq.heappush(self._network, (release, self.scheduled, one))

    def render(self, frame: ScoredFrame, now_us: int) -> Send | None:
        """The frame as this call needs it; None leaves it out."""
        return Send(frame.payload, frame.kind, frame, False, frame.reply, frame.audio)

    def retrieve(self, item_id: str) -> dict[str, Any] | None:
        """The item as the server's history holds it, None if it does not; protocols that have a history override."""
        return None

    def unplayed(self) -> list[str]:
        """The cassette's frames that never went out, counted by kind.

        Those that a barge-in cut off are not missed, nor is what the server says of its rate limits.
        """
        counts: dict[str, int] = {}
        for frame in self.score.frames:
            housekeeping = frame.kind == "rate_limits.updated"
            if frame.index not in self.sent and frame.index not in self.cut and not housekeeping:
                counts[frame.kind or "?"] = counts.get(frame.kind or "?", 0) + 1
        return [f"{kind} ×{count}" for kind, count in counts.items()]

    def final_verdict(self) -> Verdict:
        """The verdict at the end of the call."""
        verdict = self.verdict
        verdict.unplayed = self.unplayed()
        verdict.unfired = [str(armed.fault) for armed in self.armed if not armed.fired]
        return verdict


class GenericSession(Session):
    """A protocol that simrt does not know: the k-th client frame brings what it brought on the recording."""

    def __init__(
        self, score: Score, faults: Sequence[Fault] = (), seed: int = 0, observer: Observer | None = None
    ) -> None:
        super().__init__(score, faults, seed, observer)
        self._received = 0

    def handle(self, payload: str | bytes, now_us: int) -> None:
        """Count the frame and play what follows it."""
        self.happened(("frame", self._received), now_us)
        self._received += 1

    def final_verdict(self) -> Verdict:
        """Also the client frames that never came."""
        verdict = super().final_verdict()
        missing = len(self.score.client_events) - self._received
        verdict.unasked = [f"client frame ×{missing}"] if missing > 0 else []
        return verdict
