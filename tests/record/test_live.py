"""A Live session, recorded over real sockets from the official SDK and from a client that has its key in a
subprotocol."""

import asyncio
import base64
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from websockets.asyncio.server import ServerConnection

from simrt.cassette.store import Cassette, load
from simrt.dialect import live_events as made
from simrt.dialect.live_rules import Rules

from .conftest import Bench, Make, finished
from .test_secrets import files

openai = pytest.importorskip("openai", reason="the OpenAI SDK is in the [test] extra")

pytestmark = pytest.mark.asyncio

KEY = "ka_7c1d0e5b9a2f4e6d8c3b"
OFFERED = ["openai-live", f"openai-insecure-api-key.{KEY}"]
FRAMES = 5
RATE = 16000
START = {
    "model": "fluid-1",
    "instructions": "You answer the phone for a parcel service.",
    "audio": {"format": {"type": "audio/pcm", "rate": RATE}},
    "delegation": {"type": "client"},
    "kugel": {},
}


class Service:
    """A Live server in a few lines: it answers each frame of audio with one of silence, delegates once, and says what
    it was sent."""

    def __init__(self) -> None:
        self.requests: list[Any] = []
        self._ids = 0

    def _id(self) -> str:
        self._ids += 1
        return f"event_{self._ids}"

    async def __call__(self, ws: ServerConnection) -> None:
        self.requests.append(ws.request)
        rules = Rules("kugel")

        async def send(event: dict[str, Any]) -> None:
            await ws.send(json.dumps(event))

        async for message in ws:
            event = json.loads(message)
            kind, ours = event["type"], event.get("event_id")
            problem = rules.refuse(event)
            if problem is not None:
                await send(made.error(self._id(), problem, ours))
            elif kind == "session.start":
                await send(made.started(self._id(), rules.start(event, "live_1", 1_800_000_000), ours))
                await send(made.delegation_created(self._id(), "item_1", 0))
                rules.delegated("item_1")
            elif kind == "session.input_audio.append":
                await send({"type": "session.output_audio.delta", "delta": base64.b64encode(bytes(640)).decode()})
            elif kind == "session.commentary.append":
                await send(made.appended(self._id(), "commentary", 0, 200, ours))
                await send(made.transcript(self._id(), "output", event["content"], 0, 200))
            elif kind == "session.close":
                await send(made.closed(self._id(), "close_requested", rules.session or {}, 1, ours))
                return


def microphone() -> list[bytes]:
    noise = np.random.default_rng(4711).integers(-9000, 9000, FRAMES * 320).astype("<i2").tobytes()
    return [noise[at : at + 640] for at in range(0, len(noise), 640)]


async def with_sdk(bench: Bench) -> list[str]:
    """The whole session with AsyncOpenAI().live; the kinds of event that came."""
    kinds: list[str] = []
    client = openai.AsyncOpenAI(api_key=KEY, base_url=f"{bench.proxy.url}/v1")
    async with client.live.connect(websocket_connection_options={"subprotocols": OFFERED}) as connection:
        assert connection._connection.subprotocol == "openai-live"
        await connection.session.start(session=START, event_id="start-1")
        async for event in connection:
            kinds.append(event.type)
            if event.type == "session.started":
                assert event.client_event_id == "start-1"
                for frame in microphone():
                    await connection.session.input_audio.append(audio=base64.b64encode(frame).decode())
            elif event.type == "session.delegation.created":
                content, delegation_id = f"My key is {KEY}.", event.delegation.id
                await connection.session.commentary.append(content=content, delegation_id=delegation_id)
            elif event.type == "session.output_transcript.delta":
                await connection.session.close()
            elif event.type == "session.closed":
                assert event.session.model == "fluid-1"
    await client.close()
    return kinds


async def test_the_sdk_through_the_proxy(bench: Make, tmp_path: Path) -> None:
    service = Service()
    async with bench(service, server={"subprotocols": ["openai-live"]}, profile="kugel") as b:
        kinds = await asyncio.wait_for(with_sdk(b), 20)
        assert KEY.encode() not in files(tmp_path), "nor while it records"
        (cassette,) = await finished(b)
    assert kinds.count("session.output_audio.delta") == FRAMES
    assert kinds[-1] == "session.closed"
    (request,) = service.requests
    assert request.path == "/v1/live/sessions"
    assert request.headers["Sec-WebSocket-Protocol"].split(", ") == OFFERED
    assert request.headers["Authorization"] == f"Bearer {KEY}"
    check(cassette, tmp_path)
    assert dict(cassette.trace.opening.headers)["Authorization"] == "<redacted>"
    assert cassette.trace.closing is not None


def check(cassette: Cassette, tmp_path: Path) -> None:
    """The cassette is a Live one with both tracks, and has the key nowhere."""
    header, opening = cassette.header, cassette.trace.opening
    assert (header.dialect, header.profile) == ("live", "kugel")
    assert (opening.subprotocols, opening.subprotocol) == (
        ["openai-live", "openai-insecure-api-key.<redacted>"],
        "openai-live",
    )
    assert "subprotocol:openai-insecure-api-key" in header.redacted
    assert KEY.encode() not in files(tmp_path)
    events = [(frame.sender, frame.event() or {}) for frame in cassette.trace.frames]
    sent = [event["audio"] for sender, event in events if event["type"] == "session.input_audio.append"]
    assert b"".join(map(base64.b64decode, sent)) == b"".join(microphone())


async def test_a_key_that_is_in_a_subprotocol_only(bench: Make, tmp_path: Path) -> None:
    """The key is learnt from the handshake: where the service repeats it, it is replaced too."""
    service = Service()
    async with bench(service, server={"subprotocols": ["openai-live"]}, profile="kugel") as b:
        async with b.connect("/v1/live/sessions", subprotocols=OFFERED) as ws:
            assert ws.subprotocol == "openai-live"
            await ws.send(json.dumps({"type": "session.start", "session": START}))
            for frame in microphone():
                audio = base64.b64encode(frame).decode()
                await ws.send(json.dumps({"type": "session.input_audio.append", "audio": audio}))
            await ws.send(json.dumps({"type": "session.commentary.append", "content": f"The key {KEY}."}))
            await ws.send(json.dumps({"type": "session.close", "event_id": KEY}))
            answers = [json.loads(message) async for message in ws]
        assert answers[-1]["client_event_id"] == KEY, "what passes through is not touched"
        (cassette,) = await finished(b)
    assert "Authorization" not in service.requests[0].headers
    check(cassette, tmp_path)
    closed = cassette.trace.frames[-1].event() or {}
    assert (closed["type"], closed["client_event_id"]) == ("session.closed", "<redacted>")


async def test_each_sides_audio_is_in_its_track(bench: Make, tmp_path: Path) -> None:
    async with bench(Service(), server={"subprotocols": ["openai-live"]}, profile="kugel") as b:
        await asyncio.wait_for(with_sdk(b), 20)
        (cassette,) = await finished(b)
    lines = (tmp_path / "call" / "cassette.jsonl").read_text()
    assert base64.b64encode(microphone()[0]).decode() not in lines, "a reference stands for it"
    loaded = load(tmp_path / "call")
    assert [frame.payload for frame in loaded.trace.frames] == [frame.payload for frame in cassette.trace.frames]
    names = sorted(path.name for path in (tmp_path / "call").iterdir())
    assert names == ["agent.flac", "caller.flac", "cassette.jsonl"]
    import soundfile

    samples, rate = soundfile.read(tmp_path / "call" / "caller.flac", dtype="int16")
    assert rate == RATE
    assert samples.tobytes() == b"".join(microphone())
