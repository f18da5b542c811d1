import asyncio

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import ConnectionClosed

from simrt import Line, run_call
from simrt.errors import CallError
from simrt.scripts import authored
from tests.replay.hand import Call

from .runs import fired, front_desk, refused


def test_a_ping_is_answered_when_it_is_over() -> None:
    call = Call(front_desk(), ["no-pong:at=5s,for=10s"])
    assert call.session.pong_due(4_999_999) == 4_999_999
    assert fired(call) == []
    assert call.session.pong_due(6_000_000) == 15_000_000
    assert call.session.pong_due(15_000_000) == 15_000_000
    assert fired(call) == [(6000, "no-pong:at=5000ms,for=10000ms")]


def pinged(*faults: str) -> list[float | str]:
    """When each of three pings, 5 s apart, was answered; or how the connection ended."""
    seen: list[float | str] = []

    async def client(line: Line) -> None:
        clock = asyncio.get_running_loop().time
        async with connect(line.url, ping_interval=None, user_agent_header="tests") as socket:
            await socket.recv()
            try:
                for k in range(3):
                    start = clock()
                    await (await socket.ping())
                    seen.append(round(clock() - start, 2))
                    await asyncio.sleep(5 * (k + 1) - clock())
            except ConnectionClosed as closed:
                seen.append(str(closed))

    run_call(client, authored("front-desk"), list(faults))
    return seen


def test_on_the_wire() -> None:
    assert pinged() == [0, 0, 0]
    assert pinged("no-pong:at=2s,for=4s") == [0, 1, 0]


def test_frames_come_all_the_same_and_a_client_that_pings_gives_up() -> None:
    got: list[str] = []

    async def client(line: Line) -> None:
        async with connect(line.url, ping_interval=5, ping_timeout=5, user_agent_header="tests") as socket:
            async for message in socket:
                got.append(str(message))

    with pytest.raises(CallError, match="1011"):
        run_call(client, authored("front-desk"), ["no-pong:for=60s"], cap_ms=20_000)
    assert "session.created" in got[0]


def test_it_must_last() -> None:
    assert "for how long" in refused("no-pong:for=0s")
