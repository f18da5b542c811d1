"""A call as text that reads well in a pull request: what a snapshot holds.

What a harmless change moves is left out or levelled: ids become `item-1`, `call-1`, `resp-1` in order of appearance,
`event_id`, `expires_at`, `created_at`, `usage`, `obfuscation`, nulls and empty values are dropped, members have a fixed
order, times are whole ms. The deltas of one reply, and the caller's appends, are one line at the moment of the first:
how much audio, a hash of it, in how many pieces, over how long. A body that is too long for its line ends in a hash of
all of it.
"""

import binascii
import hashlib
import io
import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any

import msgspec
import yaml

from simrt.delegations import delegations
from simrt.dialect import Formats, dialect
from simrt.dialect.live import OUTPUT_AUDIO
from simrt.result import CallResult
from simrt.stretches import Utterances, is_live, place, quiet_frames
from simrt.trace import Frame, Trace, parse_event

WIDTH = 150
"""Columns of an event's body; the rest is in its hash."""

_DROPPED = {"event_id", "expires_at", "created_at", "usage", "obfuscation", "object"}
_FIRST = ("id", "type", "role", "name", "call_id", "status")
_INDEXES = ("output_index", "content_index")
_ROLES = {"response": "resp", "conversation": "conv", "output": "item", "sess": "session"}
_SHAPED = re.compile(r"\b(item|resp|call|conv|sess|event)_[A-Za-z0-9]{6,}\b")
_BARE = re.compile(r"[A-Za-z][\w.+/-]*")
_JSON = ("arguments", "output")  # whose strings are JSON mostly, and read better without its quotes
_BLOB = 200  # a string of this length without a space is data
_NEW_BUFFER = ("input_audio_buffer.commit", "input_audio_buffer.clear")


def plain_text(value: Any) -> str:
    """A str as it is, anything else as YAML: sorted, an entry of a list or dict a line; ends in a line break.

    TypeError for an object that has no form of its own (its address would differ in each run).
    """
    if isinstance(value, str):
        return value if value.endswith("\n") else value + "\n"
    plain = msgspec.to_builtins(value, enc_hook=_foreign, str_keys=True, order="sorted")
    out = io.StringIO()
    dumper = yaml.SafeDumper(out, allow_unicode=True, sort_keys=True, default_flow_style=None, width=10_000)
    dumper.open()
    node = dumper.represent_data(plain)
    if isinstance(node, yaml.CollectionNode):
        node.flow_style = not plain
    dumper.serialize(node)
    dumper.close()
    return out.getvalue().removesuffix("...\n")


def call_text(result: CallResult, sections: Mapping[str, Any] | None = None) -> str:
    """The snapshot of a call. `sections`: more to put below it (a ledger, say), by title."""
    labels = Labels()
    timeline = [_row(*row) for row in _timeline(result, labels)]
    ready = "never" if result.ready_ms is None else f"{result.ready_ms:.0f} ms"
    facts = [f"ready      {ready}", f"lasted     {result.virtual_ms:.0f} ms", f"closed by  {result.closed_by}"]
    if result.error:
        facts.append(f"error      {result.error}")
    parts = {
        "call": facts,
        "transcript": result.transcript.splitlines(),
        "caller turns": list(_turns(result)),
        "replies": list(_replies(result)),
        **({"delegations": list(_delegations(result, labels))} if any(map(is_live, result.traces)) else {}),
        "timeline": [_row("ms", "who", "what"), *timeline],
        "verdict": _verdict(result),
    }
    out = [f"{title}\n{_indented(lines)}" for title, lines in parts.items()]
    out.extend(f"{title}\n{_indented(plain_text(value).splitlines())}" for title, value in (sections or {}).items())
    return labels.text("\n".join(out))


def _turns(result: CallResult) -> Iterator[str]:
    for turn in result.caller_turns:
        yield f"{turn.clip:<16} {turn.words:>3} words  {turn.words_lost:>3} lost  {_quoted(turn.transcript)}"


def _replies(result: CallResult) -> Iterator[str]:
    for reply in result.replies:
        end = "cut off" if reply.cut_off else "whole"
        again = f"  again {reply.again_ms:.0f} ms" if reply.again_ms else ""
        yield (
            f"{reply.reply!s:<8} audio {reply.audio_ms:>6.0f} ms  heard {reply.heard_ms:>6.0f} ms  {end:<7}{again}  "
            f"{_quoted(reply.heard_text)}"
        )


def _delegations(result: CallResult, labels: "Labels") -> Iterator[str]:
    told = iter(result.delegations)  # those of all connections, with which reply said what
    for opened_ms, trace in zip(result.opened_ms, result.traces, strict=True):
        for delegation in delegations(trace):
            delegation = next(told, delegation)
            if delegation.id:
                name = labels.of("delegation", delegation.id)
                yield f"{name}  at {delegation.offset_ms} ms  {delegation.outcome}"
            else:
                yield "without a delegation"
            for append in delegation.appends:
                sent = f"{round(opened_ms + append.sent_us / 1000):>7} ms"
                yield f"  {append.kind:<12} {sent}  {append.fate}  {_limited(_quoted(append.content))}"


