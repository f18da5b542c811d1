"""Processes that hang, die and are killed, and the jobs that go on."""

import os
import signal
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from simrt.errors import SimrtError
from simrt.explore.processes import ATTEMPTS, Processes, WorkerDied
from simrt.explore.worker import Hung


@pytest.fixture
def pool() -> Iterator[Processes]:
    with Processes(1, busy_s=1) as made:
        yield made
        made.shutdown(cancel_futures=True)


def spin() -> None:
    while True:
        pass


def die(count: str) -> None:
    with open(count, "a") as file:
        file.write("x")
    print("I am about to go", flush=True)
    os._exit(3)


def die_once(mark: str) -> str:
    if Path(mark).exists():
        return "done at last"
    Path(mark).touch()
    os.kill(os.getpid(), signal.SIGKILL)
    return "never"


def noise() -> int:
    print("noise on stdout")
    print("noise on stderr", file=sys.stderr)
    return os.getpid()


def raises(error: Any) -> None:
    raise error


class Odd(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def test_a_process_does_one_job_after_the_other_and_prints_nothing(
    pool: Processes, capfd: pytest.CaptureFixture[str]
) -> None:
    pids = {pool.submit(noise).result() for _ in range(3)}
    assert len(pids) == 1
    assert pids == set(pool.pids)
    assert os.getpid() not in pids
    assert capfd.readouterr() == ("", "")


def test_what_a_job_raises_arrives(pool: Processes) -> None:
    with pytest.raises(SimrtError, match="no such thing"):
        pool.submit(raises, SimrtError("no such thing")).result()
    with pytest.raises(KeyboardInterrupt):
        pool.submit(raises, KeyboardInterrupt()).result()
    with pytest.raises(SimrtError, match=r"a job failed: .*1 and 2"):
        pool.submit(raise_odd).result()
    assert pool.submit(noise).result()


def raise_odd() -> None:
    raise Odd(1, 2)  # it cannot be made again from its one argument


def test_what_cannot_be_sent_is_an_error_and_the_process_stays(pool: Processes) -> None:
    pid = pool.submit(noise).result()
    with pytest.raises(Exception, match="pickle"):
        pool.submit(len, threading.Lock()).result()  # type: ignore[arg-type]
    with pytest.raises(Exception, match="pickle"):
        pool.submit(threading.Lock).result()
    assert pool.submit(noise).result() == pid


def test_a_job_that_hangs_is_stopped_and_the_place_is_told(pool: Processes) -> None:
    before = pool.submit(noise).result()
    with pytest.raises(Hung, match=r"more than 1 s of processor time .* it is in spin \(.*test_processes\.py:\d+\)"):
        pool.submit(spin).result()
    assert pool.submit(noise).result() != before


def test_a_job_that_sleeps_for_ever_is_stopped_too() -> None:
    with Processes(1, busy_s=0.1) as pool, pytest.raises(Hung, match="no sign of life"):
        pool.submit(time.sleep, 3600).result()


def test_a_job_whose_process_dies_is_tried_again(pool: Processes, tmp_path: Path) -> None:
    assert pool.submit(die_once, str(tmp_path / "mark")).result() == "done at last"


def test_a_job_that_kills_each_process_is_given_up_and_its_last_words_told(pool: Processes, tmp_path: Path) -> None:
    pool.submit(noise).result()
    with pytest.raises(WorkerDied, match="exit status 3; it last said 'I am about to go', 3 times"):
        pool.submit(die, str(tmp_path / "count")).result()
    assert len((tmp_path / "count").read_text()) == ATTEMPTS
    assert pool.submit(noise).result()


def test_a_process_that_cannot_be_started_is_not_the_jobs_doing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "path", ["nowhere"])
    with Processes(1) as pool, pytest.raises(SimrtError, match=r"no process can be started .* last said .*Error"):
        pool.submit(noise).result()


def test_a_process_is_replaced_after_its_share_of_jobs() -> None:
    with Processes(1, recycle=2) as pool:
        pids = [pool.submit(noise).result() for _ in range(4)]
    assert pids[0] == pids[1] != pids[2] == pids[3]


def test_giving_up_ends_what_runs_and_what_waits() -> None:
    pool = Processes(1)
    running, waiting = pool.submit(spin), pool.submit(spin)
    while not running.running() or not pool.pids:
        pass
    (pid,) = pool.pids
    pool.shutdown(cancel_futures=True)
    assert waiting.cancelled()
    assert isinstance(running.exception(), SimrtError)
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    with pytest.raises(RuntimeError, match="after shutdown"):
        pool.submit(spin)


def test_a_process_ends_with_the_one_that_started_it(pool: Processes) -> None:
    pool.submit(noise).result()
    (slot,) = pool._slots
    assert slot.child is not None
    assert slot.child.stdin is not None
    slot.child.stdin.close()
    assert slot.child.wait(30) == 0
