import asyncio
import math
import os
import subprocess
import sys
from pathlib import Path

import pytest

from simrt.world import Deadlock, VirtualLoop, World, WorldError, new_loop
from simrt.world import loop as loop_module


def now() -> float:
    return asyncio.get_running_loop().time()


def test_time_starts_at_zero_and_moves_only_by_sleeping():
    async def main():
        times = [now()]
        for _ in range(100):
            await asyncio.sleep(0)
        times.append(now())
        await asyncio.sleep(1.5)
        times.append(now())
        return times

    assert World().run(main()) == [0.0, 0.0, 1.5]


@pytest.mark.parametrize("when", [0.1, 1 / 3, 0.1 + 0.2, 123456.789, 1e-9, 2**-40])
def test_a_timer_comes_at_exactly_its_time(when):
    async def main():
        loop = asyncio.get_running_loop()
        came = loop.create_future()
        loop.call_at(when, lambda: came.set_result(loop.time()))
        return await came

    assert World().run(main()) == when


def test_frames_of_20_ms_do_not_drift():
    async def main():
        loop = asyncio.get_running_loop()
        for _ in range(5_000):
            loop.call_at(loop.time() + 0.02, event.set)
            await event.wait()
            event.clear()
        return loop.time_us

    event = asyncio.Event()
    assert World().run(main()) == 100_000_000


def test_timers_run_in_order_of_time_then_of_setting():
    async def main():
        loop = asyncio.get_running_loop()
        seen = []
        for name, when in [("c", 2), ("a", 1), ("d", 2), ("b", 1), ("e", 2), ("late", -1)]:
            loop.call_at(when, seen.append, name)
        await asyncio.sleep(3)
        return seen

    assert World().run(main()) == ["late", "a", "b", "c", "d", "e"]


def test_due_timers_are_not_starved_by_ready_callbacks():
    async def main():
        loop = asyncio.get_running_loop()
        came = asyncio.Event()
        loop.call_later(0, came.set)
        rounds = 0
        while not came.is_set():
            await asyncio.sleep(0)
            rounds += 1
        return rounds

    assert World().run(main()) < 5


def test_a_cancelled_timer_moves_no_time():
    async def main():
        loop = asyncio.get_running_loop()
        timers = [loop.call_later(1 + i / 1000, pytest.fail) for i in range(1000)]
        loop.call_later(5, asyncio.current_task().cancel)
        for timer in timers:
            timer.cancel()
            timer.cancel()
        times = []
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            times.append(now())
        return times

    assert World().run(main()) == [5.0]


def test_cancelled_timeouts_do_not_pile_up():
    async def main():
        for _ in range(2_000):
            async with asyncio.timeout(3600):
                await asyncio.sleep(0.001)
        return len(world.loop._timers)

    world = World()
    assert world.run(main()) < 250


def test_timeouts_and_wait_for_are_virtual():
    async def main():
        with pytest.raises(TimeoutError):
            await asyncio.wait_for(asyncio.Event().wait(), 86_400)
        return now()

    assert World().run(main()) == 86_400


def test_a_sleep_without_end_is_a_deadlock():
    with pytest.raises(Deadlock):
        World().run(asyncio.sleep(math.inf))


def test_not_a_number_is_no_time():
    async def main():
        with pytest.raises(ValueError, match="NaN"):
            asyncio.get_running_loop().call_later(math.nan, print)

    World().run(main())


def test_a_loop_that_spins_for_ever_is_stopped(monkeypatch):
    async def spin():
        while True:
            await asyncio.sleep(0)

    monkeypatch.setattr(loop_module, "_SPINNING", 20_000)
    with pytest.raises(Deadlock, match=r"without rest.*\n.*\n.*spin"):
        World().run(spin())


def test_an_error_in_a_callback_goes_to_the_exception_handler():
    async def main():
        loop = asyncio.get_running_loop()
        seen = []
        loop.set_exception_handler(lambda loop, context: seen.append(context))
        loop.call_soon(lambda: 1 / 0)
        await asyncio.sleep(1)
        return seen

    [context] = World().run(main())
    assert isinstance(context["exception"], ZeroDivisionError)
    assert "Exception in callback" in context["message"]


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit])
def test_interrupts_end_the_run(error):
    def interrupt():
        raise error

    async def main():
        asyncio.get_running_loop().call_soon(interrupt)
        await asyncio.sleep(1)

    with pytest.raises(error):
        World().run(main())


def test_debug_mode_works():
    async def main():
        loop.set_debug(True)
        loop.call_soon(lambda: None)
        await asyncio.sleep(1)
        return now()

    world = World()
    loop = world.loop
    assert world.run(main()) == 1.0


def test_stop_and_run_forever():
    loop = new_loop()
    seen = []
    loop.call_later(2, seen.append, 2)
    loop.call_later(3, loop.stop)
    loop.call_later(4, seen.append, 4)
    loop.run_forever()
    assert (seen, loop.time()) == ([2], 3.0)
    loop.close()


def test_new_loop_is_a_factory_for_a_runner():
    async def main():
        await asyncio.sleep(60)
        return now()

    with asyncio.Runner(loop_factory=new_loop) as runner:
        assert isinstance(runner.get_loop(), VirtualLoop)
        assert runner.run(main()) == 60.0
        assert runner.run(main()) == 120.0


@pytest.mark.parametrize("name", ["add_reader", "sock_recv", "create_datagram_endpoint", "subprocess_exec",
                                  "connect_read_pipe", "create_unix_connection"])  # fmt: skip
def test_what_reaches_outside_is_refused_by_name(name):
    async def main():
        with pytest.raises(WorldError, match=rf"{name}\(\) does not exist in a World"):
            await getattr(asyncio.get_running_loop(), name)(None, None)

    World().run(main())


def test_signal_handlers_are_taken_and_ignored():
    async def main():
        loop = asyncio.get_running_loop()
        loop.add_signal_handler(15, print)
        return loop.remove_signal_handler(15)

    assert World().run(main()) is False


PROGRAM = Path(__file__).with_name("program.py")


def test_two_processes_with_other_hash_seeds_log_the_same():
    runs = [
        subprocess.run(
            [sys.executable, PROGRAM],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
            timeout=60,
        ).stdout
        for seed in ("1", "2")
    ]
    assert runs[0] == runs[1]
    assert len(runs[0].splitlines()) == 4 * 5 * 2 + 6 + 1
