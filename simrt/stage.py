"""The replay side of one call: a session for each connection, and the ear that hears what they send."""

from collections import Counter
from collections.abc import Callable, Sequence

from simrt.audio import AudioFormat
from simrt.caller import Clock, Ear, ReplyKey
from simrt.faults.base import Fault
from simrt.invariant import Invariant, Watch
from simrt.replay.build import make_session
from simrt.replay.score import Score
from simrt.replay.server import ReplayPeer
from simrt.replay.session import Session
from simrt.wire import Peer, Refusal, Request

_PATHS = ("/realtime", "/live/sessions")


class Stage:
    """The replay side of one call: sessions for the client's connections, and the ear that hears what they send."""

    def __init__(
        self,
        score: Score,
        faults: Sequence[Fault],
        seed: int,
        clock: Clock,
        ear: Ear | None,
        invariants: Sequence[Invariant] = (),
    ) -> None:
        self.score, self.faults, self.seed = score, faults, seed
        self.clock, self.ear = clock, ear
        self.watch = Watch(invariants)
        self.peers: list[ReplayPeer] = []
        self.refusals = 0
        self.ended: Counter[int] = Counter()
        self.refused_session: Session | None = None
        self.extended: Score | None = None
        self.finished: Callable[[ReplayPeer], None] | None = None
        self.heard: dict[int, tuple[str, int]] = {}
        self._offset_us = 0
        self._acted: list[int] = []
        self._texts: set[ReplyKey] = set()

    def accept(self, request: Request) -> Peer | Refusal:
        """Each connection gets a session of its own; a path that no realtime API has is 404."""
        path = request.path.partition("?")[0].rstrip("/")
        if not path.endswith(_PATHS):
            return Refusal(404, f"simrt serves paths that end in {' or '.join(_PATHS)}, not {path}")
        session = make_session(self.score, self.faults, self.seed, self)
        if self.score.dialect != "generic" and session.score is not self.score:
            self.extended = session.score
        session.context.refusals, session.context.connections = self.refusals, len(self.peers)
        session.context.ended = self.ended
        refusal = session.accept(request)
        if refusal is not None:
            self.refusals += 1
            self.refused_session = session
            return refusal
        peer = ReplayPeer(session, request, self.finished)
        self._offset_us = peer.opened_us = self.clock.now_us()
        if self.watch.steps:
            number = len(self.peers)
            peer.on_frame = lambda frame: self.watch.frame(frame, peer.opened_us, number, len(peer.trace.frames) - 1)
        self.peers.append(peer)
        for acted in self._acted:
            session.acted(acted, 0)
        return peer

    # Observer

    def audio_sent(self, reply: ReplyKey, audio: bytes, fmt: AudioFormat, t_us: int) -> None:
        """A piece of a reply has left the server."""
        if self.ear is None:
            return
        if reply not in self._texts:
            self._texts.add(reply)
            known = (peer.session.reply_of(reply) for peer in self.peers)
            scored = next((found for found in known if found is not None), None)
            if scored is not None:
                self.ear.text(reply, scored.text, scored.words, scored.audio_us / 1000)
        self.ear.sent(reply, fmt.decode(audio), t_us + self._offset_us, fmt.rate)

    def reply_ended(self, reply: ReplyKey, t_us: int, cut: bool) -> None:
        """No more of it will come."""
        if self.ear is not None:
            self.ear.ended(reply, t_us + self._offset_us, cut)

    def turn_heard(self, turn: int, transcript: str, words_lost: int, t_us: int) -> None:
        """The server has taken a turn."""
        self.heard[turn] = (transcript, words_lost)

    # the caller's faults

    def caller_acted(self, number: int) -> None:
        """The caller has done what the plan's fault of that number has them do."""
        self._acted.append(number)
        if self.peers:
            self.peers[-1].session.acted(number, self.clock.now_us() - self._offset_us)

    def unfired(self) -> list[str]:
        """The faults that have not acted on any connection."""
        sessions = [peer.session for peer in self.peers]
        if not sessions and self.refused_session is not None:
            sessions = [self.refused_session]
        fired = {n for session in sessions for n, armed in enumerate(session.armed) if armed.fired}
        return [str(fault) for number, fault in enumerate(self.faults) if number not in fired]
