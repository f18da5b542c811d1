"""Record the shipped cassettes anew: `python -m tools.record_cassettes [NAME…]`.

The stand-in front desk is served in real time on a loopback socket, the right client calls it through the recording
proxy, and what the proxy wrote is put into cassettes/. Beside them one script is written down as an authored cassette.
All calls run at once, so it takes as long as the longest.
"""

import argparse
import asyncio
import shutil
import tempfile
from pathlib import Path

from clients.call import Call
from simrt.cassette.store import save
from simrt.scripts import SCRIPTS, authored
from simrt.standin import record_stand_in

CASSETTES = Path(__file__).resolve().parent.parent / "cassettes"


async def record(name: str) -> str:
    """Record one call; one line about it."""
    script = SCRIPTS[name]()
    with tempfile.TemporaryDirectory() as folder:
        path, result = await record_stand_in(script, Call, Path(folder) / name)
        target = CASSETTES / name
        shutil.rmtree(target, ignore_errors=True)
        shutil.move(path, target)
    heard = ", ".join(f"{reply.heard_ms:.0f} of {reply.audio_ms:.0f} ms" for reply in result.replies)
    return (
        f"{name}: {result.virtual_ms / 1000:.1f} s, ready after {result.ready_ms} ms, heard {heard}; {result.verdict}"
    )


async def main() -> None:
    """Record all that were asked for at once."""
    parser = argparse.ArgumentParser(description="Record the shipped cassettes from the stand-in.")
    parser.add_argument("names", nargs="*", choices=[[], *SCRIPTS], help="which (default: all)")
    names = parser.parse_args().names or list(SCRIPTS)
    save(authored("front-desk"), CASSETTES / "front-desk-authored", overwrite=True)
    for line in asyncio.as_completed([record(name) for name in names]):
        print(await line, flush=True)


if __name__ == "__main__":
    asyncio.run(main())
