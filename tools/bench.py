"""How fast simrt is beside its peers, as ratios measured in one run.

python -m tools.bench replay [--json]    a 70 s call in the World, on other virtual-time loops, and the client alone
python -m tools.bench replay --dialect live [--json]    the same call on a Live session, beside the Realtime one
python -m tools.bench proxy [--json]     what the recording proxy adds to 20 calls at once
python -m tools.bench explore [--json]   calls a second in a search, and what a second worker brings
"""

import argparse
import asyncio
import base64
import json
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import numpy as np
import websockets

from simrt.call import HEADERS, URL, Conversation, finish, run_call
from simrt.caller import Caller, Clock, Ear, Line, fixture_clip
from simrt.cassette.header import Header
from simrt.cassette.script import Reply, Script, Turn
from simrt.cassette.store import Cassette, save
from simrt.cues import says_of
from simrt.replay.build import score_of
from simrt.replay.score import Score
from simrt.replay.server import WebSocketServer
from simrt.stage import Stage
from simrt.trace import Trace
from simrt.wire import Link
from simrt.world import World

CALL_S = 70.0
ROUNDS = 7


def long_call(folder: Path) -> Path:
    """A cassette of 70 s on disk: four turns of the caller, four long replies."""
    asked, said = fixture_clip("booking"), fixture_clip("found-booking")
    speech = np.concatenate([said.samples, np.zeros(24000 * 13 - len(said.samples), np.int16)])
    steps: list[Turn | Reply] = []
    for number in range(4):
        cue = "pickup+300ms" if number == 0 else f"reply[{number - 1}].end+600ms"
        steps.append(Turn(f"{number} {asked.text}", cue, list(asked.words), asked.samples))
        steps.append(Reply(text=said.text, words=list(said.words), samples=speech[: 24000 * (12 + number % 2)]))
    return save(Cassette(Header(how="authored"), Trace(), Script(steps)), folder / "long-call")


async def client(line: Line) -> None:
    """The least that a voice client does: sends each 20 ms frame, plays what comes; ends after 70 s."""
    async with websockets.connect(line.url, compression=None, additional_headers=line.headers) as socket:
        await socket.send(json.dumps({"type": "session.update", "session": {"type": "realtime"}}))

        async def listen() -> None:
            async for message in socket:
                event = json.loads(message)
                if event["type"] == "response.output_audio.delta":
                    line.speaker.play(base64.b64decode(event["delta"]))

        listening = asyncio.create_task(listen())
        async for frame in line.microphone:
            audio = base64.b64encode(frame).decode()
            await socket.send(json.dumps({"type": "input_audio_buffer.append", "audio": audio}))
            if line.clock.now_us() >= CALL_S * 1_000_000:
                break
        listening.cancel()


class Mute:
    """A peer that answers nothing."""

    subprotocol: str | None = None

    def opened(self, link: Link) -> None:
        """Nothing."""

    def received(self, payload: str | bytes) -> None:
        """Nothing."""

    def closed(self, code: int, reason: str, by_client: bool) -> None:
        """Nothing."""

    def pong_late_us(self) -> int:
        """Never late."""
        return 0


def in_the_world(cassette: Path, score: Score) -> float:
    """The call as simrt runs it; seconds of CPU-bound real time."""
    begin = time.perf_counter()
    result = run_call(client, cassette)
    took = time.perf_counter() - begin
    _check(result.replies[-1].heard_ms, result.virtual_ms)
    return took


def alone(cassette: Path, score: Score) -> float:
    """The same client and caller in the World, against a peer that answers nothing."""
    return unanswered(client, score, URL)


def unanswered(client: Callable[[Line], Coroutine[Any, Any, None]], score: Score, url: str) -> float:
    """A client whose caller says the first line, against a peer that answers nothing; seconds of real time."""

    async def main() -> None:
        world.listen("*", lambda: WebSocketServer(lambda request: Mute()))
        line = Line.on(Clock(asyncio.get_running_loop()), url, HEADERS)
        says = [say for _, say in says_of(score)][:1]
        Caller(says, line, Ear(line.speaker)).start()
        await client(line)

    begin = time.perf_counter()
    world = World()
    world.run(main())
    return time.perf_counter() - begin


