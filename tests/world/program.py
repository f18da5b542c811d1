"""A program that logs all it sees; two runs of it must log the same."""

import asyncio
import random
import secrets
import time
import uuid

import websockets
from websockets.asyncio.server import serve

from simrt.world import World

log: list[str] = []


def note(*what: object) -> None:
    log.append(f"{time.time():.6f} {what}")


async def talk(name: str) -> None:
    async with websockets.connect(f"wss://{name}.example/") as socket:
        for number in range(5):
            await socket.send(f"{name} {number} {uuid.uuid4()}")
            note(name, await socket.recv())
            await asyncio.sleep(random.random())


async def answer(socket: websockets.ServerConnection) -> None:
    async for message in socket:
        note("server", message, socket.remote_address)
        await asyncio.sleep(random.random() / 10)
        await socket.send(f"{message} {secrets.token_hex(4)}")


def work(number: int) -> int:
    time.sleep(0.02 * (number % 3))
    return number


async def job(number: int) -> None:
    note("job", await asyncio.to_thread(work, number))


async def main() -> None:
    names = {"anna", "bert", "carl", "dora"}
    async with asyncio.TaskGroup() as group:
        servers = [await serve(answer, f"{name}.example", 443) for name in sorted(names)]
        for name in sorted(names):
            group.create_task(talk(name))
        for number in range(6):
            group.create_task(job(number))
    for server in servers:
        server.close()
        await server.wait_closed()
    note("end")


World(seed=7).run(main())
print("\n".join(log))
