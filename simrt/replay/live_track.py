"""The agent's voice on a Live session: one continuous track of equal deltas, silence between the replies.

What a slot holds is settled when the timeline reaches it: the next piece of the reply that is being spoken, or
silence. It goes out a lag later. With `kugel` in the session there is no silence, and a reply goes out as fast as it
is made, from the moment at which its first slot would.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import msgspec

from simrt.audio import PCM24, AudioFormat
from simrt.dialect.live import OUTPUT_AUDIO
from simrt.replay.live_timeline import SLOT, by_window
from simrt.replay.live_voice import hum
from simrt.replay.score import LiveScore, ScoredFrame, ScoredReply

if TYPE_CHECKING:
    from simrt.replay.live import LiveSession

_SAY_US = 200_000  # from a commentary's place to the first word of it in a made-up voice
_NEVER = 1 << 62
GAP_US = 600_000  # between a reply and one that had to wait for its end
KUGEL_SPEED = 5  # how many times faster than real time speech is made
_FILLER = 1 << 39  # sorts made-up silence behind recorded frames of the same moment
CANCELLED = "kugel.response.cancelled"
OUTPUT_TEXT = "session.output_transcript.delta"
_encode = msgspec.json.Encoder().encode


class Wish(msgspec.Struct, eq=False):
    """A reply that shall be spoken from `wanted_us` of the timeline on, or when it first can be.

    Of several the one goes first that was asked for first, at `asked_us`. `begun` is told.
    """

    asked_us: int
    wanted_us: int
    reply: ScoredReply
    begun: Callable[[ScoredReply], None] | None = None


def chunk_frames(reply: ScoredReply, data: bytes, live: LiveScore, first_index: int, made: list[ScoredFrame]) -> None:
    """Append a reply's audio (24 kHz PCM16) to `made`, cut into slots, the last one filled up with silence."""
    size = PCM24.size_of(live.slot_us / 1000)
    data += bytes(-len(data) % size)
    for k in range(0, len(data), size):
        piece = data[k : k + size]
        event = {"type": OUTPUT_AUDIO, "delta": base64.b64encode(piece).decode()}
        number = k // size
        made.append(
            ScoredFrame(
                first_index + len(made),
                _encode(event).decode(),
                event,
                OUTPUT_AUDIO,
                reply.cause,
                number * live.slot_us,
                reply.response,
                reply.index,
                piece,
                number * live.slot_us,
                live.slot_us,
            )
        )


