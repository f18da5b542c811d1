from clients.call import Call

from .calling import findings
from .small import Small


class Stays(Small):
    """Never hangs up."""

    def end(self) -> None:
        pass


class Mute(Stays):
    """Does not answer the call that hangs up either."""

    async def goodbye_over(self, response_id: str) -> bool:
        return True


def test_the_tool_that_hangs_up_is_called_for_nothing() -> None:
    (found,) = findings("END403", Mute, "front-desk", cap_ms=30_000)
    assert "end_call was called and never answered" in found.message


def test_the_caller_hung_up_and_nobody_noticed() -> None:
    (found,) = findings("END403", Stays, "front-desk", "hang-up:at=9000ms", cap_ms=30_000)
    assert "the caller hung up" in found.message


def test_the_connection_was_lost_and_the_client_stays() -> None:
    (found,) = findings("END403", Stays, "front-desk", "close:at=9000ms", cap_ms=30_000)
    assert "the connection was lost" in found.message


def test_where_the_server_owes_the_next_step_it_is_a_note() -> None:
    found = findings("END403", Call, "front-desk", "drop:event=response.done,nth=0", cap_ms=30_000)
    assert {finding.severity for finding in found} <= {"note"}


def test_who_hangs_up_is_right() -> None:
    for faults in ((), ("hang-up:at=9000ms",), ("close:at=9000ms",)):
        assert findings("END403", Call, "front-desk", *faults, cap_ms=30_000) == []
