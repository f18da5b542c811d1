"""One call: a caller, a client and a replay server in a World."""

import asyncio
import contextvars
import inspect
import os
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from simrt.audio import PCM24, AudioFormat
from simrt.caller import Caller, Clock, Ear, Line, Say
from simrt.cassette.store import Cassette
from simrt.cues import says_of
from simrt.delegations import Delegation, delegations
from simrt.errors import CallError, WorldError
from simrt.faults.base import Fault
from simrt.faults.plan import check_plan, parse_plan
from simrt.invariant import Invariant
from simrt.replay.build import score_of
from simrt.replay.live import LiveSession
from simrt.replay.score import Score
from simrt.replay.server import ReplayPeer, WebSocketServer
from simrt.replay.session import Verdict
from simrt.replay.vad import VadName
from simrt.result import CallerTurn, CallResult, FunctionCall, Reply
from simrt.stage import Stage
from simrt.trace import Trace
from simrt.world import World
from simrt.world.stuck import place_of

Client = Callable[[Line], Any]

URL = "ws://simrt.test/v1/realtime?model=simrt"
LIVE_URL = "ws://simrt.test/v1/live/sessions"
HEADERS = {"Authorization": "Bearer simrt"}
CAP_MS = 600_000
PATIENCE_MS = 120_000
_READY = ('"session.updated"', '"session.started"')
_PACKAGE = str(Path(__file__).parent) + os.sep
_the_clients = contextvars.ContextVar("simrt_client", default=False)  # whether what runs is the client's


def run_call(
    client: Client,
    cassette: Cassette | Score | str | Path,
    faults: Fault | str | Sequence[Fault | str] = (),
    *,
    says: Sequence[Say] | None = None,
    seed: int = 0,
    url: str | None = None,
    headers: dict[str, str] | None = None,
    format: AudioFormat = PCM24,
    cap_ms: int = CAP_MS,
    vad: VadName = "energy",
    start: str = "2026-01-05T09:00:00+00:00",
    invariants: Sequence[Invariant] = (),
) -> CallResult:
    """Run `client` against a cassette (or its score, made once for many calls) in virtual time and judge what came of
    it.

    `client` takes a Line and is awaited; it may also be a class whose instance has `run()`. `cassette` may also be the
    name of a shipped one. `faults` are Fault objects or compact forms. `says` replaces what the cassette's caller says.
    `cap_ms`: how long after the caller's last cue the client may stay on the line. `start`: the wall clock at pickup.
    `invariants` of the user's own store (see simrt.invariant): what does not hold is in the result's `broken`.

    Raises PlanError for a fault that can never fire, CallError when the client raises, never connects, or is still
    there at the cap; its `result` attribute holds the call as far as it went. Also when an invariant raises.
    """
    if not callable(client):
        raise CallError(f"{client!r} is no client: give an async function that takes a Line, or a class with run()")
    score = score_of(cassette, vad)
    plan = parse_plan(faults)
    check_plan(plan, score)
    world = World(start=start, seed=seed)
    result: list[CallResult] = []  # not the task's own result: asyncio's signal handling prints that

    async def main() -> None:
        talk, stage = pick_up(client, score, plan, says, seed, url, headers, format, cap_ms, invariants)
        world.listen("*", lambda: WebSocketServer(stage.accept))
        asyncio.get_running_loop().set_task_factory(talk.watch)
        await talk.run()
        result.append(finish(talk, stage))

    world.run(main())
    return result[0]


