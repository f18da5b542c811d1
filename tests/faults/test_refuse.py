import asyncio
import json

import pytest
from websockets.asyncio.client import connect
from websockets.exceptions import InvalidStatus

from simrt import shipped
from simrt.call import run_call
from simrt.caller import Line
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


def test_times_counts_the_connections_of_a_call() -> None:
    async def client(line: Line) -> None:
        for _ in range(3):
            try:
                async with connect(line.url, additional_headers=line.headers) as ws:
                    assert "session.created" in str(await ws.recv())
                    line.note("let in")
                    return
            except InvalidStatus as error:
                line.note(f"refused {error.response.status_code}")
                await asyncio.sleep(1)

    result = run_call(client, shipped.cassette("front-desk"), ["refuse:status=503,times=2"])
    assert [note.split("  ")[1] for note in result.log] == ["refused 503", "refused 503", "let in"]
    assert result.verdict.unfired == []
    assert [mark.detail["fault"] for mark in result.trace.marks] == ["refuse:status=503,times=2"]


@pytest.mark.parametrize("status", [101, 200, 299, 600])
def test_a_status_that_is_no_refusal_is_told(status: int) -> None:
    assert "an HTTP refusal has a status from 300 to 599" in refused(f"refuse:status={status}")
