"""Recorded events retold for the call at hand. Pure functions of events."""

from typing import Any

import msgspec

from simrt.audio import AudioFormat, resample

_encode = msgspec.json.Encoder().encode


def convert(audio: bytes, was: AudioFormat, now: AudioFormat) -> bytes:
    """Audio bytes in another format."""
    return now.encode(resample(was.decode(audio), was.rate, now.rate))


def merge(base: dict[str, Any], over: dict[str, Any]) -> dict[str, Any]:
    """`over` laid on `base`, object by object."""
    merged = dict(base)
    for key, value in over.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return merged


def same(recorded: dict[str, Any] | None, event: dict[str, Any]) -> bool:
    """Equal but for the event_id."""
    if recorded is None:
        return False
    return {**recorded, "event_id": None} == {**event, "event_id": None}


def restated(event: dict[str, Any], live: dict[str, Any]) -> dict[str, Any]:
    """A recorded answer as the answer to what the client really asked."""
    changed = dict(event)
    for key in ("session", "item"):
        if isinstance(event.get(key), dict) and isinstance(live.get(key), dict):
            changed[key] = merge(event[key], live[key])
    for key in ("item_id", "content_index", "audio_end_ms"):
        if key in event and key in live:
            changed[key] = live[key]
    return changed


def quoted(name: str) -> str:
    return _encode(name).decode()


def stated_detection(session: Any, before: dict[str, Any] | None) -> dict[str, Any] | None:
    """`turn_detection` after a `session.update`, GA or beta shape; what is not stated stays as it was."""
    if not isinstance(session, dict):
        return before
    audio = session.get("audio")
    half = audio.get("input") if isinstance(audio, dict) else None
    for holder in (half, session):
        if isinstance(holder, dict) and "turn_detection" in holder:
            stated = holder["turn_detection"]
            if stated is None:
                return None
            return merge(before or {}, stated) if isinstance(stated, dict) else before
    return before
