"""What the recording proxy costs: added latency, CPU per frame, memory over a long call; and mitmproxy beside it.

    python tools/bench_proxy.py [--calls 20] [--seconds 15] [--minutes 60] [--json]

Client, service and proxy are processes of their own. A call sends a 20 ms append every 20 ms and gets 150 ms of audio
every 150 ms; each message carries the moment it was sent, so each direction's latency is measured by itself. Added
latency is the difference to the same calls without a proxy. The long call pushes the frames of `--minutes` of talk as
fast as they go. mitmproxy is taken from $MITMDUMP or the PATH, and left out when it is in neither.
"""

import argparse
import asyncio
import base64
import json
import logging
import os
import random
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from websockets.asyncio.client import connect
from websockets.asyncio.server import ServerConnection, serve

FRAME_S, CHUNK_S = 0.02, 0.15
MITM_MINUTES = 10.0  # it keeps the whole call in memory
TICKS = os.sysconf("SC_CLK_TCK")


def _audio(seconds: float) -> str:
    """Base64 of that much PCM16 at 24 kHz; noise, so that nothing compresses."""
    return base64.b64encode(random.Random(1).randbytes(round(seconds * 24000) * 2)).decode()


PLAIN: dict[str, Any] = {"compression": None, "max_size": None, "ping_interval": None}
APPEND, CHUNK = _audio(FRAME_S), _audio(CHUNK_S)


def _append() -> str:
    return f'{{"type":"input_audio_buffer.append","event_id":"{time.monotonic_ns()}","audio":"{APPEND}"}}'


def _delta() -> str:
    return f'{{"type":"response.output_audio.delta","event_id":"{time.monotonic_ns()}","delta":"{CHUNK}"}}'


def _age_us(message: str | bytes) -> float:
    """How long ago a message was sent."""
    now = time.monotonic_ns()
    assert isinstance(message, str)
    start = message.index('"event_id":"') + 12
    return (now - int(message[start : message.index('"', start)])) / 1000


async def service(port: int) -> None:
    """The upstream: paced audio for a paced call (`pace`), a chunk for every 7.5 appends otherwise."""

    async def handle(ws: ServerConnection) -> None:
        assert ws.request is not None
        paced = "pace" in ws.request.path
        ages: list[float] = []
        talker = asyncio.create_task(_talk(ws)) if paced else None
        received = 0
        async for message in ws:
            if isinstance(message, str) and message.startswith('{"type":"stats"'):
                if talker is not None:
                    talker.cancel()
                await ws.send(json.dumps({"type": "stats", "ages": ages, "received": received}))
                continue
            received += 1
            if paced:
                ages.append(_age_us(message))
            elif received % 15 in (7, 0):
                await ws.send(_delta())

    logging.getLogger("websockets").setLevel(logging.CRITICAL)  # a probe of the port is no error
    async with serve(handle, "127.0.0.1", port, compression=None, ping_interval=None):
        await asyncio.get_running_loop().create_future()


async def _talk(ws: ServerConnection) -> None:
    loop = asyncio.get_running_loop()
    due = loop.time() + random.random() * CHUNK_S
    while True:
        await asyncio.sleep(due - loop.time())
        await ws.send(_delta())
        due += CHUNK_S


async def paced_call(port: int, seconds: float) -> tuple[list[float], list[float]]:
    """One call at speaking pace: the latencies up and down in µs."""
    down: list[float] = []
    up: list[float] = []
    async with connect(
        f"ws://127.0.0.1:{port}/v1/realtime?pace=1", compression=None, max_size=None, ping_interval=None
    ) as ws:

        async def listen() -> None:
            async for message in ws:
                if isinstance(message, str) and message.startswith('{"type": "stats"'):
                    up.extend(json.loads(message)["ages"])
                    return
                down.append(_age_us(message))

        listener = asyncio.create_task(listen())
        loop = asyncio.get_running_loop()
        due = loop.time() + random.random() * FRAME_S
        for _ in range(round(seconds / FRAME_S)):
            await asyncio.sleep(due - loop.time())
            await ws.send(_append())
            due += FRAME_S
        await ws.send('{"type":"stats"}')
        await listener
    return up, down


