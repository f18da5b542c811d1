import asyncio

import pytest
import websockets
from websockets.asyncio.server import serve

from simrt.world import Deadlock, World


def test_a_deadlock_names_each_task_with_the_users_line():
    async def wait_for_nothing(queue):
        await queue.get()

    async def main():
        queue = asyncio.Queue()
        task = asyncio.create_task(wait_for_nothing(queue), name="the reader")
        await asyncio.sleep(2.5)
        await task

    with pytest.raises(Deadlock) as caught:
        World().run(main())
    message = str(caught.value)
    assert "deadlock at 2.500000 s" in message
    code = wait_for_nothing.__code__
    assert f"the reader ({wait_for_nothing.__qualname__}) at {__file__}:{code.co_firstlineno + 1}" in message
    assert f"in {main.__qualname__}" in message


def test_the_users_line_is_named_not_the_librarys():
    async def main():
        async with (
            serve(lambda socket: socket.wait_closed(), "a.example", 80, ping_interval=None),
            websockets.connect("ws://a.example/", ping_interval=None) as socket,
        ):
            await socket.recv()

    with pytest.raises(Deadlock) as caught:
        World().run(main())
    line = main.__code__.co_firstlineno + 5
    assert f"{__file__}:{line} in {main.__qualname__}" in str(caught.value)


def test_async_generators_are_looked_into():
    async def numbers():
        await asyncio.Event().wait()
        yield 1

    async def main():
        async for _ in numbers():
            pass

    with pytest.raises(Deadlock, match=rf"{numbers.__name__}"):
        World().run(main())


def test_a_task_that_will_not_be_cancelled_is_named_too():
    async def stubborn():
        while True:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                continue

    async def main():
        task = asyncio.create_task(stubborn())
        await asyncio.sleep(1)
        return task

    with pytest.raises(Deadlock, match="stubborn"):
        World().run(main())


def test_clean_up_runs_after_a_deadlock():
    async def main():
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(5)
            seen.append(asyncio.get_running_loop().time())

    seen = []
    with pytest.raises(Deadlock):
        World().run(main())
    assert seen == [5.0]
