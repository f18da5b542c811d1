"""What a protocol's events mean, as far as storage and replay have to know. Pure functions of events."""

from typing import Any, Protocol

import msgspec

from simrt.audio import PCM24, AudioFormat
from simrt.trace import Sender

Event = dict[str, Any]


class Formats(msgspec.Struct):
    """The audio formats in force on one connection, in each direction."""

    input: AudioFormat = PCM24
    output: AudioFormat = PCM24


class Dialect(Protocol):
    """One protocol family."""

    name: str

    def audio_key(self, sender: Sender, event: Event) -> str | None:
        """The top-level key that holds base64 audio in this event, or None."""
        ...

    def update_formats(self, formats: Formats, sender: Sender, event: Event) -> None:
        """Note a change of the audio formats that this event brings into force (in place)."""
        ...

    def secrets(self, event: Event) -> list[str]:
        """Values in this event that are credentials (an ephemeral client secret, say)."""
        ...
