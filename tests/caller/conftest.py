import asyncio
from collections.abc import Callable, Iterator

import pytest

from simrt.audio import PCM24, AudioFormat

from .loops import LOOPS, Room


@pytest.fixture(params=sorted(LOOPS))
def loop(request: pytest.FixtureRequest) -> Iterator[asyncio.AbstractEventLoop]:
    loop = LOOPS[request.param]()
    yield loop
    loop.close()


@pytest.fixture
def room(loop: asyncio.AbstractEventLoop) -> Room:
    return Room(loop)


@pytest.fixture
def room_in(loop: asyncio.AbstractEventLoop) -> Callable[[AudioFormat], Room]:
    """A room with a line in that format."""
    return lambda format=PCM24: Room(loop, format)