def _verdict(result: CallResult) -> list[str]:
    lists = msgspec.structs.asdict(result.verdict)
    return [f"{name}: {item}" for name, items in lists.items() for item in items] or ["clean"]


def _indented(lines: list[str]) -> str:
    return "".join(f"  {line}".rstrip() + "\n" for line in lines or ["none"])


def _row(when: str, who: str, what: str) -> str:
    return f"{when:>9}  {who:<8}  {what}"


def _timeline(result: CallResult, labels: "Labels") -> list[tuple[str, str, str]]:
    rows: list[tuple[int, str, str]] = []
    for said in result.utterances:
        rows.append((said.started_us, "caller", f"says {said.clip.name}: {_quoted(said.clip.text)}"))
    for opened_ms, trace in zip(result.opened_ms, result.traces, strict=True):
        opened_us = round(opened_ms * 1000)
        rows.extend((opened_us + t_us, who, what) for t_us, who, what in _Lines(trace, labels).rows())
        for mark in trace.marks:
            more = " ".join(f"{key}={labels.show(value)}" for key, value in mark.detail.items() if key != "fault")
            rows.append((opened_us + mark.t_us, mark.kind, f"{mark.detail.get('fault', '')} {more}".strip()))
        if trace.closing is not None:
            closing = trace.closing
            what = f"closes {closing.code} {closing.reason}".strip()
            rows.append((opened_us + closing.t_us, closing.by, what))
    rows.extend((note.t_us, "client", f"notes: {note.message}") for note in result.line.notes)
    if result.line.hung_up_us is not None:
        rows.append((result.line.hung_up_us, "line", f"hung up by {result.line.hung_up_by}"))
    return [(str(round(t_us / 1000)), who, what) for t_us, who, what in sorted(rows, key=lambda row: row[0])]


class _Run(msgspec.Struct):
    """Events that share one line. `span`: where a transcript lies on a Live session's timeline, in ms."""

    t_us: int
    sender: str
    kind: str
    ids: str
    count: int = 0
    last_us: int = 0
    audio_us: int = 0
    audio: bytearray | None = None
    text: str = ""
    span: tuple[int, int] | None = None

    def what(self, labels: "Labels") -> str:
        size = f"×{self.count} over {round((self.last_us - self.t_us) / 1000)} ms"
        if self.audio is not None:
            body = f"{round(self.audio_us / 1000)} ms {_hash(bytes(self.audio))} {size}"
        else:
            body = f"{_limited(labels.show(self.text))} {size}"
        at = f"at {self.span[0]}–{self.span[1]} ms" if self.span else ""
        return " ".join(filter(None, (self.kind, self.ids, at, body)))


class _Lines:
    """The frames of one connection as rows."""

    def __init__(self, trace: Trace, labels: "Labels") -> None:
        self._trace = trace
        self._labels = labels
        self._runs: dict[tuple[str, str], _Run] = {}
        self._live = is_live(trace)
        self._quiet = quiet_frames(trace, "live") if self._live else set()
        self._utterances = Utterances()

    def rows(self) -> Iterator[tuple[int, str, str]]:
        """(µs since the connection opened, who, what); what shares a line stands where the first of it was."""
        speaks, formats = dialect("live" if self._live else "realtime"), Formats()
        rows: list[_Run | tuple[int, str, str]] = []
        for index, frame in enumerate(self._trace.frames):
            event = frame.event()
            if event is None:
                rows.append((frame.t_us, frame.sender, _opaque(frame.payload)))
                continue
            speaks.update_formats(formats, frame.sender, event)
            key = speaks.audio_key(frame.sender, event)
            kind = str(event.get("type"))
            if key is not None or (kind.endswith(".delta") and isinstance(event.get("delta"), str)):
                run, first = self._run(index, frame, kind, event, key or "delta")
                value = str(event.get(key or "delta", ""))
                if key is None:
                    run.text += value
                else:
                    run.audio = bytearray() if run.audio is None else run.audio
                    data = _decoded(value)
                    run.audio.extend(data)
                    format = formats.input if frame.sender == "client" else formats.output
                    run.audio_us += format.duration_us(len(data))
                if first:
                    rows.append(run)
                continue
            if kind in _NEW_BUFFER:
                self._runs.pop(("input_audio_buffer.append", ""), None)
            what = " ".join(filter(None, (kind, self._body(event, "type"))))
            rows.append((frame.t_us, frame.sender, what + (" (synthetic)" if frame.synthetic else "")))
        for row in rows:
            yield (row.t_us, row.sender, row.what(self._labels)) if isinstance(row, _Run) else row

    def _run(self, index: int, frame: Frame, kind: str, event: dict[str, Any], key: str) -> tuple[_Run, bool]:
        """The run that a frame belongs to, and whether it is the first in it.

        Live names no reply: there it is the utterance for a transcript, and for the agent's audio the stretch of
        speech; its silence is one run.
        """
        span = place(event) if self._live else None
        ids = self._body(event, "type", key, *(("start_ms", "end_ms") if span else ()))
        if self._live and frame.sender == "server":
            if self._utterances.opens(event):
                self._runs.pop((kind, ids), None)
            if index in self._quiet:
                self._runs.pop((kind, ids), None)
                ids = " ".join(filter(None, (ids, "silence")))
            if kind == OUTPUT_AUDIO:
                span = None
        run = self._runs.get((kind, ids))
        first = run is None
        if run is None:
            run = self._runs[kind, ids] = _Run(frame.t_us, frame.sender, kind, ids, span=span)
        run.count += 1
        run.last_us = frame.t_us
        if run.span and span:
            run.span = (run.span[0], span[1])
        return run, first

    def _body(self, event: dict[str, Any], *without: str) -> str:
        plain = self._labels.plain({key: value for key, value in event.items() if key not in without})
        parts = []
        for key, value in plain.items():
            shown = self._labels.show(value)
            if key == "previous_item_id":
                parts.append(f"after {shown}")
            else:
                parts.append(shown if key.endswith("_id") else f"{key}={shown}")
        return _limited(" ".join(parts))


