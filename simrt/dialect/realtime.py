"""OpenAI Realtime, GA and beta names, with PolyAI's and Azure's habits (protocol facts: OpenAI SDK 3.57 types)."""

from typing import Any

from simrt.audio import AudioFormat, Encoding
from simrt.dialect.base import Event, Formats
from simrt.trace import Sender

AUDIO_DELTAS = frozenset({"response.output_audio.delta", "response.audio.delta"})

BETA_TO_GA = {
    "response.audio.delta": "response.output_audio.delta",
    "response.audio.done": "response.output_audio.done",
    "response.audio_transcript.delta": "response.output_audio_transcript.delta",
    "response.audio_transcript.done": "response.output_audio_transcript.done",
    "response.text.delta": "response.output_text.delta",
    "response.text.done": "response.output_text.done",
}
GA_TO_BETA = {ga: beta for beta, ga in BETA_TO_GA.items()}

_GA_ENCODINGS: dict[str, Encoding] = {"audio/pcm": "pcm16", "audio/pcmu": "ulaw", "audio/pcma": "alaw"}
_BETA_FORMATS = {
    "pcm16": AudioFormat(),
    "g711_ulaw": AudioFormat("ulaw", 8000),
    "g711_alaw": AudioFormat("alaw", 8000),
}


def ga_type(kind: str) -> str:
    """The GA name of an event type; GA and unknown names come back as they are."""
    return BETA_TO_GA.get(kind, kind)


def parse_format(value: Any) -> AudioFormat | None:
    """A format as a session states it: GA object (`{"type": "audio/pcm", "rate": 24000}`) or beta name; None if
    unknown."""
    if isinstance(value, str):
        return _BETA_FORMATS.get(value)
    if isinstance(value, dict):
        encoding = _GA_ENCODINGS.get(str(value.get("type")))
        if encoding is not None:
            if encoding != "pcm16":
                return AudioFormat(encoding, 8000)  # G.711 has no other rate, whatever is left over from before
            rate = value.get("rate")
            return AudioFormat(encoding, rate if isinstance(rate, int) and rate > 0 else 24000)
    return None


def apply_session(formats: Formats, session: Any) -> None:
    """Take over the formats that a `session` object names; what it does not name stays."""
    if not isinstance(session, dict):
        return
    audio = session.get("audio")
    audio = audio if isinstance(audio, dict) else {}
    for side, beta_key in (("input", "input_audio_format"), ("output", "output_audio_format")):
        half = audio.get(side)
        stated = half.get("format") if isinstance(half, dict) else session.get(beta_key)
        found = parse_format(stated)
        if found is not None:
            setattr(formats, side, found)


class Realtime:
    """The Realtime protocol family; the default input and output are PCM16 at 24 kHz."""

    name = "realtime"

    def audio_key(self, sender: Sender, event: Event) -> str | None:
        kind = event.get("type")
        if sender == "client":
            return "audio" if kind == "input_audio_buffer.append" else None
        return "delta" if kind in AUDIO_DELTAS else None

    def update_formats(self, formats: Formats, sender: Sender, event: Event) -> None:
        """The server's word counts: `session.created` and `session.updated`."""
        if sender == "server" and event.get("type") in ("session.created", "session.updated"):
            apply_session(formats, event.get("session"))

    def secrets(self, event: Event) -> list[str]:
        """Ephemeral client secrets: `client_secret` as a string or as `{"value": …}`, in the session or beside it."""
        found: list[str] = []
        session = event.get("session")
        for holder in (event, session if isinstance(session, dict) else {}):
            secret = holder.get("client_secret")
            if isinstance(secret, dict):
                secret = secret.get("value")
            if isinstance(secret, str) and secret:
                found.append(secret)
        return found
