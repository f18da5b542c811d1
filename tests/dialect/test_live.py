from pathlib import Path
from typing import Any

import pytest

from simrt.audio import ALAW8, PCM24, ULAW8, AudioFormat
from simrt.dialect import Event, Formats, dialect
from simrt.dialect.live import parse_format, session_format
from simrt.trace import Sender

LIVE = dialect("live")
PCM16 = AudioFormat("pcm16", 16000)


@pytest.mark.parametrize(
    ("value", "fmt"),
    [
        ({"type": "audio/pcm", "rate": 24000}, PCM24),
        ({"type": "audio/pcm", "rate": 16000}, PCM16),
        ({"type": "audio/pcmu", "rate": 8000}, ULAW8),
        ({"type": "audio/pcma", "rate": 8000}, ALAW8),
        ({"type": "audio/pcma"}, ALAW8),
        ({"type": "audio/pcm"}, None),
        ({"type": "audio/pcm", "rate": 8000}, None),
        ({"type": "audio/pcmu", "rate": 16000}, None),
        ({"type": "audio/pcm", "rate": True}, None),
        ({"type": "audio/pcm", "rate": 24000.0}, None),
        ({"type": "audio/opus", "rate": 48000}, None),
        ({"type": ["audio/pcm"]}, None),
        ({}, None),
        ("pcm16", None),
        (None, None),
    ],
)
def test_formats_as_sessions_state_them(value: Any, fmt: AudioFormat | None) -> None:
    assert parse_format(value) == fmt


@pytest.mark.parametrize("session", [None, "s", {}, {"audio": None}, {"audio": []}, {"audio": {"format": None}}])
def test_a_session_without_a_format_has_24_khz_pcm16(session: Any) -> None:
    assert session_format(session) == PCM24


@pytest.mark.parametrize(
    ("sender", "kind", "key"),
    [
        ("client", "session.input_audio.append", "audio"),
        ("server", "session.input_audio.append", "audio"),
        ("server", "session.output_audio.delta", "delta"),
        ("client", "session.output_audio.delta", None),
        ("client", "session.output_audio.fixture.play", None),
        ("server", "session.output_transcript.delta", None),
        ("server", "session.input_transcript.delta", None),
        ("client", "session.commentary.append", None),
        ("client", "input_audio_buffer.append", None),
        ("server", "response.output_audio.delta", None),
    ],
)
def test_where_audio_is(sender: Sender, kind: str, key: str | None) -> None:
    """A fixture has a format of its own (24 kHz PCM16), so it is no part of the caller's track."""
    assert LIVE.audio_key(sender, {"type": kind, "audio": "AAAA", "delta": "AAAA"}) == key


def start(rate: int, kind: str = "session.start") -> Event:
    return {"type": kind, "session": {"audio": {"format": {"type": "audio/pcm", "rate": rate}}}}


def test_one_format_for_both_directions_as_the_server_has_it_in_the_end() -> None:
    formats = Formats()
    LIVE.update_formats(formats, "client", start(16000))
    assert formats == Formats(PCM16, PCM16)
    LIVE.update_formats(formats, "server", start(24000, "session.started"))
    assert formats == Formats(PCM24, PCM24)


@pytest.mark.parametrize(
    ("sender", "event"),
    [
        ("server", start(24000)),
        ("client", start(24000, "session.started")),
        ("client", {"type": "session.update", "session": {}}),
        ("server", {"type": "session.updated", "session": {}}),
        ("server", {"type": "error"}),
    ],
)
def test_what_else_is_said_changes_no_format(sender: Sender, event: Event) -> None:
    formats = Formats(PCM16, PCM16)
    LIVE.update_formats(formats, sender, event)
    assert formats == Formats(PCM16, PCM16)


def test_the_published_log_states_its_format(recordings: Path) -> None:
    import msgspec

    formats = Formats(ULAW8, ULAW8)
    lines = (recordings / "gpt-live" / "delegation.jsonl").read_text().splitlines()
    rows = [msgspec.json.decode(line) for line in lines]
    for row in rows:
        LIVE.update_formats(formats, "client" if row["dir"] == "out" else "server", row["event"])
    assert formats == Formats(PCM24, PCM24)


def test_no_event_of_live_holds_a_credential() -> None:
    assert LIVE.secrets({"type": "session.started", "session": {"id": "live_1"}}) == []