async def over_a_server(score: Score) -> None:
    """The same call over whatever network the running loop has."""
    loop = asyncio.get_running_loop()
    clock = Clock(loop)
    line = Line.on(clock, "", HEADERS)
    ear = Ear(line.speaker)
    stage = Stage(score, (), 0, clock, ear)
    server = await loop.create_server(lambda: WebSocketServer(stage.accept), "127.0.0.1", 8765)
    line.url = "ws://127.0.0.1:8765/v1/realtime"
    talk = Conversation(client, line, ear, score, (), [say for _, say in says_of(score)])
    try:
        await talk.run()
    finally:
        server.close()
    result = finish(talk, stage)
    _check(result.replies[-1].heard_ms, result.virtual_ms)


def on_async_solipsism(cassette: Path, score: Score) -> float:
    """The same engine and client on async-solipsism's loop and in-memory sockets."""
    import async_solipsism

    return _timed(async_solipsism.EventLoop(), over_a_server(score))


def on_looptime(cassette: Path, score: Score) -> float:
    """The same engine and client on looptime's loop, over loopback sockets."""
    import looptime

    return _timed(looptime.new_event_loop(start=0, idle_timeout=None), over_a_server(score))


def _timed(loop: asyncio.AbstractEventLoop, main: Coroutine[Any, Any, None]) -> float:
    begin = time.perf_counter()
    try:
        loop.run_until_complete(main)
        return time.perf_counter() - begin
    finally:
        loop.close()


def _check(heard_ms: float, virtual_ms: float) -> None:
    if virtual_ms < CALL_S * 1000 or heard_ms < 5000:
        raise SystemExit(f"the benchmark's call went wrong: {virtual_ms} ms, {heard_ms} ms of the last reply heard")


CONTESTANTS: dict[str, Callable[[Path, Score], float]] = {
    "simrt": in_the_world,
    "client_alone": alone,
    "async_solipsism": on_async_solipsism,
    "looptime": on_looptime,
}


def replay() -> dict[str, Any]:
    """All contestants in turns, so that a noisy machine is noisy for all; the best and the median of the rounds."""
    with tempfile.TemporaryDirectory() as folder:
        return _measure(long_call(Path(folder)))


def rows_of(times: dict[str, list[float]]) -> dict[str, dict[str, float]]:
    """What is reported of each contestant: the best and the median of its rounds, in s, and how fast the best is."""
    return {
        name: {
            "seconds": round(min(took), 4),
            "median_seconds": round(statistics.median(took), 4),
            "times_real_time": round(CALL_S / min(took), 1),
        }
        for name, took in times.items()
    }


def _measure(cassette: Path) -> dict[str, Any]:
    score = score_of(cassette)
    times: dict[str, list[float]] = {}
    errors: dict[str, str] = {}
    for number in range(ROUNDS + 1):
        for name, run in CONTESTANTS.items():
            if name in errors or (name in ("async_solipsism", "looptime") and number > 3):
                continue
            try:
                took = run(cassette, score)
            except Exception as error:
                errors[name] = f"{type(error).__name__}: {error}"
                continue
            if number:  # the first round pays for imports and caches
                times.setdefault(name, []).append(took)
    rows = rows_of(times)
    best = {name: min(took) for name, took in times.items()}
    ratios = {f"{name}_over_simrt": round(best[name] / best["simrt"], 2) for name in best if name != "simrt"}
    if "client_alone" in best:
        ratios["simrt_over_client_alone"] = round(best["simrt"] / best["client_alone"], 2)
    return {"call_seconds": CALL_S, "rounds": ROUNDS, "contestants": rows, "ratios": ratios, "errors": errors}


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["replay", "proxy", "explore"])
    parser.add_argument("--json", action="store_true", help="one JSON object")
    parser.add_argument("--dialect", choices=["realtime", "live"], default="realtime", help="for replay")
    options, rest = parser.parse_known_args()
    rest += ["--json"] if options.json else []
    if options.what == "proxy":
        from tools import bench_proxy

        return bench_proxy.main(rest)
    if options.what == "explore":
        from tools import bench_explore

        return bench_explore.main(rest)
    if options.dialect == "live":
        from tools import bench_live

        report = bench_live.report()
    else:
        report = replay()
    if options.json:
        print(json.dumps(report))
    else:
        for name, row in report["contestants"].items():
            print(f"{name:16} {row['seconds']:8.4f} s  {row['times_real_time']:8.1f} × real time")
        for name, ratio in {**report["ratios"], **report["errors"]}.items():
            print(f"{name:30} {ratio}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
