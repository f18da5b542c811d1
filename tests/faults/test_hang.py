import pytest

from tests.replay.hand import Call, answer_tools, samples_of, update

from .runs import fired, front_desk, plain, refused, times, whole_call, with_fault


def stuck(*faults: str, client: list[tuple[float, dict[str, object]]] = []) -> Call:  # noqa: B006
    """The front desk by a client that sends these so many ms after the response that hangs was created."""
    begun: list[float] = []

    def react(call: Call, ms: float, event: dict[str, object]) -> None:
        answer_tools(call, ms, event)
        if event.get("type") == "response.created" and len(call.of("response.created")) == 2:
            begun.append(ms)
            for after, message in client:
                call.send(ms + after, message)

    call = update(Call(front_desk(), faults, react=react), 70)
    call.say(300, samples_of("booking"), tail_ms=30_000)
    return call.run()


def test_only_its_beginning_comes_and_the_server_thinks_it_active() -> None:
    call = stuck("hang:response=1")
    assert len(call.of("response.created")) == 2
    assert len(call.of("response.done")) == 1
    assert call.realtime.active is not None
    assert fired(call) == [(times(call, "response.created")[1], "hang:response=1")]


def test_a_request_is_refused_until_it_is_cancelled_and_then_brings_it_anew() -> None:
    ask: dict[str, object] = {"type": "response.create"}
    call = stuck("hang:response=1", client=[(3000, ask), (4000, {"type": "response.cancel"}), (4100, ask)])
    assert [code for code, _ in call.errors()] == ["conversation_already_has_active_response"]
    statuses = [got.event["response"]["status"] for got in call.of("response.done")]
    assert statuses == ["completed", "cancelled", "completed"]
    assert [reply for reply, _, _ in call.ear.ended] == [0]


def test_what_was_begun_is_closed_when_it_is_cancelled() -> None:
    call = stuck("hang:response=1,at=1s", client=[(5000, {"type": "response.cancel"})])
    done = call.of("response.done")[-1].event["response"]
    assert [item["status"] for item in done["output"]] == ["incomplete"]
    assert call.of("response.output_item.done")[-1].event["item"]["status"] == "incomplete"
    heard = sum(length for reply, _, length in call.ear.audio if reply == 0)
    assert 800 <= heard <= 1000


def test_up_to_the_place_all_is_as_ever() -> None:
    call = with_fault("hang:response=-1,at=1500ms")
    length = len(call.got)
    assert [got.kind for got in call.got] == [got.kind for got in plain().got[:length]]
    assert "response.done ×" in " ".join(call.session.final_verdict().unplayed)


@pytest.mark.parametrize("fault", ["hang:response=5", "hang:response=-1,at=9s"])
def test_what_is_not_there_can_never_fire(fault: str) -> None:
    assert "can never fire" in refused(fault)


def test_a_response_that_never_begins_leaves_it_unfired() -> None:
    call = update(Call(front_desk(), ["hang:response=1"]), 70).run()
    assert call.session.final_verdict().unfired == ["hang:response=1"]
    assert whole_call(front_desk(), ["hang:response=1"]).session.final_verdict().unfired == []