async def long_call(port: int, minutes: float, pid: int) -> list[int]:
    """The frames of a long call, pushed; the RSS of `pid` in KiB at twenty moments on the way."""
    count = round(minutes * 60 / FRAME_S)
    samples: list[int] = []
    async with connect(f"ws://127.0.0.1:{port}/v1/realtime", **PLAIN) as ws:

        async def listen() -> None:
            async for message in ws:
                if isinstance(message, str) and message.startswith('{"type": "stats"'):
                    assert json.loads(message)["received"] == count
                    return

        listener = asyncio.create_task(listen())
        for index in range(count):
            await ws.send(_append())
            if index % (count // 20) == count // 40:
                samples.append(_rss_kib(pid))
        await ws.send('{"type":"stats"}')
        await listener
        samples.append(_rss_kib(pid))
    return samples


def _rss_kib(pid: int) -> int:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.split("VmRSS:")[1].split()[0])


def _peak_kib(pid: int) -> int:
    return int(Path(f"/proc/{pid}/status").read_text().split("VmHWM:")[1].split()[0])


def _cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@contextmanager
def _process(argv: list[str], port: int) -> Iterator[int]:
    """A process that is ended with SIGTERM; entered when its port answers; gives its pid."""
    child = subprocess.Popen(argv, stdout=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 30
        while True:
            with socket.socket() as probe:
                if probe.connect_ex(("127.0.0.1", port)) == 0:
                    break
            if child.poll() is not None or time.monotonic() > deadline:
                raise SystemExit(f"{argv[0]} did not come up on port {port}")
            time.sleep(0.05)
        yield child.pid
    finally:
        child.terminate()
        child.wait(timeout=120)


def _percentiles(values: list[float]) -> dict[str, float]:
    cuts = statistics.quantiles(values, n=1000, method="inclusive")
    return {"p50_us": round(cuts[499], 1), "p99_us": round(cuts[989], 1), "max_us": round(max(values), 1)}


async def _paced(port: int, calls: int, seconds: float) -> dict[str, Any]:
    results = await asyncio.gather(*(paced_call(port, seconds) for _ in range(calls)))
    up = [age for result in results for age in result[0]]
    down = [age for result in results for age in result[1]]
    return {"up": _percentiles(up), "down": _percentiles(down), "frames": len(up) + len(down)}


def _measure(
    argv: list[str],
    port: int,
    args: argparse.Namespace,
    direct: dict[str, Any],
    minutes: float,
    out: Path | None = None,
) -> dict[str, Any]:
    """The paced calls and one of so many minutes through the proxy that `argv` starts; `out`: its cassette's place."""
    with _process(argv, port) as pid:
        before = _cpu_s(pid)
        paced = asyncio.run(_paced(port, args.calls, args.seconds))
        paced["cpu_us_per_frame"] = round((_cpu_s(pid) - before) / paced["frames"] * 1e6, 1)
        for way in ("up", "down"):
            for cut in ("p50_us", "p99_us"):
                paced[way]["added_" + cut] = round(paced[way][cut] - direct[way][cut], 1)
    result: dict[str, Any] = {"paced": paced}
    if minutes:
        if out is not None:
            shutil.rmtree(out)
        with _process(argv, port) as pid:
            before, began = _cpu_s(pid), time.monotonic()
            rss = asyncio.run(long_call(port, minutes, pid))
            frames = round(minutes * 60 / FRAME_S * (1 + 2 / 15))
            result["long"] = {
                "minutes": minutes,
                "frames": frames,
                "wall_s": round(time.monotonic() - began, 1),
                "cpu_us_per_frame": round((_cpu_s(pid) - before) / frames * 1e6, 1),
                "rss_mib": [round(sample / 1024, 1) for sample in rss],
                "rss_growth_mib": round((rss[-1] - rss[1]) / 1024, 1),
            }
            ended = time.monotonic()
            while out is not None and not out.exists():
                time.sleep(0.05)
            result["long"]["finish_s"] = round(time.monotonic() - ended, 1)
            result["long"]["peak_mib"] = round(_peak_kib(pid) / 1024, 1)
    return result


def bench(args: argparse.Namespace) -> dict[str, Any]:
    """Everything; the result as plain data."""
    with tempfile.TemporaryDirectory(prefix="simrt-bench-") as name:
        folder, upstream, port = Path(name), _free_port(), _free_port()
        with _process([sys.executable, __file__, "--service", str(upstream)], upstream):
            direct = asyncio.run(_paced(upstream, args.calls, args.seconds))
            result: dict[str, Any] = {"calls": args.calls, "seconds": args.seconds, "direct": direct}
            out = folder / "call"
            argv = [sys.executable, __file__, "--proxy", str(port), str(upstream), str(out)]
            result["simrt"] = _measure(argv, port, args, direct, args.minutes, out)
            mitmdump = os.environ.get("MITMDUMP") or shutil.which("mitmdump")
            if mitmdump and not args.no_mitm:
                argv = [mitmdump, "-q", "--mode", f"reverse:http://127.0.0.1:{upstream}", "-p", str(port)]
                argv += ["--listen-host", "127.0.0.1", "-w", str(folder / "flows")]
                result["mitmproxy"] = _measure(argv, port, args, direct, min(args.minutes, MITM_MINUTES))
    return result


def show(result: dict[str, Any]) -> None:
    """The result for a person."""
    print(f"{result['calls']} calls at once, {result['seconds']:g} s each")
    for name in ("direct", "simrt", "mitmproxy"):
        paced = result.get(name, {}).get("paced", result.get(name))
        if not paced:
            continue
        for way in ("up", "down"):
            line = f"  {name:9} {way:4} p50 {paced[way]['p50_us']:7.0f} µs  p99 {paced[way]['p99_us']:7.0f} µs"
            if "added_p50_us" in paced[way]:
                line += f"   added {paced[way]['added_p50_us']:+.0f} / {paced[way]['added_p99_us']:+.0f} µs"
            print(line)
        if "cpu_us_per_frame" in paced:
            print(f"  {name:9} CPU  {paced['cpu_us_per_frame']} µs a frame")
        if "long" in result[name]:
            long = result[name]["long"]
            print(
                f"  {name:9} {long['minutes']:g} min call: {long['frames']} frames in {long['wall_s']} s, CPU "
                f"{long['cpu_us_per_frame']} µs a frame, RSS {long['rss_mib'][1]} → {long['rss_mib'][-1]} MiB, "
                f"{long['peak_mib']} MiB at most, {long['finish_s']} s to finish"
            )


async def _serve_proxy(port: int, upstream: int, out: str) -> None:
    from simrt.record import Proxy

    async with Proxy(f"ws://127.0.0.1:{upstream}", Path(out), port=port, overwrite=True) as proxy:
        await proxy.serve_forever()


def main(argv: Sequence[str] | None = None) -> int:
    """The command line; `--service` and `--proxy` are how it starts its own parts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=20)
    parser.add_argument("--seconds", type=float, default=15.0)
    parser.add_argument("--minutes", type=float, default=60.0, help="of the long call; 0 leaves it out")
    parser.add_argument("--no-mitm", action="store_true")
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--service", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--proxy", nargs=3, help=argparse.SUPPRESS)
    args = parser.parse_args(argv)
    if args.service is not None:
        asyncio.run(service(args.service))
    elif args.proxy is not None:
        asyncio.run(_serve_proxy(int(args.proxy[0]), int(args.proxy[1]), args.proxy[2]))
    else:
        result = bench(args)
        if args.json:
            print(json.dumps(result))
        else:
            show(result)
    return 0


if __name__ == "__main__":
    sys.exit(main())
