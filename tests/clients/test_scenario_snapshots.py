"""The front desk's calls as text: what a reviewer sees when a client, a cassette or the engine changes."""

from typing import Any

import pytest

from clients.call import Call, DrainCall, NaiveCall

STALL = "stall:reply=-1,at=1500ms,for=500ms"
SCENARIOS = {
    "plain-call": (Call, "front-desk", []),
    "plain-naive": (NaiveCall, "front-desk", []),
    "stall-call": (Call, "front-desk-short", [STALL]),
    "stall-drain": (DrainCall, "front-desk-short", [STALL]),
    "talk-over-call": (Call, "talk-over", []),
    "late-ready-call": (Call, "late-ready", []),
    "no-done-call": (Call, "no-done", []),
}


@pytest.mark.parametrize("name", SCENARIOS)
def test_the_call_is_as_it_was_reviewed(name: str, simrt_call: Any, simrt_snapshot: Any) -> None:
    client, cassette, faults = SCENARIOS[name]
    assert simrt_call(client, cassette, faults) == simrt_snapshot
