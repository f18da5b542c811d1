"""Kill the proxy at any instant: whatever it had forwarded is in the recovered cassette."""

import asyncio
import contextlib
import random
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from websockets.asyncio.client import ClientConnection, connect
from websockets.asyncio.server import ServerConnection, serve
from websockets.exceptions import ConnectionClosed

from simrt.cassette.journal import recover
from simrt.cassette.redact import Redactor
from simrt.cassette.store import load

pytestmark = pytest.mark.asyncio

PROXY = """
import asyncio, sys
from pathlib import Path
from simrt.record import Proxy

async def main():
    async with Proxy(sys.argv[1], Path(sys.argv[2])) as proxy:
        print(proxy.port, flush=True)
        await proxy.serve_forever()

asyncio.run(main())
"""


async def kill_at(instant: int, folder: Path, size: Callable[[], int]) -> None:
    """A call that runs as fast as it can both ways; SIGKILL when the client has received `instant` frames."""
    received: dict[str, list[str | bytes]] = {"client": [], "server": []}

    async def talk(ws: ServerConnection | ClientConnection, name: str) -> None:
        number = 0
        while True:
            await ws.send(f'{{"type":"{name}","number":{number},"text":"{"x" * size()}"}}')
            number += 1
            await asyncio.sleep(0)

    async def listen(ws: ServerConnection | ClientConnection, name: str) -> None:
        async for message in ws:
            received[name].append(message)
            if name == "server" and len(received[name]) == instant:
                child.kill()

    async def both(ws: ServerConnection | ClientConnection, name: str, other: str) -> None:
        with contextlib.suppress(ConnectionClosed):
            await asyncio.gather(talk(ws, name), listen(ws, other))

    async def handler(ws: ServerConnection) -> None:
        await both(ws, "server", "client")

    async with serve(handler, "127.0.0.1", 0) as service:
        upstream = f"ws://127.0.0.1:{service.sockets[0].getsockname()[1]}"
        argv = [sys.executable, "-c", PROXY, upstream, str(folder / "call")]
        child = await asyncio.create_subprocess_exec(*argv, stdout=asyncio.subprocess.PIPE)
        assert child.stdout is not None
        port = int(await child.stdout.readline())
        async with connect(f"ws://127.0.0.1:{port}/v1/realtime") as ws:
            await both(ws, "client", "server")
        assert await child.wait() == -9
    cassette = load(recover(folder / "call", redactor=Redactor(environ={})))
    assert len(received["server"]) >= instant
    for name, messages in received.items():
        recorded = [frame.payload for frame in cassette.trace.frames if frame.sender == name]
        assert recorded[: len(messages)] == messages, f"{name} frames are missing"
    assert any("recovered" in note for note in cassette.header.notes)


async def kill_many(count: int, folder: Path, seed: int) -> None:
    """Kill at `count` random instants of calls with frames of random sizes."""
    chance = random.Random(seed)
    for number in range(count):
        place = folder / str(number)
        place.mkdir()
        await kill_at(chance.randint(1, 400), place, lambda: chance.choice([0, 10, 1000, 30_000]))


async def test_nothing_is_lost_at_a_few_instants(tmp_path: Path) -> None:
    await kill_many(4, tmp_path, seed=1)


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_nothing_is_lost_at_a_hundred_instants(tmp_path: Path) -> None:
    await kill_many(100, tmp_path, seed=2)
