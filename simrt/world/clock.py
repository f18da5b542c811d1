"""The wall clock of a World: frozen, and read off the loop whenever someone asks for it.

freezegun replaces `time.time`, `time.monotonic`, `time.perf_counter`, `datetime.now` and their kin. It asks
the newest of its factories for the time; ours computes it from the loop, so that advancing costs nothing.
"""

import datetime
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple

import freezegun.api as freezegun

# Timeouts in these modules are about real threads and processes: under a clock that stands still they would
# never end. Two ways lead there: modules that import the function by name, which must keep the real one, ...
_REAL_NAMES = frozenset({"queue", "socketserver", "subprocess", "threading"})
# ... and modules that call `time.monotonic()`, for which freezegun looks at who calls.
_REAL_CALLERS = ("asyncio.base_events", "concurrent.futures._base", "multiprocessing.", "_pytest.", "xdist.")

_Found = list[tuple[str, Any]]
_scanned: dict[str, tuple[ModuleType, int, _Found]] = {}


class _Seen(NamedTuple):
    """The modules of the process when they were last looked at, what names each had and how many, and those that have
    clocks among them."""

    modules: list[tuple[str, ModuleType]]
    names: list[dict[str, Any]]
    sizes: list[int]
    clocks: dict[str, ModuleType]


_seen = _Seen([], [], [], {})


def parse_start(start: datetime.datetime | str) -> datetime.datetime:
    """START as a naive `datetime` in UTC; what names no zone is UTC.

    Raises:
        ValueError: not a time in ISO 8601.
    """
    time = freezegun.real_datetime.fromisoformat(start) if isinstance(start, str) else start
    time = freezegun.convert_to_timezone_naive(time)
    return freezegun.real_datetime(*time.timetuple()[:6], time.microsecond)


class _LoopTime:
    """A factory for freezegun: START plus the microseconds that NOW_US gives."""

    def __init__(self, start: datetime.datetime, now_us: Callable[[], int]) -> None:
        self._start = start
        self._now_us = now_us

    def __call__(self) -> datetime.datetime:
        try:
            return self._start + datetime.timedelta(microseconds=self._now_us())
        except OverflowError:
            return freezegun.real_datetime.max


def _date_attributes(module: ModuleType) -> _Found:
    """Which names of MODULE are clocks. freezegun's own search lists and hashes every module at each start;
    this one looks again only where a module has grown or shrunk, and wakes no lazy attributes."""
    name, names = module.__name__, getattr(module, "__dict__", {})
    if name in _REAL_NAMES:
        return []
    known = _scanned.get(name)
    if known is not None and known[0] is module and known[1] == len(names):
        return known[2]
    real = freezegun._real_time_object_ids
    found = [(key, value) for key, value in list(names.items()) if id(value) in real]
    _scanned[name] = (module, len(names), found)
    return found


def _with_clocks() -> dict[str, ModuleType]:
    """The modules that have clocks among their names. Hundreds have none, and freezegun would go through them all."""
    global _seen
    modules = list(sys.modules.items())
    if modules != _seen.modules or list(map(len, _seen.names)) != _seen.sizes:
        found = {name: module for name, module in modules if hasattr(module, "__name__") and _date_attributes(module)}
        names = [getattr(module, "__dict__", {}) for _, module in modules]
        _seen = _Seen(modules, names, list(map(len, names)), found)
    return _seen.clocks


@contextmanager
def following(start: datetime.datetime, now_us: Callable[[], int]) -> Iterator[None]:
    """Freeze the wall clock of the process at START (naive, UTC) plus NOW_US() until the end of the block.

    Works inside a `freeze_time` of the user's, and around one.
    """
    api: Any = freezegun
    freezer = freezegun.freeze_time(start)
    freezer.ignore = _REAL_CALLERS
    search, depth = api._get_cached_module_attributes, api.call_stack_inspection_limit
    api._get_cached_module_attributes = _date_attributes
    api.sys = SimpleNamespace(modules=_with_clocks())
    try:
        freezer.start()
    finally:
        api._get_cached_module_attributes, api.sys = search, sys
    freezer.modules_at_start = set(sys.modules)
    # Only who calls counts, not who called that: jobs run four frames above `threading`.
    api.call_stack_inspection_limit = 1
    api.freeze_factories[-1] = _LoopTime(start, now_us)
    try:
        yield
    finally:
        api.call_stack_inspection_limit = depth
        freezer.stop()