def pick_up(
    client: Client,
    score: Score,
    plan: Sequence[Fault] = (),
    says: Sequence[Say] | None = None,
    seed: int = 0,
    url: str | None = None,
    headers: dict[str, str] | None = None,
    format: AudioFormat = PCM24,
    cap_ms: int = CAP_MS,
    invariants: Sequence[Invariant] = (),
) -> tuple["Conversation", Stage]:
    """A client on a line, and the stage that serves it; the time of the call is the running loop's from now on.

    What is left to do: let connections find `stage.accept`, run the conversation, and `finish` both.
    """
    wanted = [say for _, say in says_of(score)] if says is None else list(says)
    clock = Clock(asyncio.get_running_loop())
    url = url or (LIVE_URL if score.dialect == "live" else URL)
    line = Line.on(clock, url, HEADERS if headers is None else headers, format)
    ear = Ear(line.speaker)
    stage = Stage(score, plan, seed, clock, ear, invariants)
    talk = Conversation(client, line, ear, score, plan, wanted, cap_ms)
    talk.fault_acted = stage.caller_acted
    return talk, stage


class Conversation:
    """The client on a line with a caller; the same in a World and in real time."""

    def __init__(
        self,
        client: Client,
        line: Line,
        ear: Ear,
        score: Score,
        plan: Sequence[Fault],
        says: Sequence[Say],
        cap_ms: int = CAP_MS,
    ) -> None:
        self.client, self.line, self.ear = client, line, ear
        replies = sum(isinstance(reply.index, int) for reply in score.replies)
        lines = list(says)
        for number, fault in enumerate(plan):
            lines = fault.recast(lines, score, number)
        self._of_fault = [(say, number) for number, fault in enumerate(plan) for say in fault.says(score)]
        self.says = [*lines, *(say for say, _ in self._of_fault)]
        self.caller = Caller(self.says, line, ear, replies=replies)
        self.caller.acted.append(self._acted)
        self.fault_acted: Callable[[int], object] = lambda number: None
        self.cap_ms = cap_ms
        self.capped = False
        self.error: BaseException | None = None
        self.dead: list[str] = []  # tasks that nobody has asked how they ended
        self.left: list[str] = []  # tasks of the client that were still running when it had returned
        self._failed: list[asyncio.Task[Any]] = []
        self._running: dict[asyncio.Task[Any], None] = {}

    def _acted(self, say: Say) -> None:
        for own, number in self._of_fault:
            if own is say:
                self.fault_acted(number)

    async def run(self) -> None:
        """From pickup to hang-up: until the client returns, raises, or hits the cap. A caller who has nothing more to
        say, and has heard nothing for PATIENCE_MS, hangs up."""
        self.caller.start()
        context = contextvars.copy_context()
        context.run(_the_clients.set, True)
        task = asyncio.get_running_loop().create_task(_await(self.client, self.line), context=context)
        self._running.pop(task, None)
        try:
            while not task.done():
                left_us = self.caller.last_cue_us + self.cap_ms * 1000 - self.line.clock.now_us()
                if left_us <= 0:
                    self.capped = True
                    break
                if (patience_us := self._patience_us()) == 0:
                    self.line.cut("caller")
                await asyncio.wait([task], timeout=min(left_us, patience_us or PATIENCE_MS * 1000) / 1_000_000)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait([task], timeout=5)
        self.line.cut("harness" if self.capped else "client")
        if task.done() and not self.capped:
            self.error = asyncio.CancelledError() if task.cancelled() else task.exception()
        await asyncio.sleep(0.001)  # close frames cross, what was cancelled ends
        self._look_for_the_dead()
        if not self.capped and self.error is None:
            self.left = [_describe_task(task) for task in self._running if not task.done()]

    def _patience_us(self) -> int | None:
        """How much longer the caller waits for somebody to speak; None: the caller has hung up, or will speak."""
        if self.line.hung_up or self.caller.will_speak:
            return None
        said_us = max((said.ended_us for said in self.caller.utterances), default=0)
        quiet_us = max(said_us, self.ear.quiet_us() or 0)
        return max(0, quiet_us + PATIENCE_MS * 1000 - self.line.clock.now_us())

    def watch(self, loop: asyncio.AbstractEventLoop, coro: Any, **options: Any) -> "asyncio.Task[Any]":
        """A task factory that keeps an eye on each task, for a loop that has no other call on it."""
        task: asyncio.Task[Any] = asyncio.Task(coro, loop=loop, **options)
        context = options.get("context")
        if _the_clients.get() if context is None else context.get(_the_clients, False):
            self._running[task] = None
        task.add_done_callback(self._done)
        return task

    def _done(self, task: "asyncio.Task[Any]") -> None:
        self._running.pop(task, None)
        if getattr(task, "_exception", None) is not None:  # not exception(): asking counts as having noticed
            self._failed.append(task)

    def _look_for_the_dead(self) -> None:
        """A task that raised, and whose result nobody has fetched, has died unnoticed."""
        for task in self._failed:
            if getattr(task, "_log_traceback", False):
                error = task.exception()  # asked now, so asyncio need not complain as well
                if error is not None:
                    self.dead.append(f"a task of the client died unnoticed: {describe_error(error)}")


