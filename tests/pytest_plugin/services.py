"""Small services to record from, and the script that one of them plays."""

import asyncio
import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
from websockets.sync.server import ServerConnection

from simrt.call import pick_up
from simrt.caller import Clip
from simrt.cassette.header import Word
from simrt.cassette.script import Pacing, Reply, Script, Turn
from simrt.replay.authored import author
from simrt.replay.server import serve as serve_replay


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
