"""What became of each delegation of a Live session, and of everything that the client appended. Reads a Trace; pure.

An acknowledgement names no content and a delegation no result, so they are put together here: by the client's
`event_id` where it gave one, else in the order of sending, kind by kind (the server acknowledges in that order).
"""

from typing import Literal

import msgspec

from simrt.caller.cue import ReplyKey
from simrt.trace import Trace

Kind = Literal["commentary", "thinking", "instructions"]
Outcome = Literal["answered", "answer not placed", "answer refused", "progress only", "never answered"]

KINDS: tuple[Kind, ...] = ("commentary", "thinking", "instructions")
NOT_PLACED = "context_injection_incomplete"
_APPENDS: dict[str, Kind] = {f"session.{kind}.append": kind for kind in KINDS}
_ACKS: dict[str, Kind] = {f"session.{kind}.appended": kind for kind in KINDS}
_PARAMS = ("content", "delegation_id", "expects_reply", "event_id")


class Append(msgspec.Struct):
    """One append. Times are µs since the connection opened, `start_ms` and `end_ms` ms on the session's timeline.

    `acked_us` None: the server never said that it was placed. `error`: the code of the error that it brought. Of a
    simulated call it is known besides whether the agent said it (`reply`: the key of that reply), or dropped it since
    the caller finished a turn first.
    """

    kind: Kind
    content: str
    sent_us: int
    delegation_id: str | None = None
    event_id: str | None = None
    start_ms: int | None = None
    end_ms: int | None = None
    acked_us: int | None = None
    error: str | None = None
    reply: ReplyKey | None = None
    dropped: bool = False

    @property
    def open(self) -> bool:
        """Whether the server has neither placed nor refused it."""
        return self.acked_us is None and self.error is None

    @property
    def fate(self) -> str:
        """In words: where it was placed and how long that took, or why it was not; who said it, where that is known."""
        said = "" if self.reply is None else f", said in reply {self.reply}"
        return self._placed + (", dropped unsaid" if self.dropped else said)

    @property
    def _placed(self) -> str:
        if self.error is not None:
            return f"not placed: {self.error}"
        if self.acked_us is None:
            return "never placed"
        return f"placed at {self.start_ms}–{self.end_ms} ms, {round((self.acked_us - self.sent_us) / 1000)} ms later"


class Delegation(msgspec.Struct):
    """One delegation: where on the timeline, when its event came (µs since the connection opened), what was appended
    to it. `id` "" holds the appends that belong to none."""

    id: str
    offset_ms: int
    created_us: int
    appends: list[Append] = []

    @property
    def outcome(self) -> Outcome:
        """Whether the client answered it, and whether the agent got the answer. It says nothing about the caller."""
        answers = [append for append in self.appends if append.kind == "commentary"]
        if any(answer.acked_us is not None for answer in answers):
            return "answered"
        if any(answer.error not in (None, NOT_PLACED) for answer in answers):
            return "answer refused"
        if answers:
            return "answer not placed"
        return "progress only" if self.appends else "never answered"


def delegations(trace: Trace) -> list[Delegation]:
    """The delegations of a Live session in order; one with the id "" comes last, if appends belong to none."""
    found: dict[str, Delegation] = {}
    loose = Delegation("", 0, 0)
    appends: list[Append] = []
    for frame in trace.frames:
        if not isinstance(frame.payload, str) or not _matters(frame.payload):
            continue
        event = frame.event() or {}
        kind = str(event.get("type"))
        if frame.sender == "client" and kind in _APPENDS:
            append = Append(
                _APPENDS[kind],
                str(event.get("content", "")),
                frame.t_us,
                _text(event.get("delegation_id")),
                _text(event.get("event_id")),
            )
            appends.append(append)
            found.get(append.delegation_id or "", loose).appends.append(append)
        elif frame.sender == "server" and kind == "session.delegation.created":
            body = event.get("delegation")
            name = str(body.get("id")) if isinstance(body, dict) else "?"
            found[name] = Delegation(name, _ms(event.get("offset_ms")) or 0, frame.t_us)
        elif frame.sender == "server" and kind in _ACKS:
            acked = _named(appends, event.get("client_event_id")) or next(
                (append for append in appends if append.open and append.kind == _ACKS[kind]), None
            )
            if acked is not None:
                acked.acked_us, acked.start_ms, acked.end_ms = (
                    frame.t_us,
                    _ms(event.get("start_ms")),
                    _ms(event.get("end_ms")),
                )
        elif frame.sender == "server" and kind == "error":
            _refuse(appends, event.get("error"))
    return [*found.values(), *([loose] if loose.appends else [])]


def _matters(payload: str) -> bool:
    """Cheap: most frames are audio."""
    head = payload[:80]
    return "session.input_audio.append" not in head and "session.output_audio.delta" not in head


def _refuse(appends: list[Append], error: object) -> None:
    """Give an error to the append that it is about, if it is about one."""
    if not isinstance(error, dict):
        return
    code = str(error.get("code"))
    about = _named(appends, error.get("client_event_id"))
    if about is None and error.get("client_event_id") is None:
        waiting = [append for append in appends if append.open]
        if code == NOT_PLACED:
            about = waiting[0] if waiting else None
        elif error.get("param") in _PARAMS:
            about = waiting[-1] if waiting else None
    if about is not None:
        about.error = code


def _named(appends: list[Append], event_id: object) -> Append | None:
    return next((append for append in appends if append.event_id == event_id), None) if event_id else None


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _ms(value: object) -> int | None:
    return value if isinstance(value, int) else None
