"""A desk that answers one phone call over one Live session: the plumbing, without anything to say.

Audio flows all the time, both ways: silence too, since the session's timeline moves with it, and what is appended
waits for the timeline. So the task that receives does no work of its own, and each delegation has a task.
"""

import asyncio
import base64
import json
from abc import ABC, abstractmethod
from collections.abc import Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Literal
from urllib.parse import urlsplit, urlunsplit

from openai import AsyncOpenAI
from openai.resources.live.live import AsyncLiveConnection
from websockets.exceptions import ConnectionClosed

from ..desk.dial import CallFailed, auth_headers, explained, why_closed
from ..desk.tasks import Tasks
from ..desk.uplink import FRAME_MS, Uplink
from .transcript import Transcript, Turn
from .voice import Voice

if TYPE_CHECKING:
    from simrt import Line

KEY_VARIABLES = ("KUGELAUDIO_API_KEY", "OPENAI_API_KEY")
READY_TIMEOUT_S = 30.0
CLOSE_TIMEOUT_S = 2.0
RETRIES_S = (1.0, 2.0)  # the waits before a refused session is tried again
REVIEW_S = 0.1
GAP_S = 0.2  # without a frame from the microphone
SETTLE_S = 0.25  # how late the last words of a turn may be, where turns are not committed
TRY_AGAIN = 1013

_FORMAT_TYPES = {"pcm16": "audio/pcm", "ulaw": "audio/pcmu", "alaw": "audio/pcma"}

Kind = Literal["commentary", "thinking", "instructions"]


@dataclass
class Append:
    """Something that was told to the agent, in the order of being sent.

    `sent_ms`: how far the timeline was. `placed_ms`: where it was placed, which does not mean that it was said, let
    alone heard. `refused`: the code of the error that it brought.
    """

    kind: Kind
    content: str
    delegation_id: str | None
    event_id: str
    sent_ms: float
    expects_reply: bool
    placed_ms: int | None = None
    refused: str | None = None


class _TryAgain(Exception):
    """The session was refused for now."""