def _describe_task(task: "asyncio.Task[Any]") -> str:
    coro: Any = task.get_coro()
    return f"{getattr(coro, '__qualname__', coro)} at {place_of(coro)}"


async def _await(client: Client, line: Line) -> None:
    made = client(line)
    if not inspect.isawaitable(made):
        run = getattr(made, "run", None)
        if run is None:
            raise CallError(f"{client!r} is no client: calling it with a Line gives {made!r}, nothing to await")
        made = run()
    try:
        await made
    except SystemExit as error:
        raise CallError(f"the client ended the program: SystemExit({error.code!r})") from error


def finish(talk: Conversation, stage: Stage) -> CallResult:
    """The result of a conversation; CallError when it did not end as a call should."""
    line = talk.line
    score = stage.extended or stage.score
    end_us = line.hung_up_us if line.hung_up_us is not None else line.clock.now_us()
    traces = [peer.trace for peer in stage.peers]
    sessions = [peer.session for peer in stage.peers]
    first = sessions[0] if sessions else stage.refused_session
    verdict = first.final_verdict() if first is not None else Verdict()
    verdict.unfired = stage.unfired()
    verdict.unsaid = [f"{say.clip.name} ({say.cue})" for say in talk.caller.unsaid if say.clip.duration_us]
    if len(sessions) > 1:
        verdict.notes.append(f"the client connected {len(sessions)} times")
    verdict.notes.extend(talk.dead)
    if talk.capped:
        verdict.notes.append(f"the client was still on the line {talk.cap_ms / 1000:g} s after the caller's last cue")
    result = CallResult(
        ready_ms=_ready_ms(stage),
        caller_turns=_caller_turns(talk, stage, score),
        replies=_replies(talk, score, end_us),
        closed_by=_closed_by(talk, traces),
        virtual_ms=end_us / 1000,
        verdict=verdict,
        log=[f"{note.t_us / 1000:.1f} ms  {note.message}" for note in line.notes],
        traces=traces,
        calls=[call for peer in stage.peers for call in _calls(peer)],
        delegations=[found for peer in stage.peers for found in _delegations(peer)],
        opened_ms=[peer.opened_us / 1000 for peer in stage.peers],
        utterances=list(talk.caller.utterances),
        line=line,
        tasks_left=talk.left,
        tasks_dead=talk.dead,
    )
    stage.watch.end(result)
    result.broken = stage.watch.broken
    wrong = stage.watch.error
    message = _complaint(talk, stage, first is None) or (None if wrong is None else str(wrong))
    if message is not None:
        result.error = message
        failure = CallError(message)
        failure.result = result
        raise failure from talk.error or wrong
    return result


def _complaint(talk: Conversation, stage: Stage, never: bool) -> str | None:
    error = talk.error
    if error is not None:
        if isinstance(error, WorldError):
            return str(error)
        return str(error) if isinstance(error, CallError) else f"the client raised {describe_error(error)}"
    if never:
        ended = "never ended the call, and never connected" if talk.capped else "returned without ever connecting"
        return f"the client {ended}; it was given {talk.line.url}"
    if talk.capped:
        after = f"{talk.cap_ms / 1000:g} s after the caller's last cue"
        return f"the client never ended the call: {after} it was still on the line"
    return None


