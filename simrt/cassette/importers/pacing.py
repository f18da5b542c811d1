"""Times for recordings that only kept the order.

The caller's audio goes out as a microphone gives it: each piece when it is complete, so a piece of 100 ms follows the
one before by 100 ms. Every other frame follows the frame before it, caller audio not counted, by a delay from a table
measured on gpt-realtime sessions; a speech event follows the audio that it answers. The order never changes, so no
speech event comes before the audio that it speaks of.
"""

import binascii

from simrt.dialect import Dialect, Formats
from simrt.dialect.realtime import AUDIO_DELTAS
from simrt.trace import Sender, parse_event

CUT_CHUNK_MS = 100
"""How long a piece of caller audio lasted whose rest was cut off at the source."""

NOTE = (
    "times are not measured: caller audio is paced as it sounds (a piece that was cut counts "
    f"{CUT_CHUNK_MS} ms), other frames follow the one before by typical delays"
)

_DEFAULT_MS = 5
_DELAYS_MS = {
    "session.created": 60,
    "session.updated": 50,
    "input_audio_buffer.speech_started": 20,
    "input_audio_buffer.speech_stopped": 20,
    "response.output_item.added": 300,
    "response.function_call_arguments.delta": 15,
    "rate_limits.updated": 30,
}
_ANSWER_AUDIO = frozenset({"input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped"})
_CREATED_MS = 93
"""From the client's `response.create` to `response.created`."""
_FIRST_AUDIO_MS = 120
"""From a response's first transcript to its first audio."""
_NEXT_AUDIO_MS = 20


def pace(messages: list[tuple[Sender, str]], dialect: Dialect, *, cut: bool) -> list[int]:
    """A time in µs for each message, never going backwards. `cut`: the caller's audio is not whole."""
    formats = Formats()
    now = anchor = 0
    before: Sender = "server"
    audible = False
    times: list[int] = []
    microphone: int | None = None
    for sender, text in messages:
        event = parse_event(text) or {}
        kind = event.get("type")
        dialect.update_formats(formats, sender, event)
        key = dialect.audio_key(sender, event)
        value = event.get(key) if key else None
        if sender == "client" and isinstance(value, str):
            piece = CUT_CHUNK_MS * 1000 if cut else formats.input.duration_us(_size(value))
            microphone = (now if microphone is None else microphone) + piece
            now = microphone = max(now, microphone)
        else:
            delay = _DELAYS_MS.get(str(kind), _DEFAULT_MS)
            if kind == "response.created":
                audible = False
                delay = _CREATED_MS if before == "client" else _DEFAULT_MS
            elif kind in AUDIO_DELTAS:
                delay = _NEXT_AUDIO_MS if audible else _FIRST_AUDIO_MS
                audible = True
            base = now if kind in _ANSWER_AUDIO else anchor
            now = anchor = max(now, base + delay * 1000)
        before = sender
        times.append(now)
    return times


def _size(value: str) -> int:
    try:
        return len(binascii.a2b_base64(value))
    except ValueError:
        return 0