class LiveDesk(ABC):
    """One call: `await Desk(line).run()` returns when the line is hung up. CallFailed: it never got going.

    `kugel` is what `session.kugel` holds (fluid-1 only): with it speech comes faster than real time, and the caller's
    turns are committed. None: a session as OpenAI knows it.
    """

    model: ClassVar[str] = "fluid-1"
    instructions: ClassVar[str]
    hold_ms: ClassVar[int] = 5000  # how much of the caller to keep until the session is started

    def __init__(self, line: "Line", *, kugel: dict[str, Any] | None = None) -> None:
        self.line = line
        self.kugel = kugel
        self.voice = Voice(line, lambda: asyncio.get_running_loop().time(), paced=kugel is None)
        self.transcript = Transcript()
        self.appends: list[Append] = []
        self.session_id = ""  # the server's
        self.position_ms = 0.0  # the audio that was sent: the session's timeline is as far as that, or nearly
        self._uplink = Uplink(line.microphone, self._from_microphone, self.hold_ms)
        self._caller_s = self._frame_s = 0.0
        self._live: AsyncLiveConnection | None = None
        self._closed = asyncio.Event()
        self._tasks = Tasks()

    @abstractmethod
    async def work(self, delegation_id: str, turn: Turn | None) -> None:
        """Do what the agent has delegated. `turn` is the caller's; None: there is none that is not worked on already.
        Runs in a task of its own."""

    @abstractmethod
    def review(self) -> None:
        """Called now and then, since no event says what was heard: look whether something is to be done."""

    def refused(self, append: Append, param: str | None) -> None:
        """The server has refused this append, because of that field."""
        return

    async def run(self) -> None:
        """Take the call, from pickup to hang-up."""
        try:
            self.spawn(self._listen())  # first: the caller talks from pickup on
            self.spawn(self._talk())
            await self._tasks.over.wait()
        finally:
            await self._shut()
        if self._tasks.crash is not None:
            raise self._tasks.crash

    async def _talk(self) -> None:
        clock = asyncio.get_running_loop().time
        pickup = clock()
        await self._start()
        # The timeline goes no faster than real time: a burst at its start would delay the agent for the whole call.
        held = self._uplink.open(self.voice.silent)
        self.line.note(f"session started {clock() - pickup:.2f} s after pickup: {held}")
        self._frame_s = clock()
        self.spawn(self._uplink.flush())
        self.spawn(self._fill_gaps())
        self.spawn(self._review_now_and_then())
        await self._receive()

    async def _shut(self) -> None:
        self._tasks.over.set()
        if self._live is not None:
            with suppress(ConnectionClosed, TimeoutError):
                async with asyncio.timeout(CLOSE_TIMEOUT_S):
                    await self._connection.session.close()
                    await self._closed.wait()  # after what was never placed
        await self._tasks.end()
        if self._live is not None:
            await self._live.close()
        await self.line.hang_up()

    def end(self, reason: str) -> None:
        """Hang up; `run` closes the session."""
        if not self._tasks.over.is_set():
            self.line.note(f"hanging up: {reason}")
            self._tasks.over.set()

    def spawn(self, work: Coroutine[Any, Any, None]) -> "asyncio.Task[None]":
        """Work that ends with the call at the latest."""
        return self._tasks.spawn(work)

    @property
    def _connection(self) -> AsyncLiveConnection:
        assert self._live is not None, "not connected yet"
        return self._live

    # The caller's audio

    async def _listen(self) -> None:
        await self._uplink.listen()
        self.end("the caller hung up")

    async def send_audio(self, frame: bytes) -> None:
        """Send 20 ms of the caller's audio, silence as well."""
        event = {"type": "session.input_audio.append", "audio": base64.b64encode(frame).decode()}
        await self._connection.send_raw(json.dumps(event))  # session.input_audio.append() takes thirty times as long
        self.position_ms += FRAME_MS

    async def _from_microphone(self, frame: bytes) -> None:
        self._frame_s = asyncio.get_running_loop().time()
        await self.send_audio(frame)

    async def _fill_gaps(self) -> None:
        """Send silence where the microphone has nothing (a muted phone, a carrier that sends no silence): without
        audio the session stands still, and the agent with it."""
        clock = asyncio.get_running_loop().time
        silence = self.line.format.silence(FRAME_MS)
        while True:
            left_s = self._frame_s + GAP_S - clock()
            if left_s <= 0:
                await self.send_audio(silence)
            await asyncio.sleep(max(left_s, FRAME_MS / 1000))

    # The session

    def session(self) -> Any:
        """What `session.start` says."""
        format = self.line.format
        session = {
            "model": self.model,
            "instructions": self.instructions,
            "audio": {"format": {"type": _FORMAT_TYPES[format.encoding], "rate": format.rate}},
            "delegation": {"type": "client"},
        }
        return session if self.kugel is None else {**session, "kugel": self.kugel}

    async def _start(self) -> None:
        """Connect and start the session, more than once if the server has no room just now."""
        options: Any = {"close_timeout": 2}
        key = (self.line.headers or auth_headers(KEY_VARIABLES))["Authorization"].removeprefix("Bearer ")
        client = _client(key, _base_url(self.line.url))
        try:
            async with asyncio.timeout(READY_TIMEOUT_S):
                for wait_s in (*RETRIES_S, None):
                    try:
                        with explained(self.line.url, KEY_VARIABLES):
                            self._live = await client.live.connect(websocket_connection_options=options).enter()
                        await self._started()
                        return
                    except _TryAgain as refusal:
                        if wait_s is None:
                            raise CallFailed(f"{refusal}: end another call or wait, then call again") from refusal
                        self.line.note(f"{refusal}: trying again in {wait_s:g} s")
                        await self._connection.close()
                        self._live = None
                        await asyncio.sleep(wait_s)
        except TimeoutError as error:
            raise CallFailed(f"the session was not started after {READY_TIMEOUT_S:.0f} s") from error

    async def _started(self) -> None:
        refusal = ""
        try:
            await self._connection.session.start(session=self.session())
            while True:
                event: Any = await self._connection.recv()
                if event.type == "session.started":
                    self.session_id = str(getattr(event.session, "id", None) or "")
                    return
                if event.type == "error":
                    error = event.error
                    refusal = f"the session was refused: {error.message} (code {error.code}, parameter {error.param})"
                    if error.code == "rate_limit_exceeded":
                        raise _TryAgain(refusal)
                    raise CallFailed(f"{refusal}; correct the session.start")
        except ConnectionClosed as closed:
            refusal = refusal or f"the server closed the connection {why_closed(closed)} before session.started"
            if closed.rcvd is not None and closed.rcvd.code == TRY_AGAIN:
                raise _TryAgain(refusal) from closed
            raise CallFailed(refusal) from closed

    async def append(
        self, kind: Kind, content: str, delegation_id: str | None, *, expects_reply: bool = False
    ) -> Append:
        """Tell the agent something (500 tokens at most): `commentary` it tells the caller, `thinking` it knows,
        `instructions` it follows. `expects_reply` (fluid-1): the caller is asked just this, and what they answer is
        delegated."""
        made = Append(kind, content, delegation_id, f"{kind}-{len(self.appends) + 1}", self.position_ms, expects_reply)
        self.appends.append(made)
        event: Any = {"type": f"session.{kind}.append", "event_id": made.event_id, "content": content}
        event["delegation_id"] = delegation_id
        if expects_reply:
            event["expects_reply"] = True  # the SDK does not know it
        await self._connection.send(event)
        return made

    def caller_quiet_s(self) -> float:
        """For how long no word of the caller has come."""
        return asyncio.get_running_loop().time() - self._caller_s

    def quiet_s(self) -> float:
        """For how long neither side has been heard."""
        return min(self.voice.quiet_s(), self.caller_quiet_s())

    async def _review_now_and_then(self) -> None:
        while True:
            await asyncio.sleep(REVIEW_S)
            self.voice.review(self.position_ms)
            self.review()

    # What the server says

    async def _receive(self) -> None:
        while True:
            try:
                message = await self._connection.recv_bytes()
            except ConnectionClosed as closed:
                self._closed.set()
                self.end(f"the connection was lost {why_closed(closed)}")
                return
            try:
                await self.take(self._connection.parse_event(message))
            except (AttributeError, KeyError, TypeError, ValueError) as error:
                self.line.note(f"cannot read an event: {error!r}")

    async def take(self, event: Any) -> None:
        """Deal with an event of the server's. What is amiss with it may raise; nothing here may take time."""
        match event.type:
            case "session.output_audio.delta":
                self.voice.play(base64.b64decode(event.delta, validate=True))
            case "session.output_transcript.delta":
                self.voice.said(event.delta, *_window(event))
            case "session.input_transcript.delta":
                self.transcript.delta(event.delta, *_window(event))
                self.voice.interrupted()
                self._caller_s = asyncio.get_running_loop().time()
            case "kugel.input_transcript.committed":
                self.transcript.commit(event.text, *_window(event))
            case "kugel.response.cancelled":
                if self.voice.cut():
                    self.line.note("the caller cuts in")
            case "session.delegation.created":
                offset_ms = self._offset_ms(event)
                turn = self.transcript.delegate(offset_ms)
                await self.delegated(event.delegation.id, offset_ms, turn)
            case "session.commentary.appended" | "session.thinking.appended" | "session.instructions.appended":
                self._placed(event.type.split(".")[1], _window(event)[0])
            case "error":
                self._on_error(event.error)
            case "session.closed":
                self._closed.set()
                self.end(f"the server has closed the session ({event.reason})")

    def _offset_ms(self, event: Any) -> int:
        """Where a delegation lies on the timeline; if the server does not say, it is about what was said last."""
        offset_ms = getattr(event, "offset_ms", None)
        if isinstance(offset_ms, int):
            return offset_ms
        return self.transcript.last.end_ms if self.transcript.last else int(self.position_ms)

    async def delegated(self, delegation_id: str, offset_ms: int, turn: Turn | None) -> None:
        """Work on a delegation, while the audio flows on."""
        self.spawn(self.settled(delegation_id, offset_ms, turn))

    async def settled(self, delegation_id: str, offset_ms: int, turn: Turn | None) -> None:
        """Wait for the turn to be whole, and work on it."""
        if turn is None or not turn.committed:
            await asyncio.sleep(SETTLE_S)
        await self.work(delegation_id, turn or self.transcript.delegate(offset_ms))

    def _placed(self, kind: str, start_ms: int) -> None:
        """An acknowledgement names nothing: those of a kind come in the order of sending."""
        for append in self.appends:
            if append.kind == kind and append.placed_ms is None and append.refused is None:
                append.placed_ms = start_ms
                return

    def _on_error(self, error: Any) -> None:
        about = next((append for append in self.appends if append.event_id == error.client_event_id), None)
        what = f" about {about.event_id} ({about.content[:40]!r})" if about else ""
        self.line.note(f"the server reports {error.code}: {error.message}{what}")
        if about is not None:
            about.refused = error.code
            self.refused(about, error.param)


def _window(event: Any) -> tuple[int, int]:
    """An event's place on the timeline; the SDK lets events through that have none."""
    start_ms, end_ms = event.start_ms, event.end_ms
    if not isinstance(start_ms, int) or not isinstance(end_ms, int):
        raise TypeError(f"{event.type} is nowhere on the timeline")
    return start_ms, end_ms


@lru_cache(maxsize=8)
def _client(key: str, base_url: str) -> AsyncOpenAI:
    """One for all calls: to make one takes a while."""
    return AsyncOpenAI(api_key=key, websocket_base_url=base_url)


def _base_url(url: str) -> str:
    """What the SDK wants: it adds /live/sessions by itself."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/live/sessions").removesuffix("/realtime")
    return urlunsplit((parts.scheme, parts.netloc, path, "", ""))
