from pathlib import Path
from typing import Any

import pytest

from simrt.audio import ALAW8, PCM24, ULAW8, AudioFormat
from simrt.cassette.importers import import_file
from simrt.dialect import Formats, dialect
from simrt.dialect.realtime import AUDIO_DELTAS, BETA_TO_GA, GA_TO_BETA, apply_session, ga_type, parse_format

REALTIME = dialect("realtime")


@pytest.mark.parametrize(
    ("value", "fmt"),
    [
        ({"type": "audio/pcm", "rate": 24000}, PCM24),
        ({"type": "audio/pcm"}, PCM24),
        ({"type": "audio/pcm", "rate": 16000}, AudioFormat("pcm16", 16000)),
        ({"type": "audio/pcm", "rate": 0}, PCM24),
        ({"type": "audio/pcm", "rate": "fast"}, PCM24),
        ({"type": "audio/pcmu"}, ULAW8),
        ({"type": "audio/pcma"}, ALAW8),
        ({"type": "audio/pcmu", "rate": 24000}, ULAW8),
        ("pcm16", PCM24),
        ("g711_ulaw", ULAW8),
        ("g711_alaw", ALAW8),
        ({"type": "audio/opus"}, None),
        ("opus", None),
        ({}, None),
        (None, None),
        (24000, None),
    ],
)
def test_formats_as_sessions_state_them(value: Any, fmt: AudioFormat | None) -> None:
    assert parse_format(value) == fmt


@pytest.mark.parametrize(
    ("session", "formats"),
    [
        ({"audio": {"input": {"format": {"type": "audio/pcmu"}}}}, Formats(ULAW8, PCM24)),
        ({"audio": {"output": {"format": {"type": "audio/pcma"}}}}, Formats(PCM24, ALAW8)),
        ({"input_audio_format": "g711_ulaw", "output_audio_format": "g711_alaw"}, Formats(ULAW8, ALAW8)),
        ({"audio": {"input": {}}}, Formats()),
        ({"audio": {"input": {"format": "audio/what"}}}, Formats()),
        ({"audio": "loud"}, Formats()),
        ({"audio": {"input": "mic"}}, Formats()),
        ({}, Formats()),
        (None, Formats()),
        ([], Formats()),
    ],
)
def test_a_session_changes_what_it_names(session: Any, formats: Formats) -> None:
    found = Formats()
    apply_session(found, session)
    assert found == formats


def test_what_a_session_does_not_name_stays() -> None:
    formats = Formats(ULAW8, ALAW8)
    apply_session(formats, {"audio": {"output": {"format": {"type": "audio/pcm", "rate": 24000}}}})
    assert formats == Formats(ULAW8, PCM24)


@pytest.mark.parametrize(
    ("sender", "kind", "counts"),
    [
        ("server", "session.created", True),
        ("server", "session.updated", True),
        ("client", "session.update", False),
        ("server", "response.created", False),
    ],
)
def test_the_servers_word_counts(sender: Any, kind: str, counts: bool) -> None:
    formats = Formats()
    session = {"audio": {"input": {"format": {"type": "audio/pcmu"}}}}
    REALTIME.update_formats(formats, sender, {"type": kind, "session": session})
    assert (formats.input == ULAW8) is counts


@pytest.mark.parametrize(
    ("sender", "kind", "key"),
    [
        ("client", "input_audio_buffer.append", "audio"),
        ("client", "response.create", None),
        ("server", "response.output_audio.delta", "delta"),
        ("server", "response.audio.delta", "delta"),
        ("server", "response.output_audio_transcript.delta", None),
        ("server", "input_audio_buffer.append", None),
        ("client", "response.audio.delta", None),
        ("server", None, None),
    ],
)
def test_where_the_audio_is(sender: Any, kind: str | None, key: str | None) -> None:
    assert REALTIME.audio_key(sender, {"type": kind}) == key


def test_beta_names_and_back() -> None:
    assert ga_type("response.audio.delta") == "response.output_audio.delta"
    assert ga_type("response.output_audio.delta") == "response.output_audio.delta"
    assert ga_type("no.such") == "no.such"
    assert {BETA_TO_GA[beta] for beta in BETA_TO_GA} == set(GA_TO_BETA)
    assert all(GA_TO_BETA[ga] == beta for beta, ga in BETA_TO_GA.items())


@pytest.mark.parametrize(
    ("event", "secrets"),
    [
        ({"session": {"client_secret": {"value": "ek_1", "expires_at": 1}}}, ["ek_1"]),
        ({"session": {"client_secret": "ek_2"}}, ["ek_2"]),
        ({"client_secret": {"value": "ek_3"}}, ["ek_3"]),
        ({"client_secret": "ek_4", "session": {"client_secret": "ek_5"}}, ["ek_4", "ek_5"]),
        ({"session": {"client_secret": {"value": ""}}}, []),
        ({"session": {"client_secret": {"value": None}}}, []),
        ({"session": None}, []),
        ({}, []),
    ],
)
def test_ephemeral_secrets_are_found(event: dict[str, Any], secrets: list[str]) -> None:
    assert REALTIME.secrets({"type": "session.created", **event}) == secrets


def test_all_audio_of_real_recordings_is_where_the_dialect_says(recordings: Path) -> None:
    """No other event carries long base64 at the top level."""
    for name in ("hf-speech-to-speech/session1.jsonl", "pydantic-ai/openai/test_audio_in_server_vad_turn.yaml"):
        for frame in import_file(recordings / name).trace.frames:
            event = frame.event() or {}
            key = REALTIME.audio_key(frame.sender, event)
            if key is not None:
                assert isinstance(event[key], str)
                assert event["type"] in AUDIO_DELTAS | {"input_audio_buffer.append"}
            else:
                long = [k for k, v in event.items() if isinstance(v, str) and len(v) > 1000 and " " not in v]
                assert long == [], event["type"]
