"""When nothing can happen any more: who waits, and where."""

import asyncio
import gc
import os
import sysconfig
from types import FrameType
from typing import Any

from simrt.errors import WorldError

_PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LIBRARY = tuple({sysconfig.get_path(name) for name in ("stdlib", "platstdlib")})
_PACKAGES = tuple({sysconfig.get_path(name) for name in ("purelib", "platlib")})


class Deadlock(WorldError):
    """Nothing is scheduled, nothing is ready, nothing outside is pending, and the program is not done."""


def describe(loop: asyncio.AbstractEventLoop, why: str) -> str:
    """WHY the loop is stuck, then a line for each unfinished task: name, coroutine, where it waits."""
    tasks = sorted(asyncio.all_tasks(loop), key=lambda task: (len(task.get_name()), task.get_name()))
    lines = [f"deadlock at {loop.time():.6f} s: {why}."]
    if tasks:
        lines.append("These tasks wait for something that will never come:")
    for task in tasks:
        coro: Any = task.get_coro()
        lines.append(f"  {task.get_name()} ({getattr(coro, '__qualname__', coro)}) at {place_of(coro)}")
    return "\n".join(lines)


def place_of(coro: Any) -> str:
    """The innermost line at which CORO waits, as "file:line in function".

    A line of the user's if there is one, else of an installed package, else of the standard library.
    """
    frames = _frames(coro)
    if not frames:
        return "its start"
    frame = max(enumerate(frames), key=lambda entry: (_rank(entry[1]), entry[0]))[1]
    return f"{frame.f_code.co_filename}:{frame.f_lineno} in {frame.f_code.co_qualname}"


def _rank(frame: FrameType) -> int:
    file = frame.f_code.co_filename
    if file.startswith(_PACKAGES):
        return 1
    if file.startswith(_LIBRARY) or file.startswith("<"):
        return 0
    return 1 if file.startswith(_PACKAGE) else 2


def _frames(coro: Any) -> list[FrameType]:
    """The suspended frames of CORO, outermost first."""
    frames = []
    seen = set()
    while coro is not None and id(coro) not in seen:
        seen.add(id(coro))
        for prefix in ("cr", "gi", "ag"):
            frame = getattr(coro, f"{prefix}_frame", None)
            if frame is not None:
                frames.append(frame)
                coro = getattr(coro, "gi_yieldfrom" if prefix == "gi" else f"{prefix}_await")
                break
        else:
            # `async for`: the awaitable of __anext__ does not show its generator, but refers to it.
            inner = [ref for ref in gc.get_referents(coro) if hasattr(ref, "ag_frame")]
            coro = inner[0] if inner else None
    return frames
