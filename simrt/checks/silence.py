"""Dead air: stretches in which neither side is heard, and who owed the next step in them.

A `Debt` is what one side owes the other from one moment to another, whatever is heard meanwhile; `dead_air` lays the
debts over the quiet stretches of the line.
"""

from collections.abc import Iterator
from typing import Literal

import msgspec

from simrt.checks.base import Limits
from simrt.checks.calls import Turn
from simrt.checks.case import Case, once
from simrt.checks.events import Event
from simrt.checks.hearing import gaps, united
from simrt.checks.responses import Ask, Response

Kind = Literal["turn", "cough", "play", "tool", "ask", "answer", "failed", "refused", "server"]


def limit_ms(limits: Limits, kind: Kind) -> float:
    """For how long the line may be quiet while a debt of that kind is open."""
    return {
        "turn": limits.ask_ms,
        "cough": limits.ask_ms,
        "play": limits.late_play_ms,
        "tool": limits.tool_ms,
        "ask": limits.ask_ms,
        "answer": limits.answer_ms,
        "failed": limits.failure_ms,
        "refused": limits.failure_ms,
        "server": limits.answer_ms,
    }[kind]


class Debt(msgspec.Struct, frozen=True):
    """From `start_us` to `end_us` a step is owed because of `event`.

    "turn": the client ends the turns itself, and owes a `response.create`. "cough": a turn of which nothing was
    understood cut a reply off, and nobody takes it up again. "play": the client has audio and does not play it. "tool":
    a function call has no output yet. "ask": an output is in the conversation, and no reply is asked for. "answer": the
    client's `response.create` brings nothing, or a response has begun and does not go on. "failed", "refused": a
    response failed, a `response.create` was refused. "server": the server owes a reply to the caller's turn, and the
    client could ask for it.
    """

    kind: Kind
    start_us: int
    end_us: int
    event: Event


class DeadAir(msgspec.Struct, frozen=True):
    """The line is quiet from `start_us` to `end_us`, for longer than the debt allows."""

    debt: Debt
    start_us: int
    end_us: int

    @property
    def quiet_ms(self) -> float:
        """For how long."""
        return (self.end_us - self.start_us) / 1000


def dead_air(case: Case, *kinds: Kind) -> Iterator[DeadAir]:
    """The longest quiet stretch of each debt of these kinds that is longer than its limit; none where nobody knows what
    was heard."""
    spoken = case.agent_speech
    if spoken is None:
        return
    quiet = gaps(united([*spoken, *case.caller_speech]), 0, case.end_us)
    for debt in debts_of(case):
        if debt.kind not in kinds:
            continue
        parts = [(max(low, debt.start_us), min(high, debt.end_us)) for low, high in quiet]
        low, high = max(parts, key=lambda part: part[1] - part[0], default=(0, 0))
        if high - low > limit_ms(case.limits, debt.kind) * 1000:
            yield DeadAir(debt, low, high)


@once
def debts_of(case: Case) -> list[Debt]:
    """All debts of a call, in order."""
    found = list(_audio(case))
    if case.dialect == "realtime":
        found += [*_turns(case), *_tools(case), *_outputs(case), *_asks(case), *_failures(case)]
    return sorted(found, key=lambda debt: debt.start_us)


def _next(case: Case, connection: int, t_us: int, frame: int) -> int:
    """When, after that frame, somebody moved on: a response began, the client asked for one, the caller spoke (or was
    speaking, so that their turn brings a reply), the connection or the call ended."""
    if any(_open(turn, connection, t_us) for turn in case.turns):
        return t_us
    moments = [case.end_us, case.connections[connection].closed_us or case.end_us]
    for event in case.connections[connection].events:
        if event.frame > frame and event.t_us >= t_us and _moves_on(event):
            moments.append(event.t_us)
            break
    return min(moments)


def _open(turn: Turn, connection: int, t_us: int) -> bool:
    """Whether, as the client knew it, the caller was in the middle of this turn."""
    if turn.connection != connection or turn.started is None or turn.started.t_us > t_us:
        return False
    return turn.over_us is None or turn.over_us > t_us


