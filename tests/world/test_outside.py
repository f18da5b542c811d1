import asyncio
import logging
import sqlite3
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import anyio
import anyio.from_thread
import pytest

from simrt.world import Deadlock, World, outside


def now() -> float:
    return asyncio.get_running_loop().time()


def test_a_job_on_sqlite_neither_hangs_nor_lets_time_run(tmp_path):
    def write(number):
        with sqlite3.connect(tmp_path / "ledger.db") as ledger:
            ledger.execute("create table if not exists refunds (number)")
            ledger.execute("insert into refunds values (?)", (number,))
            return ledger.execute("select count(*) from refunds").fetchone()[0]

    async def main():
        ticks = asyncio.create_task(tick())
        counts = []
        for number in range(3):
            before = now()
            counts.append(await asyncio.to_thread(write, number))
            assert now() == before
            await asyncio.sleep(0.1)
        ticks.cancel()
        return counts

    async def tick():
        while True:
            await asyncio.sleep(0.001)

    assert World().run(main()) == [1, 2, 3]


def test_jobs_of_the_loops_own_executor_run_one_after_the_other():
    def work(number):
        log.append(f"{number} begins")
        for _ in range(200):
            time.sleep(0)  # whoever may run now, does
        log.append(f"{number} ends")

    async def main():
        await asyncio.gather(*(asyncio.to_thread(work, number) for number in range(5)))

    log = []
    World().run(main())
    assert log == [f"{number} {what}" for number in range(5) for what in ("begins", "ends")]


@pytest.mark.parametrize("first_done", [0, 1])
def test_jobs_deliver_in_the_order_of_submission_whichever_is_done_first(first_done, monkeypatch):
    monkeypatch.setattr(outside, "PATIENCE", 0.05)
    done = [threading.Event(), threading.Event()]

    def work(number):
        if number != first_done:
            assert done[first_done].wait(10)
        done[number].set()

    async def job(number):
        await asyncio.to_thread(work, number)
        order.append(number)

    async def main():
        await asyncio.gather(job(0), job(1))

    order = []
    World().run(main())
    assert order == [0, 1]


def test_jobs_that_wait_for_younger_ones_do_not_hang(monkeypatch):
    monkeypatch.setattr(outside, "PATIENCE", 0.05)
    delivered = threading.Event()

    async def young():
        await asyncio.to_thread(int)
        delivered.set()

    async def main():
        old = asyncio.create_task(asyncio.to_thread(delivered.wait, 10))
        await asyncio.sleep(0)
        await young()
        return await old

    assert World().run(main()) is True


def test_a_job_that_no_one_awaits_any_more_holds_time_only_for_a_moment(monkeypatch):
    monkeypatch.setattr(outside, "PATIENCE", 0.05)
    release = threading.Event()

    async def main():
        job = asyncio.create_task(asyncio.to_thread(release.wait, 10))
        await asyncio.sleep(0)
        job.cancel()
        await asyncio.sleep(5)
        release.set()
        return now()

    assert World().run(main()) == 5.0


def test_a_long_job_is_named_in_the_log(monkeypatch, caplog):
    monkeypatch.setattr(outside, "PATIENCE", 0.01)

    def think_long():
        while not caplog.records:
            pass

    async def main():
        await asyncio.to_thread(think_long)

    with caplog.at_level(logging.WARNING, "simrt.world"):
        World().run(main())
    assert "think_long" in caplog.text


def test_results_and_errors_of_jobs():
    async def main():
        loop = asyncio.get_running_loop()
        with ThreadPoolExecutor(1) as own:
            assert await loop.run_in_executor(own, int, "3") == 3
        with pytest.raises(ZeroDivisionError):
            await asyncio.to_thread(lambda: 1 / 0)
        with pytest.raises(RuntimeError, match="StopIteration"):
            await asyncio.to_thread(next, iter(()))

    World().run(main())


def test_other_threads_can_call_while_a_job_runs():
    async def add(a, b):
        await asyncio.sleep(0)
        return a + b

    def job(loop):
        return asyncio.run_coroutine_threadsafe(add(1, 2), loop).result(10)

    async def main():
        return await asyncio.to_thread(job, asyncio.get_running_loop())

    assert World().run(main()) == 3


def test_a_thread_of_the_programs_own_can_end_a_wait():
    async def main():
        loop = asyncio.get_running_loop()
        came = asyncio.Event()
        thread = threading.Thread(target=loop.call_soon_threadsafe, args=(came.set,))
        thread.start()
        await came.wait()
        thread.join()

    World().run(main())


def test_spinning_for_a_job_does_not_starve_it():
    async def main():
        job = asyncio.create_task(asyncio.to_thread(sum, range(1000)))
        while not job.done():
            await asyncio.sleep(0)
        return job.result()

    assert World().run(main()) == 499500


def test_time_stands_still_for_anyio_threads():
    def job():
        time.sleep(0.01)
        return anyio.from_thread.run(ask)

    async def ask():
        return now()

    async def main():
        ticks = asyncio.create_task(asyncio.sleep(1000))
        await asyncio.sleep(1)
        times = [await anyio.to_thread.run_sync(job), now()]
        await asyncio.sleep(1)
        times += [await anyio.to_thread.run_sync(job), now()]
        ticks.cancel()
        return times

    assert World().run(main()) == [1.0, 1.0, 2.0, 2.0]


def test_threads_left_over_do_not_hide_a_deadlock(monkeypatch):
    monkeypatch.setattr(outside, "PATIENCE", 0.05)
    release = threading.Event()

    async def main():
        threading.Thread(target=release.wait, args=(10,)).start()
        await asyncio.Event().wait()

    with pytest.raises(Deadlock):
        World().run(main())
    release.set()


def test_jobs_that_never_end_are_left_behind_with_a_warning(monkeypatch, caplog):
    monkeypatch.setattr(outside, "PATIENCE", 0.01)
    monkeypatch.setattr(outside, "LAST_PATIENCE", 0.01)
    release = threading.Event()

    async def main():
        job = asyncio.create_task(asyncio.to_thread(release.wait, 10))
        await asyncio.sleep(0)
        job.cancel()

    World().run(main())
    release.set()
    assert "1 jobs still run" in caplog.text
