import asyncio
import json

from websockets.asyncio.client import connect

from clients.call import Call
from simrt import Line

from .calling import findings


async def leaves_it_open(line: Line) -> None:
    socket = await connect(line.url, additional_headers=line.headers)
    await socket.send(json.dumps({"type": "session.update", "session": {"type": "realtime"}}))
    await asyncio.sleep(1)
    line.note(str(socket.id))


async def closes_it(line: Line) -> None:
    async with connect(line.url, additional_headers=line.headers) as socket:
        await socket.send(json.dumps({"type": "session.update", "session": {"type": "realtime"}}))
        await asyncio.sleep(1)


def test_a_client_that_returns_without_closing() -> None:
    (found,) = findings("END404", leaves_it_open, "front-desk")
    assert found.connection == 0
    assert found.t_ms == 1000 or found.t_ms > 1000


def test_clients_that_close() -> None:
    assert findings("END404", closes_it, "front-desk") == []
    assert findings("END404", Call, "front-desk") == []


def test_its_keepalive_task_is_not_another_finding() -> None:
    assert findings("END407", leaves_it_open, "front-desk") == []
