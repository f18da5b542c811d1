from clients.call import Call

from .calling import findings
from .small import Small


class Anyway(Small):
    """Hangs up at the end of the goodbye, whatever became of it."""

    async def goodbye_over(self, response_id: str) -> bool:
        await super().goodbye_over(response_id)
        return True


def test_a_goodbye_that_the_caller_talks_over() -> None:
    (found,) = findings("END402", Anyway, "talk-over")
    assert "after they began to speak" in found.message
    assert findings("END402", Call, "talk-over") == []


def test_a_goodbye_that_nobody_interrupts() -> None:
    assert findings("END402", Anyway, "front-desk") == []


def test_a_cough_is_no_turn() -> None:
    assert findings("END402", Call, "front-desk", "cough:reply=-1,at=1000ms") == []
