"""What the frames of a Live score say in the call at hand: places on its timeline, words, ids, usage."""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

import msgspec

from simrt.caller.cue import ReplyKey
from simrt.dialect.live import OUTPUT_AUDIO
from simrt.faults.base import Send
from simrt.replay.live_timeline import window_ms
from simrt.replay.live_turns import COMMITTED, DELEGATED
from simrt.replay.restate import convert
from simrt.replay.score import ScoredFrame

if TYPE_CHECKING:
    from simrt.replay.live import LiveSession

USAGE = "session.usage.updated"
CLOSED = "session.closed"
_NEAR_US = 100_000  # as close to the recording as that, its own count of seconds stands
_encode = msgspec.json.Encoder().encode


class Wire:
    """Retells the frames for one session. `renamed`: the client's event ids, by those of the recorded client."""

    def __init__(self, session: LiveSession) -> None:
        self.s = session
        self.renamed: dict[str, Any] = {}
        self._changes: dict[int, dict[str, Any]] = {}

    def restate(self, frame: ScoredFrame, **fields: Any) -> None:
        """What a frame says otherwise in this call; a field that is None is left out."""
        self._changes[frame.index] = fields

    def audio(self, frame: ScoredFrame) -> Send:
        """A slot, in the session's format."""
        s = self.s
        payload, audio = frame.payload, frame.audio
        event = frame.event or {}
        changed: dict[str, Any] = {}
        recorded = s.score.output_format
        if audio and s.format != recorded:
            audio = convert(audio, recorded, s.format)
            changed["delta"] = base64.b64encode(audio).decode()
        if "start_ms" in event and frame.reply is not None:
            changed |= _moved(event, self._shift_us(frame.reply))
        if changed:
            payload = _encode({**event, **changed}).decode()
        return Send(payload, OUTPUT_AUDIO, frame, frame.reply in s.made_up, frame.reply, audio)

    def event(self, frame: ScoredFrame, event: dict[str, Any], now_us: int) -> dict[str, Any]:
        """The event as it is in this call, the very same if nothing changes; empty if it is to be left out."""
        s = self.s
        if (frame.kind == COMMITTED and not s.rules.kugel) or (frame.kind == DELEGATED and not s.rules.delegates):
            return {}
        adapted = s.turns.adapt(frame, event)
        if adapted is not None and not adapted:
            return {}
        changed = dict(self._changes.get(frame.index, ()))
        if frame.reply is not None and frame.reply in s.track.started:
            changed |= self._placed(frame, event)
        elif frame.kind in (USAGE, CLOSED):
            changed |= self.usage(frame, event, now_us)
        if self.renamed:
            changed |= self._echoed(event)
        event = event if adapted is None else adapted
        if all(key in event and event[key] == value for key, value in changed.items()):
            return event
        return {key: value for key, value in {**event, **changed}.items() if key not in changed or value is not None}

    def usage(self, frame: ScoredFrame, event: dict[str, Any], now_us: int) -> dict[str, Any]:
        """Usage counts the seconds of audio in this call."""
        position_us = self.s.timeline.position(now_us)
        recorded_us = self.s.live.usage_us.get(frame.index)
        if recorded_us is not None and abs(position_us - recorded_us) <= _NEAR_US:
            return {}
        return {"usage": {**(event.get("usage") or {}), "seconds": position_us // 1_000_000}}

    def _placed(self, frame: ScoredFrame, event: dict[str, Any]) -> dict[str, Any]:
        """A reply's event where the reply is in this call."""
        key = frame.reply
        assert key is not None
        shift_us = self._shift_us(key)
        if not isinstance(event.get("start_ms"), int):
            return {}
        if not self.s.score.authored and key not in self.s.made_up:
            return _moved(event, shift_us)
        start_ms, end_ms = window_ms(event["start_ms"] * 1000 + shift_us)
        return {"start_ms": start_ms, "end_ms": end_ms}

    def _shift_us(self, key: ReplyKey) -> int:
        """How far a reply lies behind its place on the recording."""
        reply = self.s.reply_of(key)
        return self.s.track.started[key] - (reply.home_us if reply is not None else 0)

    def _echoed(self, event: dict[str, Any]) -> dict[str, Any]:
        """The names that this client gave to its commands."""
        changed: dict[str, Any] = {}
        named, error = event.get("client_event_id"), event.get("error")
        if named in self.renamed:
            changed["client_event_id"] = self.renamed[named]
        if isinstance(error, dict) and error.get("client_event_id") in self.renamed:
            changed["error"] = {**error, "client_event_id": self.renamed[error["client_event_id"]]}
        return changed


def _moved(event: dict[str, Any], shift_us: int) -> dict[str, Any]:
    if not shift_us:
        return {}
    return {key: event[key] + shift_us // 1000 for key in ("start_ms", "end_ms") if isinstance(event.get(key), int)}
