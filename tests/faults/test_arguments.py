import json

import pytest

from tests.replay.hand import Call

from .runs import fired, plain, refused, with_fault

DONE = "response.function_call_arguments.done"


def told(call: Call, number: int = 0) -> set[str]:
    """What the events of one call, and of the response that makes it, say that its arguments are."""
    done = call.of(DONE)[number].event
    found = {done["arguments"]}
    deltas = [got.event for got in call.of("response.function_call_arguments.delta")]
    found.add("".join(event["delta"] for event in deltas if event["item_id"] == done["item_id"]))
    for got in call.got:
        items = [got.event.get("item"), *((got.event.get("response") or {}).get("output") or [])]
        if got.kind.endswith(".done"):
            found |= {
                i["arguments"]
                for i in items
                if isinstance(i, dict) and (i.get("type"), i.get("call_id")) == ("function_call", done["call_id"])
            }
    return found


def test_empty_ones_are_empty_wherever_they_are_told() -> None:
    call = with_fault("arguments:call=0")
    assert told(call) == {""}
    ids = {got.event["item_id"] for got in call.of("response.function_call_arguments.delta")}
    assert call.of(DONE)[0].event["item_id"] not in ids


def test_broken_ones_are_no_json() -> None:
    (text,) = told(with_fault("arguments:call=0,are=broken"))
    whole = plain().of(DONE)[0].event["arguments"]
    assert whole.startswith(text)
    with pytest.raises(json.JSONDecodeError):
        json.loads(text)


def test_none_are_an_empty_object() -> None:
    assert told(with_fault("arguments:call=0,are=none")) == {"{}"}


def test_the_call_is_complete_and_in_the_history() -> None:
    call = with_fault("arguments:call=0")
    item_id = call.of(DONE)[0].event["item_id"]
    item = call.session.retrieve(item_id)
    assert item is not None
    assert (item["status"], item["arguments"]) == ("completed", "")
    assert fired(call) == [(call.of(DONE)[0].ms, "arguments:call=0")]


def test_answered_and_asked_for_a_response_the_model_makes_the_call_again_rightly() -> None:
    call = with_fault("arguments:call=0")
    assert told(call, 1) == told(plain())
    assert call.of(DONE)[1].event["call_id"] != call.of(DONE)[0].event["call_id"]
    assert [reply for reply, _, _ in call.ear.ended] == [0, 1]


def test_no_such_call_can_never_fire() -> None:
    assert "the cassette has 2 tool calls, so call=2 is not there" in refused("arguments:call=2")
