"""A session driven by hand: no loop, no socket. Times are ms since the connection opened."""

import base64
import heapq
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

import msgspec
import numpy as np

from simrt.audio import PCM24, AudioFormat, Samples, resample
from simrt.caller.clip import fixture_clip
from simrt.caller.cue import ReplyKey
from simrt.cassette.script import Pacing, Reply, Script, Step, Tool, Turn
from simrt.faults.base import End, Fault, Send
from simrt.faults.plan import parse_plan
from simrt.replay.authored import author
from simrt.replay.build import make_session
from simrt.replay.realtime import RealtimeSession
from simrt.replay.score import Score
from simrt.scripts import SCRIPTS
from simrt.trace import parse_event
from simrt.wire import Refusal, Request

REQUEST = Request("api.openai.com", "/v1/realtime?model=m", [("User-Agent", "tests")])
ULAW_UPDATE = {"type": "realtime", "audio": {"input": {"format": {"type": "audio/pcmu"}}}}
React = Callable[["Call", float, dict[str, Any]], None]


class Got(NamedTuple):
    """One thing that came from the server."""

    ms: float
    event: dict[str, Any]
    send: Send

    @property
    def kind(self) -> str:
        return str(self.event.get("type"))


class Ear:
    """Notes what the session tells its observer."""

    def __init__(self) -> None:
        self.audio: list[tuple[ReplyKey, float, float]] = []
        self.ended: list[tuple[ReplyKey, float, bool]] = []
        self.turns: list[tuple[int, str, int]] = []

    def audio_sent(self, reply: ReplyKey, audio: bytes, fmt: AudioFormat, t_us: int) -> None:
        self.audio.append((reply, t_us / 1000, fmt.duration_us(len(audio)) / 1000))

    def reply_ended(self, reply: ReplyKey, t_us: int, cut: bool) -> None:
        self.ended.append((reply, t_us / 1000, cut))

    def turn_heard(self, turn: int, transcript: str, words_lost: int, t_us: int) -> None:
        self.turns.append((turn, transcript, words_lost))


class Call:
    """One connection to a session that plays `score`."""

    def __init__(
        self,
        score: Score,
        faults: Sequence[Fault | str] = (),
        seed: int = 0,
        *,
        react: React | None = None,
        request: Request = REQUEST,
    ) -> None:
        self.ear = Ear()
        self.session = make_session(score, parse_plan(faults), seed, self.ear)
        self.refusal: Refusal | None = self.session.accept(request)
        self.got: list[Got] = []
        self.end: tuple[float, End] | None = None
        self.react = react
        self._mine: list[tuple[int, int, str | bytes]] = []
        self._count = 0
        self.session.opened(0)

    # --- the client's side

    def send(self, ms: float, message: dict[str, Any] | str | bytes) -> "Call":
        """Plan to send an event, or a raw message."""
        payload = msgspec.json.encode(message).decode() if isinstance(message, dict) else message
        self._count += 1
        heapq.heappush(self._mine, (round(ms * 1000), self._count, payload))
        return self

    def say(
        self,
        ms: float,
        samples: Samples,
        fmt: AudioFormat = PCM24,
        *,
        burst: bool = False,
        tail_ms: float = 1200,
        frame_ms: int = 20,
    ) -> float:
        """Plan to send 24 kHz samples in frames, and silence behind them; returns when the last frame goes.

        A frame goes out when it is complete; with `burst` all of them go out at `ms`.
        """
        data = fmt.encode(resample(samples, PCM24.rate, fmt.rate)) + fmt.silence(tail_ms)
        at = ms
        for k, frame in enumerate(frames(data, fmt, frame_ms)):
            at = ms if burst else ms + (k + 1) * frame_ms
            self.send(at, append(frame))
        return at

    def run(self, until_ms: float = 120_000) -> "Call":
        """Let time pass."""
        limit = round(until_ms * 1000)
        while True:
            due = self.session.next_due()
            mine = self._mine[0][0] if self._mine else None
            moments = [t for t in (due, mine) if t is not None and t <= limit]
            if not moments or self.session.ended:
                return self
            now = min(moments)
            if mine == now:
                self.session.receive(heapq.heappop(self._mine)[2], now)
                continue
            for action in self.session.due(now):
                if isinstance(action, End):
                    self.end = now / 1000, action
                    continue
                event = parse_event(action.payload) or {}
                self.got.append(Got(now / 1000, event, action))
                if self.react is not None:
                    self.react(self, now / 1000, event)

    # --- what came

    def of(self, kind: str) -> list[Got]:
        """All events of that type."""
        return [got for got in self.got if got.kind == kind]

    def one(self, kind: str) -> Got:
        """The only event of that type."""
        (found,) = self.of(kind)
        return found

    def kinds(self) -> list[str]:
        """All types, in order."""
        return [got.kind for got in self.got]

    def rows(self) -> list[tuple[float, str | bytes]]:
        """Times and payloads."""
        return [(got.ms, got.send.payload) for got in self.got]

    def errors(self) -> list[tuple[str | None, str | None]]:
        """Code and client event_id of each error."""
        return [(got.event["error"]["code"], got.event["error"]["event_id"]) for got in self.of("error")]

    @property
    def realtime(self) -> RealtimeSession:
        assert isinstance(self.session, RealtimeSession)
        return self.session


