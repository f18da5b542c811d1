import asyncio
import datetime
import os
import queue
import sys
import threading
import time
import types
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC
from time import monotonic as imported_monotonic

import freezegun
import pytest

from simrt.world import World
from simrt.world.clock import parse_start

CLOCKS = [time.time, time.monotonic, time.perf_counter, time.time_ns, time.monotonic_ns, datetime.datetime]


def clocks():
    return [time.time, time.monotonic, time.perf_counter, time.time_ns, time.monotonic_ns, datetime.datetime]


def test_the_wall_clock_starts_where_it_is_told_and_follows_the_loop():
    async def main():
        seen = [datetime.datetime.now(UTC)]
        await asyncio.sleep(90.25)
        seen.append(datetime.datetime.now(UTC))
        return seen

    start = datetime.datetime(2026, 3, 29, 0, 59, tzinfo=UTC)
    assert World(start=start).run(main()) == [start, start + datetime.timedelta(seconds=90.25)]


@pytest.mark.parametrize(
    ("start", "expected"),
    [
        ("2026-01-05T09:00:00+00:00", (2026, 1, 5, 9)),
        ("2026-01-05 10:00:00+01:00", (2026, 1, 5, 9)),
        ("2026-01-05", (2026, 1, 5)),
        (datetime.datetime(2026, 1, 5, 9), (2026, 1, 5, 9)),
        (datetime.datetime(2026, 1, 5, 9, tzinfo=datetime.timezone(datetime.timedelta(hours=2))), (2026, 1, 5, 7)),
    ],
)
def test_a_start_is_utc_unless_it_names_a_zone(start, expected):
    assert parse_start(start) == datetime.datetime(*expected)


def test_a_start_that_is_no_time_is_refused():
    with pytest.raises(ValueError, match="tomorrow"):
        World(start="tomorrow")


@pytest.mark.parametrize("clock", ["time", "monotonic", "perf_counter"])
def test_clocks_measure_what_the_loop_measures_to_the_microsecond(clock):
    async def main():
        loop = asyncio.get_running_loop()
        differences = []
        for step in [0.02, 1e-6, 0.1 + 0.2, 3600.000001, 1 / 3]:
            before, start = getattr(time, clock)(), loop.time_us
            await asyncio.sleep(step)
            differences.append(round((getattr(time, clock)() - before) * 1e6) - (loop.time_us - start))
        return differences

    assert World().run(main()) == [0] * 5


def test_clocks_stand_still_between_timers_and_are_given_back():
    async def main():
        before = time.time(), time.monotonic(), imported_monotonic(), datetime.datetime.now()
        sum(range(100_000))
        assert (time.time(), time.monotonic(), imported_monotonic(), datetime.datetime.now()) == before

    World().run(main())
    assert clocks() == CLOCKS
    assert imported_monotonic is time.monotonic
    assert time.time() != 1767603600.0


def test_jobs_in_threads_see_the_same_clock():
    def job():
        return time.time(), time.monotonic(), datetime.datetime.now(UTC).timestamp()

    async def main():
        await asyncio.sleep(5)
        return *await asyncio.to_thread(job), await asyncio.to_thread(time.time)

    assert World().run(main()) == (1767603605.0,) * 4


def test_timeouts_of_threads_stay_real():
    def job():
        with pytest.raises(queue.Empty):
            queue.Queue().get(timeout=0.001)
        condition = threading.Condition()
        with condition:
            assert not condition.wait_for(lambda: False, 0.001)
        with ThreadPoolExecutor(1) as pool:
            release = threading.Event()
            late = pool.submit(release.wait)
            with pytest.raises(TimeoutError):
                late.result(0.001)
            release.set()

    async def main():
        await asyncio.to_thread(job)

    World().run(main())


def test_a_real_loop_in_a_thread_keeps_real_time():
    async def main():
        await asyncio.to_thread(asyncio.run, asyncio.sleep(0.001))
        return asyncio.get_running_loop().time()

    assert World().run(main()) == 0.0


def test_inside_a_frozen_block_the_world_has_its_own_time():
    async def main():
        await asyncio.sleep(1)
        return time.time()

    with freezegun.freeze_time("2001-01-01"):
        before = time.time()
        assert World().run(main()) == 1767603601.0
        assert time.time() == before == 978307200.0
    assert clocks() == CLOCKS


def test_freezing_inside_a_world():
    async def main():
        with freezegun.freeze_time("2001-01-01"):
            await asyncio.sleep(1)
            inside = time.time()
        return inside, time.time()

    assert World().run(main()) == (978307200.0, 1767603601.0)


def test_modules_that_change_or_come_later_are_found():
    def read(module):
        async def main():
            return module.clock()

        return World().run(main())

    module = types.ModuleType("simrt_test_module")
    sys.modules[module.__name__] = module
    try:
        World().run(asyncio.sleep(0))
        module.clock = time.time
        assert read(module) == 1767603600.0
        assert module.clock is time.time

        async def late():
            module.late = time.time

        del module.clock
        World().run(late())
        module.clock = time.monotonic
        assert read(module) == 1767603600.0
    finally:
        del sys.modules[module.__name__]


def test_a_world_is_cheap_to_enter():
    """Not in milliseconds, which would be the machine's: the second time no module is searched again."""
    searched = []

    class Module(types.ModuleType):
        def __dir__(self):
            searched.append(self.__name__)
            return []

    sys.modules["simrt_test_module"] = Module("simrt_test_module")
    try:
        for _ in range(3):
            World().run(asyncio.sleep(0))
    finally:
        del sys.modules["simrt_test_module"]
    assert searched == []


def test_time_beyond_the_calendar_stops_at_its_end():
    async def main():
        await asyncio.sleep(1e12)
        return datetime.datetime.now().year

    assert World().run(main()) == 9999


def test_the_zone_of_the_machine_does_not_matter(monkeypatch):
    async def main():
        return datetime.datetime.now()

    monkeypatch.setitem(os.environ, "TZ", "Asia/Tokyo")
    time.tzset()
    try:
        assert World().run(main()) == datetime.datetime(2026, 1, 5, 9)
    finally:
        monkeypatch.undo()
        time.tzset()
