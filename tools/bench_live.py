"""The 70 s call of tools.bench on a Live session: in the World, the client alone, and the Realtime call beside it."""

import asyncio
import base64
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import websockets

from simrt.call import LIVE_URL, run_call
from simrt.caller import Line, fixture_clip
from simrt.cassette.header import Header
from simrt.cassette.script import Delegate, Pacing, Reply, Script, Step, Turn
from simrt.cassette.store import Cassette, save
from simrt.replay.build import score_of
from simrt.trace import Trace
from tools import bench

FACTS = "I found Okafor's booking."


def long_call(folder: Path) -> Path:
    """A cassette of 70 s on disk: four turns of the caller, each delegated, four long answers."""
    asked, said = fixture_clip("booking"), fixture_clip("found-booking")
    speech = np.concatenate([said.samples, np.zeros(24000 * 13 - len(said.samples), np.int16)])
    steps: list[Step] = []
    for number in range(4):
        cue = "pickup+600ms" if number == 0 else f"reply[{number - 1}].end+600ms"
        steps += [
            Turn(f"{number} {asked.text}", cue, list(asked.words), asked.samples),
            Delegate(),
            Reply("commentary", said.text, list(said.words), speech[: 24000 * (12 + number % 2)], content=FACTS),
        ]
    script = Script(steps, Pacing(ready_ms=450), "live")
    return save(Cassette(Header(how="authored", dialect="live"), Trace(), script), folder / "long-live-call")


async def client(line: Line) -> None:
    """The least that a Live client does: sends each 20 ms frame, plays each delta, answers; ends after 70 s."""
    async with websockets.connect(line.url, compression=None, additional_headers=line.headers) as socket:
        await socket.send(json.dumps({"type": "session.start", "session": {"model": "gpt-live-1"}}))

        async def listen() -> None:
            async for message in socket:
                event = json.loads(message)
                if event["type"] == "session.output_audio.delta":
                    line.speaker.play(base64.b64decode(event["delta"]))
                elif event["type"] == "session.delegation.created":
                    answer = {"type": "session.commentary.append", "content": FACTS}
                    await socket.send(json.dumps({**answer, "delegation_id": event["delegation"]["id"]}))

        listening = asyncio.create_task(listen())
        async for frame in line.microphone:
            audio = base64.b64encode(frame).decode()
            await socket.send(json.dumps({"type": "session.input_audio.append", "audio": audio}))
            if line.clock.now_us() >= bench.CALL_S * 1_000_000:
                break
        listening.cancel()


def live_call(cassette: Path) -> float:
    """The call on Live; seconds of real time."""
    begin = time.perf_counter()
    result = run_call(client, cassette)
    took = time.perf_counter() - begin
    if result.virtual_ms < bench.CALL_S * 1000 or result.replies[2].heard_ms < 11_000:
        raise SystemExit(f"the benchmark's call went wrong: {result.virtual_ms} ms, {result.verdict}")
    return took


def report() -> dict[str, Any]:
    """Live, Realtime and the client alone in turns, so that a noisy machine is noisy for all."""
    with tempfile.TemporaryDirectory() as name:
        live, realtime = long_call(Path(name)), bench.long_call(Path(name))
        score = score_of(realtime)
        runs: dict[str, Callable[[], float]] = {
            "simrt": lambda: live_call(live),
            "client_alone": lambda: bench.unanswered(client, score_of(live), LIVE_URL),
            "realtime": lambda: bench.in_the_world(realtime, score),
        }
        times: dict[str, list[float]] = {key: [] for key in runs}
        for number in range(bench.ROUNDS + 1):
            for key, run in runs.items():
                took = run()
                if number:  # the first round pays for imports and caches
                    times[key].append(took)
    best = {key: min(took) for key, took in times.items()}
    ratios = {
        "realtime_over_live": round(best["realtime"] / best["simrt"], 2),
        "simrt_over_client_alone": round(best["simrt"] / best["client_alone"], 2),
    }
    return {
        "dialect": "live",
        "call_seconds": bench.CALL_S,
        "rounds": bench.ROUNDS,
        "contestants": bench.rows_of(times),
        "ratios": ratios,
        "errors": {},
    }
