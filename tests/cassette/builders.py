"""Small cassettes to test with."""

import base64
import json

import numpy as np

from simrt.cassette.header import Header
from simrt.cassette.store import Cassette
from simrt.trace import Closing, Frame, Mark, Opening, Trace

CLOSED = Closing(90_000, 1000, "bye", "client")


def pcm(samples: int, seed: int = 0) -> bytes:
    return np.random.default_rng(seed).integers(-9000, 9000, samples).astype("<i2").tobytes()


def append(data: bytes) -> str:
    return json.dumps({"type": "input_audio_buffer.append", "audio": base64.b64encode(data).decode()})


def delta(data: bytes) -> str:
    audio = base64.b64encode(data).decode()
    return json.dumps({"type": "response.output_audio.delta", "delta": audio, "item_id": "item_1"})


def session(input: dict[str, object], output: dict[str, object] | None = None) -> str:
    audio = {"input": {"format": input}, "output": {"format": output or input}}
    return json.dumps({"type": "session.updated", "session": {"audio": audio}})


def cassette_of(
    *payloads: tuple[str, str | bytes], dialect: str = "realtime", closing: Closing | None = CLOSED
) -> Cassette:
    """A cassette with these (sender, payload) pairs, one a millisecond."""
    frames = [Frame(1000 * i, sender, payload) for i, (sender, payload) in enumerate(payloads)]  # type: ignore[arg-type]
    return Cassette(Header(dialect=dialect), Trace(frames=frames, closing=closing))


def small_call() -> Cassette:
    cassette = cassette_of(
        ("server", '{"type":"session.created","session":{"id":"sess_1"}}'),
        ("client", append(pcm(480, 1))),
        ("server", delta(pcm(2400, 2))),
        ("client", append(pcm(480, 3))),
        ("server", b"\x00\xffbinary"),
        ("server", "no json {"),
    )
    cassette.trace.opening = Opening(url="wss://example.org/v1/realtime", headers=[("User-Agent", "test")])
    cassette.trace.marks = [Mark(1500, "fault", {"name": "stall", "ms": 500}), Mark(1500, "cleared")]
    return cassette
