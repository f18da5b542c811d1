"""Record the shipped cassettes anew: `python -m tools.record_cassettes [NAME…]`.

The stand-in is served in real time on a loopback socket, the right client calls it through the recording proxy, and
what the proxy wrote is put into cassettes/. Beside them one script is written down as an authored cassette. All calls
run at once, so it takes as long as the longest.
"""

import argparse
import asyncio
import shutil
import tempfile
from pathlib import Path
from typing import Any

from clients.call import Call
from clients.parcel.parcel import Parcel
from clients.parcel.trial import ParcelTrial
from clients.refund import RefundDesk
from clients.refund.trial import RefundTrial
from simrt import CallResult, run_call
from simrt.cassette.store import save
from simrt.scripts import SCRIPTS, authored
from simrt.scripts.front_desk import FRONT_DESK
from simrt.scripts.parcel import PARCEL
from simrt.standin import record_stand_in

CASSETTES = Path(__file__).resolve().parent.parent / "cassettes"


def client_for(name: str, folder: Path) -> Any:
    """Who takes the call: the front desk, the parcel service with an order book, or the refund desk with a ledger (and
    the call of the day before)."""
    if name in FRONT_DESK:
        return Call
    if name in PARCEL:
        return ParcelTrial(Parcel, name, folder).client

    def call(client: Any, script: str, **options: Any) -> CallResult:
        return run_call(client, authored(script), **options)

    trial = RefundTrial(RefundDesk, name, folder)
    trial.provider.jitter_s = 0.0
    trial.prepare(call)
    return trial.client


async def record(name: str, client: Any, folder: Path) -> str:
    """Record one call; one line about it."""
    path, result = await record_stand_in(SCRIPTS[name](), client, folder / name)
    target = CASSETTES / name
    shutil.rmtree(target, ignore_errors=True)
    shutil.move(path, target)
    heard = ", ".join(f"{reply.heard_ms:.0f} of {reply.audio_ms:.0f} ms" for reply in result.replies)
    return (
        f"{name}: {result.virtual_ms / 1000:.1f} s, ready after {result.ready_ms} ms, heard {heard}; {result.verdict}"
    )


async def record_all(clients: dict[str, Any], folder: Path) -> None:
    """Record them at once, and say so as they end."""
    for line in asyncio.as_completed([record(name, client, folder) for name, client in clients.items()]):
        print(await line, flush=True)


def main() -> None:
    """Record all that were asked for."""
    parser = argparse.ArgumentParser(description="Record the shipped cassettes from the stand-in.")
    parser.add_argument("names", nargs="*", choices=[[], *SCRIPTS], help="which (default: all)")
    names = parser.parse_args().names or list(SCRIPTS)
    save(authored("front-desk"), CASSETTES / "front-desk-authored", overwrite=True)
    with tempfile.TemporaryDirectory() as folder:
        clients = {}
        for name in names:
            (books := Path(folder) / f"{name}-books").mkdir()
            clients[name] = client_for(name, books)
        asyncio.run(record_all(clients, Path(folder)))


if __name__ == "__main__":
    main()
