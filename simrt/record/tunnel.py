"""One client connection and the upstream connection it leads to: bytes pass, messages are written down first.

    client ══ End ══ Splitter → Tape (journal) → write ══ End ══ upstream          and the same the other way

No task runs while a call is on: each piece of data is handled in the loop step that received it. The proxy says nothing
of its own on an open WebSocket, except when it must end one: 1011 when the recording cannot go on, 1009 when a frame
is too big, 1001 when it is told to stop.
"""

import asyncio
import socket
import ssl
from collections.abc import Callable
from enum import Enum

import msgspec
from websockets.frames import CloseCode

from simrt.errors import SimrtError
from simrt.record.answer import Answer, plain_answer
from simrt.record.end import End
from simrt.record.frames import Close, TooBig, close_frame
from simrt.record.head import BadHead, Request, parse_request, split_head
from simrt.record.recorder import Recorder, Tape
from simrt.record.target import Target
from simrt.trace import Closing, Ender, Opening

CONNECT_LIMIT = 20.0
"""Seconds that the upstream has for the TCP and TLS handshakes."""

LINGER = 10.0
"""Seconds that an end may take to hear the rest and go, once the other is gone."""

_EARLY = 64 * 1024  # bytes that a client may send before the upstream has answered


class Stage(Enum):
    """Where a tunnel is: the handshake is on; bytes pass; whatever still arrives is thrown away."""

    ASKING = "asking"
    PASSING = "passing"
    OVER = "over"


