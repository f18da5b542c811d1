"""OpenAI Live sessions as JSON lines: `{"t": 1174, "dir": "out" | "in", "event": {…}}`, ms, seen from the client.

Audio is known by its size only (`"audioBytes": 2400`): silence of that length is put in, 24 kHz PCM16.
"""

import base64

import msgspec

from simrt.cassette.importers.common import Rows, Source
from simrt.trace import Frame, Sender

KEYS = frozenset({"t", "dir", "event"})

DIALECT = "live"

_AUDIO_KEYS: dict[Sender, str] = {"client": "audio", "server": "delta"}
_MAX_BYTES = 16 << 20


def parse(rows: Rows) -> Source:
    frames = []
    counted: set[Sender] = set()
    for number, t_us, sender, rest in rows.timed("t", 1000):
        if set(rest) != {"event"}:
            raise rows.error(number, f"holds {', '.join(sorted(rest)) or 'no event'} instead of just an event")
        text = bytes(rest["event"]).decode()
        if '"audioBytes"' in text:
            try:
                text = _with_silence(text, _AUDIO_KEYS[sender])
            except (msgspec.MsgspecError, ValueError) as error:
                raise rows.error(number, f"its audioBytes are no size: {error}; mend or remove the line") from None
            counted.add(sender)
        elif not text.startswith("{"):
            raise rows.error(number, "its event is no object; mend or remove the line")
        frames.append(Frame(t_us, sender, text))
    notes = [*rows.notes, "the source does not say how the connection ended"]
    if counted:
        notes.append("the source has byte counts instead of audio: silence of that length was put in")
    return Source(
        rows.file,
        frames,
        dialect=DIALECT,
        caller_audio="counts" if "client" in counted else None,
        agent_audio="counts" if "server" in counted else None,
        notes=notes,
    )


def _with_silence(text: str, key: str) -> str:
    """The event with base64 silence under `key`, where its `audioBytes` stood."""
    members = msgspec.json.decode(text, type=dict[str, msgspec.Raw])
    size = msgspec.json.decode(members["audioBytes"], type=int)
    if not 0 <= size <= _MAX_BYTES:
        raise ValueError(f"{size} bytes")
    silence = msgspec.Raw(f'"{base64.b64encode(bytes(size)).decode()}"')
    filled = {
        key if name == "audioBytes" else name: silence if name == "audioBytes" else value
        for name, value in members.items()
    }
    return msgspec.json.encode(filled).decode()
