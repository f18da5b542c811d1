import pytest

from clients.call import Call

from .calling import findings
from .small import Event, Small


class Breaks(Small):
    """Knows no errors."""

    async def error(self, error: Event) -> None:
        raise TypeError("no such event")


def test_a_client_that_raises_in_the_middle() -> None:
    (found,) = findings("END409", Breaks, "front-desk", "error:reply=0,at=2000ms")
    assert "TypeError: no such event" in found.message
    assert "after error" in found.message


@pytest.mark.parametrize("faults", [(), ("error:reply=0,at=2000ms",), ("close:at=20ms",)])
def test_a_clear_error_before_the_session_is_up_is_none(faults: tuple[str, ...]) -> None:
    assert findings("END409", Call, "front-desk", *faults) == []
