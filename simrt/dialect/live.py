"""OpenAI Live (`/v1/live/sessions`) and KugelAudio's fluid-1, which speaks it (protocol facts: OpenAI SDK 3.57 types).

One session has one audio format, for both directions. simrt.dialect.live_rules says what a server refuses,
simrt.dialect.live_events what it sends.
"""

from typing import Any

from simrt.audio import PCM24, AudioFormat, Encoding
from simrt.dialect.base import Event, Formats
from simrt.trace import Sender

ENCODINGS: dict[str, Encoding] = {"audio/pcm": "pcm16", "audio/pcmu": "ulaw", "audio/pcma": "alaw"}
RATES: dict[Encoding, tuple[int, ...]] = {"pcm16": (16000, 24000), "ulaw": (8000,), "alaw": (8000,)}

INPUT_AUDIO = "session.input_audio.append"
OUTPUT_AUDIO = "session.output_audio.delta"


def parse_format(value: Any) -> AudioFormat | None:
    """A format as a session states it (`{"type": "audio/pcm", "rate": 24000}`); None if Live does not have it.

    G.711 may come without its rate, since there is one only.
    """
    if not isinstance(value, dict):
        return None
    encoding = ENCODINGS.get(str(value.get("type")))
    if encoding is None:
        return None
    rate = value.get("rate", RATES[encoding][0] if encoding != "pcm16" else None)
    return AudioFormat(encoding, rate) if type(rate) is int and rate in RATES[encoding] else None


def session_format(session: Any) -> AudioFormat:
    """The format of a `session` object, sent or resolved; 24 kHz PCM16 when it names none that Live has."""
    audio = session.get("audio") if isinstance(session, dict) else None
    return parse_format(audio.get("format") if isinstance(audio, dict) else None) or PCM24


class Live:
    """The Live protocol family; the default is PCM16 at 24 kHz, both ways."""

    name = "live"

    def audio_key(self, sender: Sender, event: Event) -> str | None:
        """`audio` of an append (the server reflects it on a sideband connection), `delta` of the output."""
        kind = event.get("type")
        if kind == INPUT_AUDIO:
            return "audio"
        return "delta" if kind == OUTPUT_AUDIO and sender == "server" else None

    def update_formats(self, formats: Formats, sender: Sender, event: Event) -> None:
        """`session.start` asks for a format, and audio may follow it at once; `session.started` has the last word."""
        if event.get("type") == ("session.start" if sender == "client" else "session.started"):
            formats.input = formats.output = session_format(event.get("session"))

    def secrets(self, event: Event) -> list[str]:
        """Live events carry no credentials of the connection; the redactor knows those of tool servers by name."""
        return []
