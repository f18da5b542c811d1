"""Asynchronous tests in virtual time: a World's loop for those that want one, and nobody else.

pytest-asyncio takes loops from the hook `pytest_asyncio_loop_factories`, and once some plugin implements it, it asks
for every test. So ours is registered only while the tests of one function that wants it are generated.
"""

import asyncio
import inspect
from collections.abc import Callable, Iterator, Mapping
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from simrt.pytest_plugin.settings import settings_of

if TYPE_CHECKING:
    from simrt.world import World

_FIXTURES = frozenset({"simrt_serve", "simrt_world"})
_WORLD = pytest.StashKey["World"]()
_TAKEN = pytest.StashKey[bool]()
_CURRENT = pytest.StashKey[pytest.Item]()


def is_virtual(item: pytest.Item) -> bool:
    """Whether a test is asynchronous, run by pytest-asyncio, and opts in: by marker, by fixture or by ini setting."""
    names = frozenset(getattr(item, "fixturenames", ()))
    wants = bool(item.get_closest_marker("simrt") or names & _FIXTURES or item.config.getini("simrt_virtual_time"))
    return wants and inspect.iscoroutinefunction(_innermost(getattr(item, "obj", None)))


def _innermost(function: Any) -> Any:
    """The test itself, also below Hypothesis' wrapper."""
    inner = getattr(function, "hypothesis", None)
    return function if inner is None else inner.inner_test


class _Factories:
    """Answers pytest-asyncio's hook."""

    def __init__(self, config: pytest.Config) -> None:
        self._config = config

    @pytest.hookimpl(tryfirst=True, optionalhook=True)
    def pytest_asyncio_loop_factories(self) -> Mapping[str, Callable[[], asyncio.AbstractEventLoop]]:
        return {"simrt": self._new_loop}

    def _new_loop(self) -> asyncio.AbstractEventLoop:
        item = self._config.stash[_CURRENT]
        world = world_of(item)
        if item.stash.get(_TAKEN, False):  # a loop of a wider scope has it
            world = item.stash[_WORLD] = _new_world(item)
        item.stash[_TAKEN] = True
        loop: Any = world.loop
        # Where the plugin looptime is installed, it lays its hand on the selector of every test's loop, also of those
        # that it then leaves alone.
        loop._selector = SimpleNamespace(select=None)
        return world.loop


def world_of(item: pytest.Item) -> "World":
    """The World of a test, made when it is first asked for."""
    if _WORLD not in item.stash:
        item.stash[_WORLD] = _new_world(item)
    return item.stash[_WORLD]


def _new_world(item: pytest.Item) -> "World":
    from simrt.world import World

    settings = settings_of(item)
    return World(**{name: settings[name] for name in ("start", "seed") if name in settings})


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_generate_tests(metafunc: pytest.Metafunc) -> Iterator[None]:
    """Have pytest-asyncio take our loop for this function."""
    if not is_virtual(metafunc.definition) or not metafunc.config.pluginmanager.hasplugin("asyncio"):
        return (yield)
    plugins = metafunc.config.pluginmanager
    ours = _Factories(metafunc.config)
    plugins.register(ours)
    try:
        return (yield)
    finally:
        plugins.unregister(ours)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember whose loop is made."""
    item.config.stash[_CURRENT] = item
