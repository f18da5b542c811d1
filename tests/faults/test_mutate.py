import pytest

from simrt.faults import Mutate, parse_fault

from .runs import fired, plain, refused, with_fault


def test_one_field_of_one_event_is_another() -> None:
    call = with_fault("mutate:event=response.done,nth=0,value=failed")
    first, second = call.of("response.done")[:2]
    assert first.event["response"]["status"] == "failed"
    assert second.event["response"]["status"] == "completed"
    want = plain().of("response.done")[0].event
    assert {**first.event["response"], "status": "completed"} == want["response"]
    assert fired(call) == [(first.ms, "mutate:nth=0,value=failed")]


def test_without_a_value_it_is_not_there() -> None:
    event = with_fault("mutate:event=response.function_call_arguments.done,nth=0,field=name").of(
        "response.function_call_arguments.done"
    )[0]
    assert "name" not in event.event


@pytest.mark.parametrize(
    ("value", "there"), [("null", None), ("[1]", [1]), ("17", 17), ("soon", "soon"), ('"17"', "17"), ('""', "")]
)
def test_a_value_is_json_or_else_a_text(value: str, there: object) -> None:
    fault = Mutate("response.done", 0, "response.usage", value)
    call = with_fault(str(fault))
    assert call.of("response.done")[0].event["response"]["usage"] == there


def test_a_field_may_be_new_and_lie_in_a_list() -> None:
    call = with_fault("mutate:event=response.done,nth=-1,field=response.output.1.news,value=1")
    assert call.of("response.done")[-1].event["response"]["output"][1]["news"] == 1


def test_the_server_itself_believes_what_it_did_before() -> None:
    call = with_fault("mutate:event=response.done,nth=0,field=response.id,value=resp_other")
    assert call.errors() == []
    assert call.realtime.active is None


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("mutate:event=nothing", "no 'nothing' event"),
        ("mutate:field=response.statos", "response.done has no 'response.statos'"),
        ("mutate:field=reply.status,value=1", "response.done has no 'reply.status'"),
        ("mutate:field=response.output.7,value=1", "response.done has no 'response.output.7'"),
        ("mutate:field=type,value=response.doing", "another event"),
    ],
)
def test_what_is_not_there_can_never_fire(fault: str, why: str) -> None:
    assert why in refused(fault)


def test_the_compact_form_reads_back_an_empty_text() -> None:
    fault = Mutate("response.done", -1, "response.status", "")
    assert parse_fault(str(fault)) == fault