class Tunnel:
    """One client connection. `on_end` is called once, when both ends are gone."""

    def __init__(
        self, target: Target, tls: ssl.SSLContext | None, recorder: Recorder, on_end: Callable[["Tunnel"], None]
    ) -> None:
        self.client = End(self, "client", self._request_received)
        self.server = End(self, "server", _ignore)
        self._target = target
        self._tls = tls
        self._recorder = recorder
        self._redactor = recorder.redactor.fork()
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._stage = Stage.ASKING
        self._early = bytearray()
        self._request = Request("", [])
        self._resource = ""
        self._answer = Answer()
        self._connecting: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None
        self._unsent = 0
        self._opened = 0.0
        self._last_us = 0
        self._tape: Tape | None = None
        self._closing: Closing | None = None

    def other(self, end: End) -> End:
        """The end opposite."""
        return self.server if end is self.client else self.client

    # The handshake.

    def _request_received(self, data: bytes) -> None:
        self._early += data
        try:
            split = split_head(self._early)
            if split is None:
                return
            self._request = parse_request(split[0])
        except BadHead as error:
            self._refuse(400, str(error))
            return
        self._early = bytearray(split[1])
        self._resource = self._target.resource(self._request.resource, websocket=self._request.is_websocket)
        self._redactor.opening(self._opening())  # from here on it knows the client's keys, whatever goes wrong
        self.client.receive = self._early_received
        self._connecting = self._loop.create_task(self._connect())

    def _early_received(self, data: bytes) -> None:
        self._early += data
        if len(self._early) > _EARLY:
            self.client.pause()

    async def _connect(self) -> None:
        where = self._target
        tls = self._tls if where.secure else None
        try:
            async with asyncio.timeout(CONNECT_LIMIT):
                await self._loop.create_connection(
                    lambda: self.server, where.host, where.port, ssl=tls, happy_eyeballs_delay=0.25
                )
        except (OSError, UnicodeError) as error:
            self._unreachable(_trouble(error))
            return
        self.server.write(self._request.forwarded(self._resource, where.authority).encode())
        if self._request.is_websocket:
            self.server.receive = self._answer_received
        else:
            self._pass(self.server.write, self.client.write)

    def _answer_received(self, data: bytes) -> None:
        arrived = self._loop.time()
        try:
            complete = self._answer.feed(data)
        except BadHead as error:
            self._unreachable(f"it did not answer as a web server does ({error})")
            return
        if not complete:
            return
        if self._answer.response.status != 101:
            self._refused()
        elif self._answer.response.values("sec-websocket-extensions"):
            self._unreachable("it chose a WebSocket extension that nobody offered")
        else:
            self._open(arrived)

    def _open(self, arrived: float) -> None:
        """The upstream said yes (at loop time `arrived`): a recording begins."""
        try:
            self._tape = self._recorder.start(self._opening(), self._redactor)
        except SimrtError as error:
            self._refuse(500, str(error))
            return
        self._opened = arrived
        rest = self._answer.rest
        self.client.write(self._answer.raw)
        self._pass(self._client_received, self._server_received)
        if rest and self._stage is Stage.PASSING:
            self._server_received(rest)

    def _refused(self) -> None:
        """The upstream said no: that is the recording."""
        try:
            self._recorder.start(self._opening(), self._redactor).end(Closing(0, by="server"))
        except SimrtError as error:
            self._refuse(500, str(error))
        else:
            self._answer_and_end(self._answer.raw)

    def _opening(self) -> Opening:
        response = self._answer.response
        protocols = response.tokens("sec-websocket-protocol")
        return Opening(
            url=self._target.url(self._resource),
            headers=self._request.end_to_end(),
            subprotocols=self._request.tokens("sec-websocket-protocol"),
            subprotocol=protocols[0] if protocols else None,
            status=response.status if response.start else 0,
            response_headers=response.end_to_end(),
            response_body=self._answer.text(),
        )

    def _unreachable(self, trouble: str) -> None:
        text = f"the upstream {self._target.place} gave no session: {trouble}"
        error = self._recorder.failed(text, self._redactor)
        self._refuse(502, str(error))

    def _refuse(self, status: int, text: str) -> None:
        self._answer_and_end(plain_answer(status, f"simrt record: {text}"))

    def _answer_and_end(self, answer: bytes) -> None:
        self.client.write(answer)
        self._end()
        self.server.abort()
        self.client.hang_up()

    # Passing on.

    def _pass(self, from_client: Callable[[bytes], None], from_server: Callable[[bytes], None]) -> None:
        self._stage = Stage.PASSING
        self.client.receive = from_client
        self.server.receive = from_server
        early, self._early = bytes(self._early), bytearray()
        if early:
            from_client(early)
        self.client.resume()

    def _client_received(self, data: bytes) -> None:
        self._received(self.client, self.server, data)

    def _server_received(self, data: bytes) -> None:
        self._received(self.server, self.client, data)

    def _received(self, source: End, goal: End, data: bytes) -> None:
        """Cut, write down, pass on; in this order."""
        assert self._tape is not None
        t_us = self._now_us()
        try:
            whole, heard = source.splitter.feed(data)
            for item in heard:
                if not isinstance(item, Close):
                    self._tape.frame(t_us, source.sender, item.payload)
                    self._last_us = t_us
                elif self._closing is None:
                    self._closing = Closing(t_us, item.code, item.reason, source.sender)
        except TooBig as error:
            self._break_off(CloseCode.MESSAGE_TOO_BIG, f"simrt record: {error}")
        except SimrtError:
            self._break_off(CloseCode.INTERNAL_ERROR, "simrt record: the recording cannot be written")
        else:
            if whole:
                goal.write(whole)

    def _now_us(self) -> int:
        return round((self._loop.time() - self._opened) * 1e6)

    # The end.

    def ended(self, end: End) -> None:
        """No more comes from this end (FIN): the other hears of it, and may still say what it has to say."""
        if self._stage is Stage.ASKING:
            self._ended_asking(end)
        elif self._stage is Stage.PASSING:
            self._note_end(end)
            self.other(end).hang_up()
            self._linger()
            if not self.other(end).silent:
                return
        end.hang_up()

    def gone(self, end: End, *, reset: bool) -> None:
        """This end's connection is closed; nothing can be passed on any more."""
        if self._stage is Stage.ASKING:
            self._ended_asking(end)
        elif self._stage is Stage.PASSING:
            self._note_end(end, reset=reset)
            self._end()
            other = self.other(end)
            if reset:
                other.reset()
            else:
                other.hang_up()
        if self.client.lost and (self.server.lost or self.server.transport is None):
            if self._timer is not None:
                self._timer.cancel()
            self._on_end(self)

    def _ended_asking(self, end: End) -> None:
        if end is self.client:
            self._end()
            self.server.abort()
        elif self._answer.feed_eof():
            self._refused()
        else:
            self._unreachable("it closed the connection without an answer")

    def _note_end(self, end: End, *, reset: bool = False) -> None:
        """Keep how the session ended when no close frame said so: 1006, and who went; a reset upstream is "network"."""
        if self._closing is None:
            by: Ender = "network" if reset and end is self.server else end.sender
            self._closing = Closing(self._now_us(), CloseCode.ABNORMAL_CLOSURE, "", by)

    def _break_off(self, code: int, reason: str) -> None:
        """End an open WebSocket on the proxy's own account."""
        if self._closing is None:
            self._closing = Closing(self._now_us(), code, reason, "network")
        for end in (self.client, self.server):
            end.write(close_frame(code, reason, masked=end is self.server))
        self._end()
        for end in (self.client, self.server):
            end.hang_up()

    def stop(self) -> None:
        """End now, whatever is going on: the proxy is told to stop."""
        if self._stage is Stage.OVER:
            return
        if self._tape is not None:
            self._break_off(CloseCode.GOING_AWAY, "simrt record: the recording was stopped")
        elif self._request.start and self._stage is Stage.ASKING:
            self._refuse(503, "the proxy was stopped")
        else:
            self.drop()

    def drop(self) -> None:
        """Cut both connections without another word."""
        self._end()
        self.client.abort()
        self.server.abort()

    def _end(self) -> None:
        """From here on nothing is passed on or recorded; the cassette is made."""
        if self._stage is Stage.OVER:
            return
        self._stage = Stage.OVER
        self.client.receive = self.server.receive = _ignore
        if self._connecting is not None and self._connecting is not asyncio.current_task():
            self._connecting.cancel()
        if self._tape is not None:
            self._tape.end(self._final_closing())
        self.client.resume()
        self.server.resume()
        self._linger()

    def _final_closing(self) -> Closing:
        """The closing line: not before the last frame, since an end may have sent some that crossed the close frame."""
        closing = self._closing or Closing(self._now_us())
        return msgspec.structs.replace(closing, t_us=max(closing.t_us, self._last_us))

    def _linger(self) -> None:
        """Give the ends their time to go."""
        if self._timer is None:
            self._unsent = self.client.unsent() + self.server.unsent()
            self._timer = self._loop.call_later(LINGER, self._lingered)

    def _lingered(self) -> None:
        self._timer = None
        if 0 < self.client.unsent() + self.server.unsent() < self._unsent:
            self._linger()
        else:
            self.drop()


def _ignore(data: bytes) -> None:
    pass


def _trouble(error: Exception) -> str:
    """Why there is no connection, in words, and the way out where there is one."""
    if isinstance(error, TimeoutError) and not error.args:
        return f"no connection within {CONNECT_LIMIT:.0f} s"
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate is not trusted ({error.verify_message}); SSL_CERT_FILE names a file of CAs to trust"
    if isinstance(error, ssl.SSLError):
        return f"TLS failed ({error.reason or error})"
    if isinstance(error, socket.gaierror):
        return f"its name is not known ({error.strerror})"
    return str(error)
