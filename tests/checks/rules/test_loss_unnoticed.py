import asyncio

import pytest

from clients.call import Call
from simrt import Line

from .calling import findings
from .small import Small
from .test_socket_left_open import closes_it

LOSSES = ["close:at=5000ms,code=1001", "reset:at=5000ms"]


class Stays(Small):
    """Waits for the caller to hang up, as if the connection were there."""

    def lost(self) -> None:
        pass


@pytest.mark.parametrize("loss", LOSSES)
def test_a_client_that_stays(loss: str) -> None:
    (found,) = findings("END405", Stays, "front-desk", loss, cap_ms=30_000)
    assert found.t_ms == pytest.approx(5000, abs=60)


@pytest.mark.parametrize("loss", LOSSES)
def test_a_client_that_hangs_up(loss: str) -> None:
    assert findings("END405", Call, "front-desk", loss) == []


async def again(line: Line) -> None:
    """Connects anew when it is cut off."""
    for _ in range(2):
        await closes_it(line)
    await asyncio.sleep(1)


def test_a_client_that_connects_again() -> None:
    assert findings("END405", again, "front-desk", "close:at=500ms") == []
