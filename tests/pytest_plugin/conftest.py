"""What the plugin's tests run: small clients in files of their own, and small services to record from."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pytest
from websockets.sync.server import ServerConnection, serve

from simrt.call import pick_up
from simrt.caller import Clip
from simrt.cassette.header import Header, Word
from simrt.cassette.script import Pacing, Reply, Script, Turn
from simrt.cassette.store import Cassette, save
from simrt.replay.authored import author
from simrt.replay.server import serve as serve_replay
from simrt.trace import Trace

CLIENTS = '''
import asyncio, base64, json
from websockets.asyncio.client import connect

async def greeter(line):
    """Hangs up once the session is ready."""
    async with connect(line.url, additional_headers=line.headers) as socket:
        await socket.send(json.dumps({"type": "session.update", "session": {"type": "realtime"}}))
        async for message in socket:
            if json.loads(message)["type"] == "session.updated":
                line.note("ready")
                return

async def talker(line):
    """Passes the caller on, plays what comes, hangs up when one reply has been heard."""
    async with connect(line.url, additional_headers=line.headers) as socket:
        await socket.send(json.dumps({"type": "session.update", "session": {"type": "realtime"}}))
        async def listen():
            async for frame in line.microphone:
                audio = base64.b64encode(frame).decode()
                await socket.send(json.dumps({"type": "input_audio_buffer.append", "audio": audio}))
        listening = asyncio.create_task(listen())
        async for message in socket:
            event = json.loads(message)
            if event["type"] == "response.output_audio.delta":
                line.speaker.play(base64.b64decode(event["delta"]))
            if event["type"] == "response.done":
                await line.speaker.drain()
                break
        listening.cancel()

async def breaks(line):
    """Fails, having talked for a while."""
    async with connect(line.url, additional_headers=line.headers) as socket:
        await asyncio.sleep(0.05)
        raise RuntimeError("out of order")
'''


@pytest.fixture
def project(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    """A project with `clients_here` to import, a cassette called "short", and no CI around it."""
    monkeypatch.delenv("CI", raising=False)
    pytester.makeini("[pytest]\nasyncio_default_fixture_loop_scope = function\n")
    pytester.makepyfile(clients_here=CLIENTS)
    pytester.syspathinsert()
    header = Header(how="authored", origin="a test")
    save(Cassette(header, Trace(), short_script()), pytester.path / "cassettes" / "short")
    return pytester


class Greeting:
    """A service that greets whoever connects, at once and without a sound. `calls` counts the connections."""

    def __init__(self) -> None:
        self.calls = 0
        self.url = ""

    def __call__(self, socket: ServerConnection) -> None:
        self.calls += 1
        session = {"id": f"sess_{self.calls:04}", "type": "realtime", "model": "greeter"}
        socket.send(json.dumps({"type": "session.created", "event_id": "event_1", "session": session}))
        for _ in socket:
            socket.send(json.dumps({"type": "session.updated", "event_id": "event_2", "session": session}))


@pytest.fixture
def greeting() -> Iterator[Greeting]:
    """A Greeting that listens on loopback."""
    service = Greeting()
    with serve(service, "127.0.0.1", 0) as server:
        service.url = f"ws://127.0.0.1:{server.socket.getsockname()[1]}/v1/realtime"
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield service
        server.shutdown()
        thread.join()


def hum(duration_ms: int, seed: int) -> np.ndarray:
    """Noise that can be told from other noise, 24 kHz."""
    return np.random.default_rng(seed).integers(-9000, 9000, duration_ms * 24).astype(np.int16)


def short_script() -> Script:
    """A call of one short turn and one short reply."""
    clip = Clip("hum", hum(400, 1), [Word("good", 0, 200), Word("day", 200, 400)], "good day")
    turn = Turn(clip.text, "pickup+100ms", clip.words, clip.samples, clip.name)
    reply = Reply("turn", "hello", [Word("hello", 0, 300)], hum(300, 2))
    return Script([turn, reply], Pacing(created_ms=10, ready_ms=20))


@contextmanager
def served(script: Script) -> Iterator[str]:
    """Its URL, while a thread serves a script in real time."""
    loop = asyncio.new_event_loop()
    ready = threading.Event()
    urls: list[str] = []
    score = author(script, "openai")

    async def main(stop: asyncio.Event) -> None:
        async def nobody(line: object) -> None:
            return None

        _, stage = pick_up(nobody, score)
        stage.ear = None
        server = await serve_replay(stage.accept)
        urls.append(f"ws://127.0.0.1:{server.sockets[0].getsockname()[1]}/v1/realtime")
        ready.set()
        await stop.wait()
        server.close()

    stop = asyncio.Event()
    thread = threading.Thread(target=lambda: loop.run_until_complete(main(stop)))
    thread.start()
    ready.wait(10)
    try:
        yield urls[0]
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join()
        loop.close()
