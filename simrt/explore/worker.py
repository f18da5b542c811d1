"""A process that makes calls for another: it reads pickled (function, arguments) from its stdin and writes what came of
them to its stdout, one after the other.

It ends when its stdin does, so it outlives nobody. What a client prints goes to stderr, of which only the last job's
part is kept.
"""

import _thread
import contextlib
import gc
import os
import pickle
import queue
import signal
import struct
import sys
import threading
from pathlib import Path
from time import process_time
from types import FrameType
from typing import IO, Any

from simrt.call import describe_error
from simrt.errors import SimrtError

HEAD = struct.Struct("<I")

_LOOK_S = 0.25
_COLLECT = 10  # jobs between two looks for garbage: looking takes a tenth of the time, and little is left each time
_PACKAGE = Path(__file__).parents[1]
_OTHERS = (f"{_PACKAGE}{os.sep}", f"{Path(os.__file__).parent}{os.sep}", "<")
_CLIENTS = (f"{_PACKAGE / '_shipped'}{os.sep}", f"{Path(os.__file__).parent / 'site-packages'}{os.sep}")


class Hung(SimrtError):
    """A job that gave nothing else a turn until its time was over."""


def send(stream: IO[bytes], message: object) -> None:
    """Write one message; what cannot be pickled raises before anything is written."""
    body = pickle.dumps(message)
    stream.write(HEAD.pack(len(body)) + body)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes | None:
    """The next message, still pickled; None: the other side is gone."""
    head = stream.read(HEAD.size)
    if len(head) < HEAD.size:
        return None
    (size,) = HEAD.unpack(head)
    body = stream.read(size)
    return body if len(body) == size else None


class Watchdog:
    """Ends this process when a job has taken too much processor time, and says where it was."""

    def __init__(self, busy_s: float, out: IO[bytes]) -> None:
        self._busy_s, self._out = busy_s, out
        self._end: float | None = None
        self._main = threading.get_ident()
        self._lock = _thread.allocate_lock()
        threading.Thread(target=self._watch, name="watchdog", daemon=True).start()

    def job(self) -> None:
        """A job begins."""
        self._end = process_time() + self._busy_s

    def rest(self) -> None:
        """It has ended; from here on nothing is said of it."""
        with self._lock:
            self._end = None

    def _watch(self) -> None:
        never = threading.Event()
        while not never.wait(_LOOK_S):
            with self._lock:
                if self._end is not None and process_time() > self._end:
                    where = place(sys._current_frames().get(self._main))
                    took = f"took more than {self._busy_s:g} s of processor time for one call"
                    send(self._out, (False, Hung(f"the client {took}{where and f': it is in {where}'}")))
                    os._exit(1)


def place(frame: FrameType | None) -> str:
    """The outermost function of the stack that is the client's own, and where it begins: the same each time, wherever
    in its loop it happens to be."""
    found = ""
    while frame is not None:
        code = frame.f_code
        if code.co_filename.startswith(_CLIENTS) or not code.co_filename.startswith(_OTHERS):
            found = f"{code.co_qualname} ({code.co_filename}:{code.co_firstlineno})"
        frame = frame.f_back
    return found


def main(busy_s: float) -> None:
    """Serve until stdin ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole group; the parent decides what it means
    orders, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.dup2(2, 1)
    sys.stdout = sys.stderr
    todo: queue.SimpleQueue[bytes] = queue.SimpleQueue()
    threading.Thread(target=_read, args=(orders, todo), name="orders", daemon=True).start()
    watchdog = Watchdog(busy_s, out)
    import simrt.explore.job  # noqa: F401  the first job need not wait for it

    send(out, "ready")
    gc.freeze()
    count, modules = 0, len(sys.modules)
    while True:
        order = todo.get()
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
            os.ftruncate(2, 0)
            os.lseek(2, 0, os.SEEK_SET)
        watchdog.job()
        gc.disable()
        answer = _answer(order)
        gc.enable()
        count += 1
        if count % _COLLECT == 0 or len(sys.modules) > modules:
            gc.collect()
        if len(sys.modules) > modules:  # a client has come with its libraries, which are never garbage
            gc.freeze()
            modules = len(sys.modules)
        watchdog.rest()
        send(out, answer)


def _read(orders: IO[bytes], todo: "queue.SimpleQueue[bytes]") -> None:
    while (order := receive(orders)) is not None:
        todo.put(order)
    os._exit(0)


def _answer(order: bytes) -> tuple[bool, Any]:
    try:
        function, args = pickle.loads(order)
        answer = (True, function(*args))
        pickle.dumps(answer)
        return answer
    except BaseException as error:
        try:
            return False, pickle.loads(pickle.dumps(error))
        except Exception:
            return False, SimrtError(f"a job failed: {describe_error(error)}")
