from tests.replay.hand import Call, samples_of, update

from .runs import fired, front_desk, plain, refused, whole_call, with_fault

DONE = "response.function_call_arguments.done"


def test_the_response_ends_with_the_call_and_says_so() -> None:
    call = with_fault("incomplete-call:call=0")
    done = call.of("response.done")[0].event["response"]
    assert done["status"] == "incomplete"
    assert done["status_details"] == {"type": "incomplete", "reason": "max_output_tokens"}
    (item,) = done["output"]
    text = call.of(DONE)[0].event["arguments"]
    assert (item["status"], item["arguments"]) == ("incomplete", text)
    whole = plain().of(DONE)[0].event["arguments"]
    assert whole.startswith(text)
    assert text != whole
    kinds = call.kinds()
    first = kinds.index(DONE)
    assert kinds[first : first + 4] == [
        DONE,
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    assert fired(call) == [(call.of(DONE)[0].ms, "incomplete-call:call=0")]


def test_nothing_more_of_the_reply_is_heard() -> None:
    call = with_fault("incomplete-call")
    assert sum(length for reply, _, length in call.ear.audio if reply == 1) == 500  # what was sent before the call


def test_whole_arguments_may_be_answered() -> None:
    call = update(Call(front_desk(), ["incomplete-call:call=0,arguments=whole"]), 70)
    call.react = lambda call, ms, event: answer(call, ms, event)
    call.say(300, samples_of("booking"), tail_ms=15_000)
    call.run()
    assert call.of(DONE)[0].event["arguments"] == plain().of(DONE)[0].event["arguments"]
    assert call.of("response.output_item.done")[0].event["item"]["status"] == "incomplete"
    assert [reply for reply, _, _ in call.ear.ended] == [0]  # the cassette's reply to the output


def answer(call: Call, ms: float, event: dict[str, object]) -> None:
    if event.get("type") == DONE:
        output = {"type": "function_call_output", "call_id": event["call_id"], "output": "{}"}
        call.send(ms + 1, {"type": "conversation.item.create", "item": output})
        call.send(ms + 500, {"type": "response.create"})


def test_asked_for_a_response_the_call_is_made_anew() -> None:
    call = whole_call(front_desk(), ["incomplete-call:call=0"])
    assert [got.event["response"]["status"] for got in call.of("response.done")][:2] == ["incomplete", "completed"]
    assert call.of(DONE)[1].event["arguments"] == plain().of(DONE)[0].event["arguments"]


def test_no_such_call_can_never_fire() -> None:
    assert "can never fire" in refused("incomplete-call:call=-3")
