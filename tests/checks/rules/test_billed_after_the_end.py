import asyncio

import pytest

from clients.call import Call

from .calling import findings
from .small import Small


class KeepsTheSocket(Small):
    """Lets the line go, and thinks of the connection later."""

    async def tidy_up(self) -> None:
        await self.line.hang_up()
        await asyncio.sleep(4)
        await super().tidy_up()


class Lingers(Small):
    """Sits there for a while when all is said."""

    async def goodbye_over(self, response_id: str) -> bool:
        over = await super().goodbye_over(response_id)
        await asyncio.sleep(20)
        return over


def test_a_connection_that_outlives_the_line() -> None:
    (found,) = findings("END408", KeepsTheSocket, "front-desk")
    assert found.evidence["billed_ms"] == pytest.approx(4000, abs=10)


def test_a_line_that_is_kept_for_nothing() -> None:
    (found,) = findings("END408", Lingers, "front-desk")
    assert found.evidence["billed_ms"] == pytest.approx(20_000, abs=300)


@pytest.mark.parametrize("cassette", ["front-desk", "no-done", "talk-over", "late-ready"])
def test_who_hangs_up_in_time(cassette: str) -> None:
    assert findings("END408", Call, cassette) == []
