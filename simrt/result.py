"""What a call came to: what was said, what was heard, and what did not go as on the cassette."""

import hashlib
from collections.abc import Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import msgspec

from simrt.audio import Samples
from simrt.caller import Line, Utterance, stereo
from simrt.caller.cue import ReplyKey
from simrt.delegations import Delegation
from simrt.invariant import Broken
from simrt.replay.session import Verdict
from simrt.trace import Trace, parse_event

if TYPE_CHECKING:
    from simrt.checks import Finding, Limits


class CallerTurn(msgspec.Struct):
    """One thing that the caller said: `words` of them, of which `words_lost` did not reach the server whole.

    `transcript` is what the server heard. `said_ms` counts from pickup.
    """

    clip: str
    words: int
    words_lost: int
    transcript: str
    said_ms: float


class Reply(msgspec.Struct):
    """One reply of the agent as the caller had it, in the order of being sent.

    `audio_ms`: how long it is on the cassette; `sent_ms` of that left the server, `heard_ms` was played to the caller,
    `again_ms` was played another time. `heard_text`: the words that played whole. `cut_off`: not all of it was heard.
    `from_ms`: when its first sample was heard.
    """

    reply: ReplyKey
    transcript: str
    audio_ms: float
    sent_ms: float
    heard_ms: float
    heard_text: str
    cut_off: bool
    again_ms: float = 0.0
    from_ms: float | None = None


class FunctionCall(msgspec.Struct, frozen=True):
    """One tool call of the model. `arguments` is its JSON text, empty when that never was complete.

    `in_history`: whether the server still held the call at the end: it was asked with `conversation.item.retrieve`, on
    the connection that the call came over.
    """

    name: str
    call_id: str
    item_id: str
    arguments: str
    in_history: bool


class TimelineRow(msgspec.Struct):
    """One thing that happened; `t_ms` from pickup."""

    t_ms: float
    who: str
    what: str


