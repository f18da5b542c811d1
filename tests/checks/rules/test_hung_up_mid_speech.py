from .calling import findings
from .live import in_parcel
from .test_placed_is_not_heard import Answers, Waits


class Early(Answers):
    wait_s = 2.0


def test_a_client_that_closes_while_the_agent_speaks() -> None:
    (found,) = findings("LIV607", Early, "parcel-status")
    assert found.evidence["left_ms"] > 200


def test_clients_that_wait_for_the_end() -> None:
    assert findings("LIV607", Waits, "parcel-status") == []
    assert in_parcel("LIV607", "Parcel", "parcel-status") == []
