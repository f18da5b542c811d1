import asyncio
import gc
import os
import threading
import warnings

import pytest

from simrt.world import World, WorldError, new_loop


async def nothing():
    return None


def test_run_returns_what_main_returns_and_raises_what_it_raises():
    async def value():
        return 42

    async def error():
        raise LookupError("gone")

    assert World().run(value()) == 42
    with pytest.raises(LookupError, match="gone"):
        World().run(error())


def test_tasks_generators_and_threads_are_cleaned_up():
    async def background():
        try:
            await asyncio.sleep(1000)
        finally:
            seen.append("task")

    async def numbers():
        try:
            yield 1
            yield 2
        finally:
            seen.append("generator")

    async def main():
        task = asyncio.create_task(background())
        generator = numbers()
        await anext(generator)
        await asyncio.to_thread(int)
        return task, generator

    seen = []
    World().run(main())
    assert sorted(seen) == ["generator", "task"]
    assert not [thread for thread in threading.enumerate() if thread.name.startswith("world")]


def test_a_world_inside_a_world_is_refused():
    async def main():
        with pytest.raises(WorldError, match="while an event loop runs in this thread"):
            World().run(nothing())
        with pytest.raises(WorldError, match="another World runs"):
            await asyncio.to_thread(lambda: World().run(nothing()))

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        World().run(main())
        gc.collect()


def test_a_world_runs_once():
    world = World()
    world.run(nothing())
    with pytest.raises(WorldError, match="make a new one"):
        world.run(nothing())


def test_only_a_coroutine_can_be_run():
    with pytest.raises(TypeError, match=r"world\.run\(main\(\)\)"):
        World().run(nothing)


def test_the_loop_is_there_before_the_run():
    world = World()
    seen = []
    world.loop.call_later(1, seen.append, "before")
    world.run(asyncio.sleep(2))
    assert seen == ["before"]


def test_a_world_that_never_runs_costs_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        World()
        new_loop()
        gc.collect()


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc to count open files")
def test_fifty_worlds_leave_no_thread_and_no_file_open():
    aiohttp = pytest.importorskip("aiohttp")
    web = pytest.importorskip("aiohttp.web")

    async def main():
        async def hello(request):
            return web.Response(text="hello")

        app = web.Application()
        app.router.add_get("/", hello)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "a.example", 443).start()
        async with aiohttp.ClientSession() as session, session.get("https://a.example/") as response:
            assert await response.text() == "hello"
        await asyncio.to_thread(int)
        await runner.cleanup()

    def resources():
        gc.collect()
        return threading.active_count(), len(os.listdir("/proc/self/fd"))

    World().run(main())
    before = resources()
    for _ in range(50):
        World().run(main())
    assert resources() == before
