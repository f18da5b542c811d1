"""What the plugin's tests run: a project with small clients and a cassette, and a service to record from."""

import threading
from collections.abc import Iterator

import pytest
from websockets.sync.server import serve

from simrt.cassette.header import Header
from simrt.cassette.store import Cassette, save
from simrt.trace import Trace
from tests.pytest_plugin.services import Greeting, short_script

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