def _moves_on(event: Event) -> bool:
    if event.sender == "client":
        return event.kind == "response.create"
    return event.kind in ("response.created", "input_audio_buffer.speech_started")


def _turns(case: Case) -> Iterator[Debt]:
    for turn in case.turns:
        event, over_us = turn.committed or turn.stopped, turn.over_us
        if event is None or over_us is None:
            continue
        detection = case.detection(turn.connection, over_us)
        if detection is None or detection.get("create_response") is False:
            since = _committed_by_client(case, event) or event
            if not any(since.frame < ask.event.frame < event.frame for ask in case.asks):
                end_us = _next(case, turn.connection, over_us, event.frame)
                yield Debt("turn", over_us, end_us, event)
        elif turn.text is not None and not turn.text.strip():
            cut = _cut_by(case, turn)
            if cut is not None and turn.transcript is not None:
                start_us = max(over_us, turn.transcript.t_us, cut.done_us or 0)  # a reply cannot be asked for before
                last = max(event.frame, turn.transcript.frame, cut.done.frame if cut.done is not None else 0)
                if _next(case, turn.connection, over_us, event.frame) >= start_us:
                    end_us = _next(case, turn.connection, start_us, last)
                    yield Debt("cough", start_us, end_us, turn.transcript)
        elif turn.started is not None:  # else it is what somebody else said in the background
            end_us = _next(case, turn.connection, over_us, event.frame)
            yield Debt("server", over_us, end_us, event)


def _committed_by_client(case: Case, committed: Event) -> Event | None:
    commits = [e for e in case.sent("input_audio_buffer.commit") if e.connection == committed.connection]
    before = [commit for commit in commits if commit.frame < committed.frame]
    return before[-1] if before else None


def _cut_by(case: Case, turn: Turn) -> Response | None:
    """The response that this turn cut off."""
    if turn.started is None:
        return None
    for response in reversed(case.responses):
        if response.connection == turn.connection and response.first_us < turn.started.t_us:
            cancelled = response.status == "cancelled" and (response.done_us or 0) >= turn.started.t_us
            return response if cancelled else None
    return None


def _tools(case: Case) -> Iterator[Debt]:
    for call in case.calls:
        if call.ready_us is None or call.broken_off:
            continue
        closed_us = case.connections[call.connection].closed_us or case.end_us
        end_us = min([case.end_us, closed_us, *(output.t_us for output in call.outputs)])
        yield Debt("tool", call.ready_us, end_us, call.told[0])


def _outputs(case: Case) -> Iterator[Debt]:
    """After the last output of a response's calls: a reply is to be asked for, once no response is active."""
    for response in case.responses:
        calls = [call for call in case.calls if call.response is response and not call.broken_off]
        outputs = [call.outputs[0] for call in calls if call.outputs]
        if not outputs or len(outputs) < len(calls):
            continue
        last = max(outputs, key=lambda output: output.t_us)
        active = case.active_at(last.connection, last.t_us)
        if active is not None and active.done is None:
            continue
        if active is not None and active.done is not None and active.done.frame > last.frame:
            start_us, frame = active.done.t_us, active.done.frame
            if any(last.frame < ask.event.frame < frame and ask.refused is None for ask in case.asks):
                continue
        elif any(_pending(ask, last) for ask in case.asks):
            continue  # that one brings a reply which knows the output; if it does not come, it is the one that is owed
        else:
            start_us, frame = last.t_us, last.frame
        yield Debt("ask", start_us, _next(case, last.connection, start_us, frame), last)


def _pending(ask: Ask, event: Event) -> bool:
    """Whether this request had neither a response nor a refusal yet when the client sent `event`."""
    if ask.event.connection != event.connection or ask.event.frame > event.frame:
        return False
    if ask.refused is not None:
        return ask.refused.frame > event.frame
    return ask.response is None or ask.response.first_us > event.t_us