def frames(data: bytes, fmt: AudioFormat, frame_ms: int = 20) -> Iterator[bytes]:
    """Bytes cut into frames."""
    size = fmt.size_of(frame_ms)
    for start in range(0, len(data), size):
        yield data[start : start + size]


def append(data: bytes) -> dict[str, Any]:
    """The event that sends audio."""
    return {"type": "input_audio_buffer.append", "audio": base64.b64encode(data).decode()}


def samples_of(clip: str) -> Samples:
    """A shipped clip's samples."""
    return fixture_clip(clip).samples


def silence(ms: float) -> Samples:
    return np.zeros(round(ms * 24), np.int16)


def turn(clip: str, cue: str = "pickup+0ms") -> Turn:
    """A scripted turn of a shipped clip."""
    said = fixture_clip(clip)
    return Turn(said.text, cue, list(said.words), said.samples, clip)


def reply(clip: str | None = None, **fields: Any) -> Reply:
    """A scripted reply of a shipped clip."""
    if clip is None:
        return Reply(**fields)
    said = fixture_clip(clip)
    return Reply(text=said.text, words=list(said.words), samples=said.samples, **fields)


def lookup() -> Reply:
    return reply(tool=Tool("lookup_booking", {"surname": "Okafor"}))


@cache
def front_desk(profile: str = "polyai") -> Score:
    """The shipped authored call; one score serves all tests, since sessions leave it as it is."""
    return author(SCRIPTS["front-desk"](), profile)


@cache
def one_reply(profile: str = "openai", clip: str = "goodbye-short") -> Score:
    """Say "booking", get one spoken reply."""
    return small([turn("booking"), reply(clip)], profile)


def small(steps: list[Step], profile: str = "openai", **pacing: int) -> Score:
    """The score of a short script."""
    return author(Script(steps, Pacing(**pacing)), profile)


def update(call: Call, ms: float = 60, **session: Any) -> Call:
    """The client's first `session.update`."""
    return call.send(ms, {"type": "session.update", "session": {"type": "realtime", **session}})


def answer_tools(call: Call, ms: float, event: dict[str, Any]) -> None:
    """A reaction: give each finished lookup its output, and ask for the reply."""
    if event.get("type") != "response.done":
        return
    for item in event["response"]["output"]:
        if item["type"] == "function_call" and item["name"] != "end_call":
            output = {"type": "function_call_output", "call_id": item["call_id"], "output": "{}"}
            call.send(ms + 1, {"type": "conversation.item.create", "item": output})
            call.send(ms + 2, {"type": "response.create"})


def whole_call(
    score: Score | None = None, faults: Sequence[Fault | str] = (), seed: int = 0, *, fmt: AudioFormat = PCM24
) -> Call:
    """The front desk from pickup to the end of the goodbye, by a client that does all that is expected of it."""
    call = Call(score or front_desk(), faults, seed, react=answer_tools)
    update(call, 70, **({} if fmt == PCM24 else {"audio": ULAW_UPDATE["audio"]}))
    track = np.concatenate([samples_of("booking"), silence(10_000)])
    call.say(300, track, fmt)
    call.say(300 + 20 + len(track) / 24 + 1200, samples_of("nothing-else"), fmt, tail_ms=8000)
    return call.run()