class Labels:
    """Ids by role, in the order in which they appear."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}
        self._counts: dict[str, int] = {}

    def of(self, role: str, raw: str) -> str:
        """The label of an id."""
        if raw not in self._names:
            role = _ROLES.get(role, role)
            self._counts[role] = self._counts.get(role, 0) + 1
            self._names[raw] = f"{role}-{self._counts[role]}"
        return self._names[raw]

    def text(self, text: str) -> str:
        """A text in which ids have become labels."""
        for raw, name in self._names.items():
            if len(raw) >= 8 and raw in text and not raw.isalpha():
                text = re.sub(rf"(?<!\w){re.escape(raw)}(?!\w)", name, text)
        return _SHAPED.sub(lambda found: self.of(found[1], found[0]), text)

    def plain(self, value: Any, parent: str = "", key: str = "") -> Any:
        """A JSON value with labels, in fixed order, without what does not matter."""
        if isinstance(value, dict):
            out = {}
            for name in sorted(value, key=_order):
                if _is_noise(name, value[name]):
                    continue
                item = self.plain(value[name], key or parent, name)
                if item is not None and item not in ("", [], {}):
                    out[name] = item
            return out
        if isinstance(value, list):
            return [self.plain(item, parent, key) for item in value]
        if isinstance(value, str):
            if key == "id" and parent:
                return self.of(parent, value)
            if key.endswith("_id"):
                return self.of(key.removesuffix("_id").removeprefix("previous_"), value)
            if len(value) > _BLOB and " " not in value and value[0] not in "{[":
                return f"<{len(value)} characters {_hash(value.encode())}>"
            return _object(self.text(value)) if key in _JSON else self.text(value)
        return value

    def show(self, value: Any) -> str:
        """A plain value on one line."""
        if isinstance(value, dict):
            return "{" + ", ".join(f"{key}: {self.show(item)}" for key, item in value.items()) + "}"
        if isinstance(value, list):
            return "[" + ", ".join(map(self.show, value)) + "]"
        if isinstance(value, str) and _BARE.fullmatch(value):
            return value
        return _quoted(value)


def _is_noise(name: str, value: Any) -> bool:
    """What no reader wants to see in a diff. Tokens vary from run to run; the seconds that Live counts do not."""
    if name == "usage" and isinstance(value, dict) and "seconds" in value and "type" not in value:
        return False
    return name in _DROPPED or (name in _INDEXES and value == 0)


def _order(key: str) -> tuple[int, str]:
    if key in _FIRST:
        return _FIRST.index(key), key
    return (len(_FIRST) if key.endswith("_id") else len(_FIRST) + 1), key


def _object(text: str) -> Any:
    """A text that is a JSON object as that object, any other as it is."""
    return parse_event(text) or text


def _quoted(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _limited(text: str) -> str:
    return text if len(text) <= WIDTH else f"{text[:WIDTH]}… {_hash(text.encode())}"


def _opaque(payload: str | bytes) -> str:
    if isinstance(payload, bytes):
        return f"{len(payload)} bytes {_hash(payload)}"
    return _limited(_quoted(payload))


def _decoded(value: str) -> bytes:
    try:
        return binascii.a2b_base64(value)
    except ValueError:
        return value.encode()


def _hash(data: bytes) -> str:
    return "#" + hashlib.sha256(data).hexdigest()[:8]


def _foreign(value: Any) -> str:
    if isinstance(value, PurePath | BaseException):
        return str(value)
    raise TypeError(f"a {type(value).__name__} has no text of its own: make it a str, a dict or a list")
