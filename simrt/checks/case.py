"""What rules read: a recording, or a simulated call, taken apart once. Everything is worked out when first asked for.

A recording (`Case.of_trace`) is one connection, its times count from the opening, and nobody knows what was heard
(`hearing` is None). A simulated call (`Case.of_result`) has all its connections on one clock that starts at pickup, the
ear, the microphone and the line.
"""

from __future__ import annotations

import binascii
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property, wraps
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from simrt.audio import AudioFormat
from simrt.caller.ear import Ear
from simrt.cassette.header import Header
from simrt.checks.base import Limits
from simrt.checks.calls import Call, Turn, read_calls, read_turns
from simrt.checks.events import Connection, Event, read_connection, session_settings
from simrt.checks.hearing import Hearing, Stretch, united
from simrt.checks.playout import expected
from simrt.checks.responses import Ask, Error, Reader, Response
from simrt.dialect import Formats, dialect, dialect_for_url
from simrt.invariant import Broken, Invariant, ask
from simrt.trace import Trace, parse_event

if TYPE_CHECKING:
    from simrt.caller import Line, Utterance
    from simrt.result import CallResult


T = TypeVar("T")

_SET_UP = {"session.update": "session.updated", "session.start": "session.started"}


class Append(msgspec.Struct, frozen=True, gc=False):
    """A piece of the caller's audio as it was sent: `audio` bytes, which the server reads in `format`."""

    t_us: int
    connection: int
    frame: int
    audio: bytes
    format: AudioFormat


