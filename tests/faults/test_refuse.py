import json

import pytest

from tests.replay.hand import Call

from .runs import fired, front_desk, refused


@pytest.mark.parametrize(
    ("status", "code"),
    [
        (401, "invalid_api_key"),
        (403, "forbidden"),
        (429, "rate_limit_exceeded"),
        (503, "service_unavailable"),
        (500, "error"),
    ],
)
def test_the_handshake_is_answered_with_that_status(status: int, code: str) -> None:
    call = Call(front_desk(), [f"refuse:status={status}"])
    assert call.refusal is not None
    assert call.refusal.status == status
    assert json.loads(call.refusal.body)["error"]["code"] == code
    assert ("Content-Type", "application/json") in call.refusal.headers
    assert [name for _, name in fired(call)] == [f"refuse:status={status}" if status != 429 else "refuse"]


def test_times_0_lets_everybody_in() -> None:
    call = Call(front_desk(), ["refuse:times=0"])
    assert call.refusal is None
    assert call.session.final_verdict().unfired == ["refuse:times=0"]


@pytest.mark.parametrize("status", [101, 200, 299, 600])
def test_a_status_that_is_no_refusal_is_told(status: int) -> None:
    assert "an HTTP refusal has a status from 300 to 599" in refused(f"refuse:status={status}")