def describe_error(error: BaseException) -> str:
    """Type, message and the innermost place that is not simrt's own; of a group its first member."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    frames = traceback.extract_tb(error.__traceback__)
    place = next((f"{f.filename}:{f.lineno}" for f in reversed(frames) if not f.filename.startswith(_PACKAGE)), "")
    text = f"{type(error).__name__}: {error}".removesuffix(": ")
    return text + (f" ({place})" if place else "")


def _ready_ms(stage: Stage) -> float | None:
    for peer in stage.peers:
        for frame in peer.trace.frames:
            head = str(frame.payload)[:200]
            if frame.sender == "server" and any(kind in head for kind in _READY):
                event = frame.event()
                if event is not None and f'"{event.get("type")}"' in _READY:
                    return (peer.opened_us + frame.t_us) / 1000
    return None


def _calls(peer: ReplayPeer) -> list[FunctionCall]:
    found: dict[str, tuple[str, str, str]] = {}
    for frame in peer.trace.frames if not isinstance(peer.session, LiveSession) else ():
        if frame.sender != "server" or '"function_call"' not in str(frame.payload):
            continue
        item = (frame.event() or {}).get("item")
        if isinstance(item, dict) and item.get("type") == "function_call":
            parts = (item.get(key) for key in ("name", "call_id", "arguments"))
            name, call_id, arguments = (str(part or "") for part in parts)
            found[str(item.get("id"))] = name, call_id, arguments
    retrieve = peer.session.retrieve
    return [
        FunctionCall(name, call_id, item_id, arguments, retrieve(item_id) is not None)
        for item_id, (name, call_id, arguments) in found.items()
    ]


def _delegations(peer: ReplayPeer) -> list[Delegation]:
    """What the agent gave to the client, with what only the server knows: which reply said what was appended."""
    session = peer.session
    if not isinstance(session, LiveSession):
        return []
    found = delegations(peer.trace)
    sent = sorted((append for each in found for append in each.appends), key=lambda append: append.sent_us)
    taken = list(session.appends.all)
    for append in sent:
        own = append.kind, append.content, append.event_id  # one that was lost on its way may be sent again
        told = next((t for t in taken if (t.kind, t.content, t.event_id) == own), None)
        if told is not None:
            taken.remove(told)
            append.reply, append.dropped = told.reply, told.outcome == "dropped"
    return found


def _caller_turns(talk: Conversation, stage: Stage, score: Score) -> list[CallerTurn]:
    by_text: dict[str, list[int]] = {}
    for turn in score.turns:
        by_text.setdefault(turn.text, []).append(turn.index)
    turns = []
    for said in talk.caller.utterances:
        indexes = by_text.get(said.clip.text, [])
        index = indexes.pop(0) if indexes else None
        words = len(said.clip.text.split())
        text, lost = stage.heard.get(index, ("", words)) if index is not None else ("", words)
        turns.append(CallerTurn(said.clip.name, words, lost, text, said.started_us / 1000))
    return turns


def _replies(talk: Conversation, score: Score, end_us: int) -> list[Reply]:
    whole = {reply.index: reply.audio_us / 1000 for reply in score.replies}
    replies = []
    for heard in talk.ear.replies(end_us):
        audio_ms = max(whole.get(heard.reply, 0.0), heard.audio_ms)
        from_ms = None if heard.first_heard_us is None else heard.first_heard_us / 1000
        cut_off = heard.cut_off or heard.audio_ms < audio_ms
        replies.append(
            Reply(
                heard.reply,
                heard.transcript,
                round(audio_ms, 3),
                round(heard.audio_ms, 3),
                round(heard.heard_ms, 3),
                heard.heard_text,
                cut_off,
                round(heard.again_ms, 3),
                from_ms,
            )
        )
    return replies


def _closed_by(talk: Conversation, traces: list[Trace]) -> str:
    if talk.capped:
        return "cap"
    closing = traces[-1].closing if traces else None
    return closing.by if closing is not None else "client"