def _asks(case: Case) -> Iterator[Debt]:
    for ask in case.asks:
        if ask.refused is not None:
            yield from _refused(case, ask)
        elif ask.response is None:
            yield Debt("answer", ask.event.t_us, _given_up(case, ask.event), ask.event)
    for response in case.responses:
        first = response.created or response.asked
        if first is None:
            continue
        start_us = first.t_us
        if response.asked is not None:
            given_up_us = _given_up(case, response.asked)
            if given_up_us < first.t_us:  # asked again, before it came after all
                yield Debt("answer", response.asked.t_us, given_up_us, response.asked)
            else:
                start_us = response.asked.t_us
        end_us = min(_given_up(case, first), _delivered(case, response))
        yield Debt("answer", start_us, max(start_us, end_us), first)


def _given_up(case: Case, event: Event) -> int:
    """When the client did something about an answer that did not come, or did not go on; or the caller spoke."""
    for other in case.connections[event.connection].events:
        if other.frame > event.frame and (
            (other.sender == "client" and other.kind in ("response.create", "response.cancel"))
            or (other.sender == "server" and other.kind == "input_audio_buffer.speech_started")
        ):
            return other.t_us
    return min(case.end_us, case.connections[event.connection].closed_us or case.end_us)


def _delivered(case: Case, response: Response) -> int:
    """When nothing more was to be expected of a response: it was over, or each of its items was."""
    ends = [case.end_us] if response.done_us is None else [response.done_us]
    items = [item.done or item.audio_done for item in response.items]
    if items and all(items):
        ends.append(max(event.t_us for event in items if event is not None))
    return min(ends)


def _refused(case: Case, ask: Ask) -> Iterator[Debt]:
    refused = ask.refused
    if refused is None:
        return
    start_us, frame = refused.t_us, refused.frame
    active = case.active_at(refused.connection, refused.t_us)
    if active is not None:
        if active.done is None or _knows(case, active, ask):
            return
        start_us, frame = active.done.t_us, active.done.frame
    end_us = _next(case, refused.connection, start_us, frame)
    yield Debt("refused", start_us, end_us, refused)


def _knows(case: Case, response: Response, ask: Ask) -> bool:
    """Whether the response began when all that the client asks about was in the conversation, so that nothing is lost
    if it takes the place of the one that was asked for."""
    if response.created is None:
        return False
    began = response.created
    before = [event for event in case.connections[began.connection].events if event.frame < began.frame]
    there = [e for e in before if e.sender == "server" and e.kind == "conversation.item.added"]
    known = {name for event in there for name in (event.text("item", "id"), event.text("item", "call_id")) if name}
    for item in case.sent("conversation.item.create"):
        if item.connection == began.connection and item.frame < ask.event.frame:
            named = item.text("item", "call_id") or item.text("item", "id")
            if named not in known:
                return False
    return True


def _failures(case: Case) -> Iterator[Debt]:
    for response in case.responses:
        done = response.done
        silent = not response.audio_us and not any(call.response is response for call in case.calls)
        if done is None or not (response.status == "failed" or (response.status == "incomplete" and silent)):
            continue
        yield Debt("failed", done.t_us, _next(case, done.connection, done.t_us, done.frame), done)


def _audio(case: Case) -> Iterator[Debt]:
    """Whenever the line was quiet before something was heard: since when the client had it."""
    hearing = case.hearing
    if hearing is None:
        return
    quiet_us = 0
    for heard in sorted(hearing.heard, key=lambda heard: heard.start_us):
        had_us = heard.sent_us
        if heard.kind == "new" and had_us is not None and heard.start_us > max(quiet_us, had_us):
            event = heard.piece.event if heard.piece is not None else _sent_at(case, had_us)
            if event is not None:
                yield Debt("play", max(quiet_us, had_us), heard.start_us, event)
        quiet_us = max(quiet_us, heard.end_us)


def _sent_at(case: Case, t_us: int) -> Event | None:
    return next((event for event in case.events if event.sender == "server" and event.t_us >= t_us), None)