class Track:
    """The slots of one session."""

    def __init__(self, session: LiveSession, live: LiveScore) -> None:
        self.s, self.live = session, live
        self.number = 0
        self.started: dict[object, int] = {}  # where each reply began
        self.speaking: ScoredReply | None = None
        self.end_us = 0  # where the reply that is or was last spoken ends
        self._wishes: list[Wish] = []  # in the order of being asked for
        self._wanted_us = _NEVER  # when the first of them is wanted
        self._slots: dict[int, ScoredFrame] = {}
        self._chunks: dict[object, list[ScoredFrame]] = {}
        self._texts: dict[object, list[ScoredFrame]] = {}
        self._last_us, self._last_place = 0, -1.0
        self._broken: ScoredReply | None = None  # was cut off; the ear is told once its last piece is out
        self._filler: ScoredFrame | None = None
        self._quick = False  # the session has `kugel`
        self._resting = False  # with nothing to say, and no silence to send, the slots go by unseen
        self._recorded_format = session.score.output_format
        for frame in session.score.frames:
            if frame.reply is not None:
                self._keep(frame)

    def _keep(self, frame: ScoredFrame) -> None:
        if frame.kind in (OUTPUT_AUDIO, OUTPUT_TEXT):
            kind = self._chunks if frame.kind == OUTPUT_AUDIO else self._texts
            kind.setdefault(frame.reply, []).append(frame)

    def begin(self) -> None:
        """The session has been accepted: from the first audio on there are slots."""
        self._quick = self.s.rules.kugel
        self._await_slot()

    # --- what is to be spoken ------------------------------------------------------------------------------------

    def wish(self, reply: ScoredReply, asked_us: int, begun: Callable[[ScoredReply], None] | None = None) -> Wish:
        """Speak a reply: what asks for it stands at that position, and its own start is so much later."""
        made = Wish(asked_us, asked_us + reply.start_us, reply, begun)
        self._wishes.append(made)
        self._wishes.sort(key=lambda wish: wish.asked_us)
        self._wanted_us = min(self._wanted_us, made.wanted_us)
        if self._resting:
            self._resting = False
            self.number = max(self.number, self.s.timeline.done_us // self.live.slot_us + 1)
            self._await_slot()
        return made

    def withdraw(self, wish: Wish) -> bool:
        """Take back a wish; False if it is being spoken already."""
        if wish not in self._wishes:
            return False
        self._wishes.remove(wish)
        self._wanted_us = min((other.wanted_us for other in self._wishes), default=_NEVER)
        return True

    def make_up(self, key: str, text: str) -> ScoredReply:
        """A reply in a made-up voice that says just this."""
        samples, words = hum(text)
        reply = ScoredReply(key, -1, key, key, text, list(words), start_us=_SAY_US)
        frames: list[ScoredFrame] = []
        chunk_frames(reply, samples.tobytes(), self.live, self.s.spare_index, frames)
        reply.audio_us = len(frames) * self.live.slot_us
        for nth, said in enumerate(by_window(words)):
            frames.append(text_frame(reply, self.s.spare_index + len(frames), said, nth, self.live))
        self.s.spare_index += len(frames)
        for frame in frames:
            self._keep(frame)
        self.s.made_up[key] = reply
        self.s.reply_lengths[key] = reply.audio_us
        return reply

    # --- the slots -----------------------------------------------------------------------------------------------

    def _step(self, position_us: int) -> None:
        """The timeline has reached a slot: settle what it holds."""
        live, number = self.live, self.number
        if self._wanted_us <= position_us:
            self._next(position_us)
        if not self._quick:
            moment = self.s.timeline.when(position_us)
            assert moment is not None, "a slot is settled once it is reached"
            due_us = moment + (live.lags[number] if number < len(live.lags) else live.lag_us)
            frame = self._slots.pop(number, None)
            self._send(frame if frame is not None else self._silence(number), due_us)
        self.number = number + 1
        self._resting = self._quick and not self._wishes and not live.run_us
        if not self._resting:
            self._await_slot()

    def _await_slot(self) -> None:
        self.s.timeline.wait(self.number * self.live.slot_us, SLOT, self._step)

    def _send(self, frame: ScoredFrame, due_us: int) -> None:
        behind_us = self._last_us + (frame.place <= self._last_place)
        self._last_us, self._last_place = self.s.schedule(frame, due_us, after_us=behind_us), frame.place

    def _next(self, position_us: int) -> None:
        """Begin the reply whose turn it is, unless somebody speaks."""
        wish = next((wish for wish in self._wishes if self._can(wish, position_us)), None)
        if wish is None:
            return
        self.withdraw(wish)
        reply = wish.reply
        self.speaking = reply
        self.started[reply.index] = position_us
        chunks = self._chunks.get(reply.index, [])
        self.end_us = position_us + len(chunks) * self.live.slot_us
        if self.s.rules.kugel:
            self._hurry(reply, chunks, position_us)
        else:
            for k, frame in enumerate(chunks):
                self._slots[self.number + k] = frame
            for frame in self._texts.get(reply.index, ()):
                self.s.at(position_us, frame)
        if wish.begun is not None:
            wish.begun(reply)

    def _can(self, wish: Wish, position_us: int) -> bool:
        """Whether a reply can begin now: it is wanted, and nobody speaks that it would interrupt."""
        if position_us < wish.wanted_us or (self.s.turns.talking and not wish.reply.over):
            return False
        free_us = self.end_us + (GAP_US if wish.wanted_us < self.end_us else 0)
        return self.speaking is None or position_us >= free_us

    def _hurry(self, reply: ScoredReply, chunks: list[ScoredFrame], position_us: int) -> None:
        """Send a reply as fast as it is made."""
        start_us = self.s.timeline.when(position_us)
        assert start_us is not None, "a reply begins at a position that is reached"
        recorded = not self.s.score.authored and reply.index not in self.s.made_up
        for frame in [*chunks, *self._texts.get(reply.index, ())]:
            late_us = self.live.lag_us + frame.audio_start_us // KUGEL_SPEED
            self.s.schedule(frame, start_us + (frame.delay_us if recorded else late_us))

    def cut(self, position_us: int) -> None:
        """The caller talks: a reply that is being spoken breaks off there."""
        reply = self.speaking
        if reply is None or position_us >= self.end_us:
            return
        self.end_us = position_us
        if self.s.rules.kugel:
            told_us = self.s.cancelled(reply, position_us)
            waiting = [
                e
                for e in self.s.queued()
                if isinstance(e[3], ScoredFrame) and e[3].reply == reply.index and e[0] > told_us
            ]
            self.s.cut.update(e[3].index for e in waiting if isinstance(e[3], ScoredFrame))
            self.s.remove(waiting)
            return
        last = self.number * self.live.slot_us - self.started[reply.index]
        self._slots.clear()
        self.s.cut.update(f.index for f in self._chunks.get(reply.index, ()) if f.audio_start_us >= last)
        self.s.cut.update(f.index for f in self._texts.get(reply.index, ()) if (f.position_us or 0) >= last)
        self._broken = reply

    def went_out(self, frame: ScoredFrame, now_us: int) -> None:
        """A slot is being sent: the first one behind a reply that was cut off is its end."""
        broken = self._broken
        if broken is not None and frame.reply != broken.index:
            self._broken = None
            if self.s.observer is not None:
                self.s.observer.reply_ended(broken.index, now_us, True)

    def later(self, by_us: int) -> None:
        """What waits to be sent is sent so much later, and what follows behind it."""
        self._last_us += by_us

    def _silence(self, number: int) -> ScoredFrame:
        """What is sent where nobody speaks: as recorded, else plain silence."""
        recorded = self.live.fillers.get(number)
        if recorded is not None and self.s.format == self._recorded_format:
            return recorded
        if self._filler is None:
            self._filler = silence_frame(self.s.format, self.live.slot_us)
        return self._filler


def silence_frame(fmt: AudioFormat, slot_us: int) -> ScoredFrame:
    """One delta of silence."""
    event = {"type": OUTPUT_AUDIO, "delta": base64.b64encode(fmt.silence(slot_us / 1000)).decode()}
    return ScoredFrame(_FILLER, _encode(event).decode(), event, OUTPUT_AUDIO, ("timeline", 0), 0)


def text_frame(reply: ScoredReply, index: int, said: tuple[str, int, int], nth: int, live: LiveScore) -> ScoredFrame:
    """The delta of some words of a reply (text, start and end in ms since its first sample), right behind the slot that
    they begin in. Its times count from the reply's start."""
    text, start_ms, end_ms = said
    event: dict[str, Any] = {
        "type": OUTPUT_TEXT,
        "event_id": f"event_{reply.response_id}_{nth:04d}",
        "start_ms": start_ms,
        "end_ms": end_ms,
        "delta": f" {text}" if nth else text,
    }
    frame = ScoredFrame(index, _encode(event).decode(), event, OUTPUT_TEXT, reply.cause, live.lag_us, reply.response)
    place_us = start_ms * 1000 // live.slot_us * live.slot_us
    frame.reply, frame.position_us, frame.audio_start_us = reply.index, place_us, place_us
    return frame
