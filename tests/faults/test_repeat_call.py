from tests.replay.hand import Call

from .runs import fired, plain, refused, with_fault

COMPLETING = ["response.function_call_arguments.done", "conversation.item.done", "response.output_item.done"]


def of_call(call: Call, item_id: str) -> list[str]:
    """The events about that item, by type."""
    named = [(got.kind, got.event.get("item_id") or (got.event.get("item") or {}).get("id")) for got in call.got]
    return [kind for kind, named_id in named if named_id == item_id]


def first_call(call: Call) -> str:
    return str(call.of(COMPLETING[0])[0].event["item_id"])


def test_what_completes_it_comes_again() -> None:
    call = with_fault("repeat-call:call=0")
    item_id = first_call(plain())
    assert of_call(call, item_id) == of_call(plain(), item_id) + COMPLETING
    assert fired(call) == [(call.of(COMPLETING[2])[0].ms, "repeat-call:call=0")]


def test_or_a_little_later() -> None:
    call = with_fault("repeat-call:call=0,after=200ms")
    first, second = (got.ms for got in call.of(COMPLETING[0])[:2])
    assert second - first == 200
    assert len(call.of("response.done")) == len(plain().of("response.done"))


def test_a_second_call_has_ids_of_its_own_and_all_events() -> None:
    call = with_fault("repeat-call:call=0,id=new")
    first, second = call.of(COMPLETING[0])[:2]
    assert first.event["arguments"] == second.event["arguments"]
    assert first.event["call_id"] != second.event["call_id"]
    item_id = str(second.event["item_id"])
    assert of_call(call, item_id) == of_call(plain(), first_call(plain()))
    output = call.of("response.done")[0].event["response"]["output"]
    assert [item["id"] for item in output] == [first.event["item_id"], item_id]
    assert second.event["output_index"] == first.event["output_index"] + 1
    assert call.session.retrieve(item_id) is not None
    ids = [got.event["event_id"] for got in call.got]
    assert len(ids) == len(set(ids))


def test_no_such_call_can_never_fire() -> None:
    assert "call=2 is not there" in refused("repeat-call:call=2")