class CallResult(msgspec.Struct, dict=True):
    """One call. Times are ms from pickup. `calls` are the model's calls of tools, in the order of being made;
    `delegations` what a Live agent gave to the client, with all that was appended and what became of it.

    `ready_ms`: when `session.updated` or, on Live, `session.started` reached the client (None: never). `closed_by`:
    "client", "server", "network", or "cap" when the client was still there at the virtual-time cap. `log`: what the
    client noted. `traces` has one for each connection, its times count from the moment in `opened_ms`. `tasks_left`:
    what the client had running when it returned; `tasks_dead`: what had raised, unnoticed. `broken`: the invariants
    that did not hold.
    """

    ready_ms: float | None
    caller_turns: list[CallerTurn]
    replies: list[Reply]
    closed_by: str
    virtual_ms: float
    verdict: Verdict
    log: list[str]
    traces: list[Trace]
    utterances: list[Utterance]
    line: Line
    error: str | None = None
    calls: list[FunctionCall] = []
    delegations: list[Delegation] = []

    @property
    def trace_sha256(self) -> str:
        """The digest of all that crossed the wire, with its times: equal digests mean identical calls."""
        if len(self.traces) == 1:
            return self.traces[0].sha256()
        return hashlib.sha256("".join(trace.sha256() for trace in self.traces).encode()).hexdigest()

    @property
    def timeline(self) -> list[TimelineRow]:
        """Everything that happened but the audio and the deltas, in order."""
        return timeline(self)

    opened_ms: list[float] = []
    tasks_left: list[str] = []
    tasks_dead: list[str] = []
    broken: list[Broken] = []

    @cached_property
    def findings(self) -> "list[Finding]":
        """What the rules find in this call, by time (see simrt.checks); judged when first asked for."""
        from simrt.checks import Case, judge

        return judge(Case.of_result(self))

    def check(
        self, select: Sequence[str] = (), ignore: Sequence[str] = (), limits: "Limits | None" = None
    ) -> "list[Finding]":
        """For tests: raise an AssertionError (simrt.checks.Flagged) that lists what the rules find in this call.

        `select` and `ignore`: rules by code or prefix. Notes blame nobody: they are returned. SimrtError for a prefix
        that no rule has.
        """
        from simrt.checks import Case, Flagged, judge

        __tracebackhide__ = True
        plain = not select and not ignore and limits is None
        findings = self.findings if plain else judge(Case.of_result(self), select, ignore, limits)
        if any(finding.severity == "error" for finding in findings):
            raise Flagged(findings)
        return findings

    @property
    def trace(self) -> Trace:
        """The trace of the (first) connection; an empty one if the client never connected."""
        return self.traces[0] if self.traces else Trace()

    @property
    def transcript(self) -> str:
        """The conversation as the two sides heard each other, a line a turn; a reply that was cut ends in a dash."""
        spoken = [(turn.said_ms, f"caller: {turn.transcript or '(not heard)'}") for turn in self.caller_turns]
        for reply in self.replies:
            heard = reply.heard_text if not reply.cut_off else f"{reply.heard_text} —".strip()
            if reply.from_ms is not None:
                spoken.append((reply.from_ms, f"agent: {heard}"))
            else:
                spoken.append((self.virtual_ms, "agent: (not heard)"))
        return "\n".join(text for _, text in sorted(spoken, key=lambda entry: entry[0]))

    def audio(self) -> Samples:
        """The call as stereo samples at 24 kHz, shape (n, 2): the caller as said, and what was heard."""
        return stereo(self.line.microphone, self.line.speaker, round(self.virtual_ms * 1000))

    def to_dict(self) -> dict[str, Any]:
        """What `simrt call --json` prints: plain values, without traces and audio."""
        return {
            "ready_ms": self.ready_ms,
            "caller_turns": msgspec.to_builtins(self.caller_turns),
            "replies": msgspec.to_builtins(self.replies),
            **({"delegations": msgspec.to_builtins(self.delegations)} if self.delegations else {}),
            "closed_by": self.closed_by,
            "virtual_ms": self.virtual_ms,
            "trace_sha256": self.trace_sha256,
            "verdict": msgspec.to_builtins(self.verdict),
            "findings": msgspec.to_builtins(self.findings),
            "transcript": self.transcript,
            "log": self.log,
            "error": self.error,
        }


def timeline(result: CallResult) -> list[TimelineRow]:
    """The rows of a call, sorted by time; what happened at one moment keeps its order."""
    rows: list[tuple[int, int, TimelineRow]] = []

    def add(t_us: int, who: str, what: str) -> None:
        rows.append((t_us, len(rows), TimelineRow(t_us / 1000, who, what)))

    for said in result.utterances:
        add(said.started_us, "caller", f"says {said.clip.text or said.clip.name!r}")
    for opened_ms, trace in zip(result.opened_ms, result.traces, strict=True):
        opened_us = round(opened_ms * 1000)
        for frame in trace.frames:
            event = parse_event(frame.payload)
            kind = str(event.get("type")) if event is not None else f"{len(frame.payload)} bytes"
            if not kind.endswith((".delta", "input_audio_buffer.append", "input_audio.append")):
                add(opened_us + frame.t_us, frame.sender, kind + (" (synthetic)" if frame.synthetic else ""))
        for mark in trace.marks:
            add(opened_us + mark.t_us, mark.kind, str(mark.detail.get("fault", mark.detail)))
        closing = trace.closing
        if closing is not None:
            add(opened_us + closing.t_us, closing.by, f"closes {closing.code} {closing.reason}".strip())
    for note in result.line.notes:
        add(note.t_us, "client", f"notes: {note.message}")
    if result.line.hung_up_us is not None:
        add(result.line.hung_up_us, "line", f"hung up by {result.line.hung_up_by}")
    return [row for _, _, row in sorted(rows, key=lambda entry: entry[:2])]
