"""A protocol that simrt knows nothing about: frames are kept and answered by order alone."""

from simrt.dialect.base import Event, Formats
from simrt.trace import Sender


class Generic:
    """Happens-before is all that is known: a server frame's cause is the latest client frame."""

    name = "generic"

    def audio_key(self, sender: Sender, event: Event) -> str | None:
        return None

    def update_formats(self, formats: Formats, sender: Sender, event: Event) -> None:
        return None

    def secrets(self, event: Event) -> list[str]:
        return []