class Case:
    """One call, for rules to read."""

    def __init__(
        self,
        traces: Sequence[Trace],
        opened_us: Sequence[int],
        header: Header,
        result: CallResult | None = None,
        limits: Limits | None = None,
    ) -> None:
        self.traces = list(traces)
        self.header = header
        self.result = result
        self._limits = limits or Limits()
        self._memory: dict[Callable[..., Any], Any] = {}
        self.broken: list[Broken] = list(result.broken) if result is not None else []
        self._opened_us = list(opened_us)

    @classmethod
    def of_trace(cls, trace: Trace, header: Header | None = None, limits: Limits | None = None) -> Case:
        """A recording. Without a header its times and audio count as measured and whole."""
        known = header or Header(dialect=dialect_for_url(trace.opening.url))
        return cls([trace], [0], known, None, limits)

    @classmethod
    def of_result(cls, result: CallResult, limits: Limits | None = None) -> Case:
        """A simulated call."""
        speaks = dialect_for_url(result.traces[0].opening.url) if result.traces else "realtime"
        header = Header(dialect=speaks, how="stand-in")
        return cls(result.traces, [round(ms * 1000) for ms in result.opened_ms], header, result, limits)

    def ask(self, invariants: Sequence[Invariant]) -> None:
        """Ask the user's invariants about a simulated call; what does not hold is in `broken`."""
        if self.result is not None and invariants:
            known = {(broken.invariant, broken.message) for broken in self.broken}
            self.broken += [b for b in ask(invariants, self.result) if (b.invariant, b.message) not in known]

    @property
    def limits(self) -> Limits:
        """The rules' thresholds."""
        return self._limits

    @limits.setter
    def limits(self, limits: Limits) -> None:
        self._limits = limits
        self._memory.clear()

    def remember(self, function: Callable[[Case], T]) -> T:
        """What a function makes of this case; see `once`."""
        if function not in self._memory:
            self._memory[function] = function(self)
        value: T = self._memory[function]
        return value

    # --- what is known at all ------------------------------------------------------------------------------------

    @property
    def simulated(self) -> bool:
        """Whether this is a simulated call, with an ear and a line."""
        return self.result is not None

    @property
    def dialect(self) -> str:
        """ "realtime", "live", "generic"."""
        return self.header.dialect

    @property
    def timed(self) -> bool:
        """Whether the times are real: an importer puts paced ones where the source had none."""
        return self.header.timing == "measured"

    @property
    def caller_audio_whole(self) -> bool:
        """Whether the caller's audio is all there, sample by sample."""
        return self.header.caller_audio == "whole"

    @property
    def agent_audio_whole(self) -> bool:
        """Whether the agent's audio is all there, so that its length is known."""
        return self.header.agent_audio == "whole"

    @property
    def line(self) -> Line | None:
        """The line of a simulated call: its notes, its microphone and speaker, who hung up and when."""
        return self.result.line if self.result is not None else None

    # --- the wire ------------------------------------------------------------------------------------------------

    @cached_property
    def connections(self) -> list[Connection]:
        """The connections, in the order of being opened."""
        pairs = zip(self.traces, self._opened_us, strict=True)
        return [read_connection(trace, number, opened_us) for number, (trace, opened_us) in enumerate(pairs)]

    @cached_property
    def events(self) -> list[Event]:
        """All events of all connections but the caller's audio, in order."""
        found = [event for connection in self.connections for event in connection.events]
        return found if len(self.connections) < 2 else sorted(found, key=lambda event: event.t_us)

    def sent(self, *kinds: str) -> list[Event]:
        """The client's events of these types."""
        return [event for event in self.events if event.sender == "client" and event.kind in kinds]

    def received(self, *kinds: str) -> list[Event]:
        """The server's events of these types."""
        return [event for event in self.events if event.sender == "server" and event.kind in kinds]

    @cached_property
    def _readers(self) -> list[Reader]:
        return [Reader(connection) for connection in self.connections]

    @cached_property
    def responses(self) -> list[Response]:
        """All responses, in the order of their first event."""
        found = [response for reader in self._readers for response in reader.responses.values()]
        return sorted(found, key=lambda response: response.first_us)

    def response(self, connection: int, response_id: str) -> Response | None:
        """The response of that id on that connection."""
        return self._readers[connection].responses.get(response_id)

    def active_at(self, connection: int, t_us: int) -> Response | None:
        """The response that, as the client knew it, was under way at that moment; None: none."""
        active = [r for r in self._readers[connection].responses.values() if r.active(t_us)]
        return active[-1] if active else None

    @cached_property
    def asks(self) -> list[Ask]:
        """The client's `response.create`s, in order, each with what came of it."""
        found = [ask for reader in self._readers for ask in reader.asks]
        return sorted(found, key=lambda ask: ask.event.t_us)

    @cached_property
    def errors(self) -> list[Error]:
        """The server's `error` events, in order."""
        found = [error for reader in self._readers for error in reader.errors]
        return sorted(found, key=lambda error: error.event.t_us)

    @cached_property
    def calls(self) -> list[Call]:
        """The model's function calls with their outputs, in the order of being made."""
        return read_calls(self.connections, {(r.connection, r.id): r for r in self.responses})

    @cached_property
    def turns(self) -> list[Turn]:
        """The caller's turns as the server told of them, in order."""
        return read_turns(self.connections)

    @cached_property
    def ready_us(self) -> int | None:
        """When the first `session.updated` reached the client (Live: `session.started`); None: never."""
        events = self.received("session.updated", "session.started")
        return events[0].t_us if events else None

    def detection(self, connection: int, t_us: int) -> dict[str, Any] | None:
        """`turn_detection` as the server last stated it by then; {} when it said nothing, None: it is off, and the
        client ends the turns itself."""
        stated: dict[str, Any] | None = {}
        for event in self._readers[connection].sessions:
            if event.t_us > t_us:
                break
            settings = session_settings(event.at("session"))
            if "turn_detection" in settings:
                value = settings["turn_detection"]
                stated = value if isinstance(value, dict) else None
        return stated

    @cached_property
    def appends(self) -> list[Append]:
        """The caller's audio, piece by piece, with the format that was in force when it arrived. Decodes all of it:
        look first whether `connections[n].appends` is worth it."""
        made = [append for number in range(len(self.connections)) for append in self.read_appends(number)]
        return sorted(made, key=lambda append: append.t_us) if len(self.connections) > 1 else made

    def read_appends(self, number: int) -> Iterator[Append]:
        """The caller's audio on one connection, decoded piece by piece."""
        connection = self.connections[number]
        formats = Formats()
        changes = list(self.input_formats[number])
        for append in connection.appends:
            while changes and changes[0][0] < append.frame:
                formats.input = changes.pop(0)[1]
            data = parse_event(connection.trace.frames[append.frame].payload) or {}
            try:
                audio = binascii.a2b_base64(data.get("audio") or "")
            except (ValueError, TypeError):
                audio = b""
            yield Append(append.t_us, append.connection, append.frame, audio, formats.input)

    @cached_property
    def input_formats(self) -> list[list[tuple[int, AudioFormat]]]:
        """For each connection: from which frame on the server reads the caller's audio in which format. PCM16 at 24 kHz
        before the first.

        The client's word counts from its `session.update` (`session.start`) on, unless that is refused, and the
        server's own from there.
        """
        speaks = dialect(self.dialect)
        refused = {id(error.refuses) for error in self.errors if error.refuses is not None}
        found = []
        for connection in self.connections:
            formats, changes = Formats(), []
            for event in connection.events:
                before = formats.input
                if event.sender == "server":
                    speaks.update_formats(formats, "server", event.data)
                elif event.kind in _SET_UP and id(event) not in refused:
                    speaks.update_formats(formats, "server", {**event.data, "type": _SET_UP[event.kind]})
                if formats.input != before:
                    changes.append((event.frame, formats.input))
            found.append(changes)
        return found

    # --- the line ------------------------------------------------------------------------------------------------

    @property
    def end_us(self) -> int:
        """When the line was hung up; of a recording, its last frame or its end."""
        if self.line is not None and self.line.hung_up_us is not None:
            return self.line.hung_up_us
        ends = [connection.closed_us for connection in self.connections]
        last = [
            opened_us + trace.frames[-1].t_us
            for trace, opened_us in zip(self.traces, self._opened_us, strict=True)
            if trace.frames
        ]
        return max([0, *(end for end in ends if end is not None), *last])

    @property
    def hung_up_by(self) -> str | None:
        """Who ended the call: "client", "caller", "harness" (the cap was hit); of a recording who closed the
        connection, None where that is not known."""
        if self.line is not None:
            return self.line.hung_up_by
        return self.connections[-1].closed_by if self.connections else None

    @cached_property
    def utterances(self) -> list[Utterance]:
        """What the caller said and when, in a simulated call; what is said in the background is in it too."""
        return sorted(self.result.utterances, key=lambda said: said.started_us) if self.result is not None else []

    @cached_property
    def hearing(self) -> Hearing | None:
        """What the caller heard; None for a recording, where nobody knows."""
        line = self.line
        ear = line.speaker.listener if line is not None else None
        if line is None or not isinstance(ear, Ear):
            return None
        return Hearing(ear, line.speaker, self.responses, self.end_us)

    @cached_property
    def caller_speech(self) -> list[Stretch]:
        """When the caller spoke, µs: as it was said; of a recording as the server told of it."""
        if self.simulated:
            return united((s.started_us, s.ended_us) for s in self.utterances if not s.background)
        return united(
            (turn.started.t_us, self.end_us if turn.over_us is None else turn.over_us)
            for turn in self.turns
            if turn.started is not None
        )

    @cached_property
    def agent_speech(self) -> list[Stretch] | None:
        """When the agent was heard, µs. Of a recording with real times and whole audio: when it would have been, played
        as it came and stopped when the caller spoke. None: nobody knows."""
        if self.hearing is not None:
            return self.hearing.speech
        if not (self.timed and self.agent_audio_whole) or self.dialect != "realtime":
            return None
        return united(self.playout.values())

    @cached_property
    def playout(self) -> dict[int, Stretch]:
        """When each piece of audio would be heard, played as it came; see simrt.checks.playout."""
        stops = [event.t_us for event in self.received("input_audio_buffer.speech_started")]
        return expected(self.responses, stops)


def once(function: Callable[[Case], T]) -> Callable[[Case], T]:
    """Have something worked out once for a case, whatever number of rules asks for it, until its limits change."""

    @wraps(function)
    def asked(case: Case) -> T:
        return case.remember(function)

    return asked
