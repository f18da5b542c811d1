import asyncio

import pytest

from clients.call import Call
from simrt import Line

from .calling import findings
from .test_socket_left_open import closes_it


async def leaves_a_task(line: Line) -> None:
    async def for_ever() -> None:
        await asyncio.sleep(1e6)

    task = asyncio.create_task(for_ever())
    await closes_it(line)
    line.note(task.get_name())


async def cancels_it(line: Line) -> None:
    task = asyncio.create_task(asyncio.sleep(1e6))
    await closes_it(line)
    task.cancel()


async def loses_a_task(line: Line) -> None:
    async def dies() -> None:
        raise KeyError("no such thing")

    task = asyncio.create_task(dies())
    await closes_it(line)
    line.note(task.get_name())


def test_what_is_left_running() -> None:
    (found,) = findings("END407", leaves_a_task, "front-desk")
    assert "for_ever" in found.message


def test_what_died() -> None:
    (found,) = findings("END407", loses_a_task, "front-desk")
    assert "no such thing" in found.message


@pytest.mark.parametrize("client", [cancels_it, Call])
def test_who_tidies_up(client: object) -> None:
    assert findings("END407", client, "front-desk") == []
