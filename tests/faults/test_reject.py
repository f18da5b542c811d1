import pytest

from tests.replay.hand import Call, answer_tools, samples_of, update

from .runs import fired, front_desk, refused, with_fault


def test_an_error_that_quotes_the_event_is_all_that_comes() -> None:
    def react(call: Call, ms: float, event: dict[str, object]) -> None:
        if event.get("type") == "response.done" and len(call.of("response.done")) == 1:
            call.send(ms + 1, {"type": "response.create", "event_id": "mine"})

    call = update(Call(front_desk(), ["reject"], react=react), 70)
    call.say(300, samples_of("booking"), tail_ms=6000)
    call.run()
    assert call.errors() == [("server_error", "mine")]
    assert len(call.of("response.created")) == 1
    assert fired(call) == [(call.one("error").ms, "reject")]


def test_asked_again_the_server_obliges_as_on_the_cassette() -> None:
    def react(call: Call, ms: float, event: dict[str, object]) -> None:
        answer_tools(call, ms, event)
        if event.get("type") == "error":
            call.send(ms + 100, {"type": "response.create"})

    call = update(Call(front_desk(), ["reject"], react=react), 70)
    call.say(300, samples_of("booking"), tail_ms=15_000)
    call.run()
    assert [reply for reply, _, _ in call.ear.ended] == [0]
    assert call.session.final_verdict().unscripted == []


def test_what_is_refused_has_no_effect() -> None:
    call = Call(front_desk(), ["reject:event=session.update,nth=0,code=invalid_value"])
    update(call, 70, instructions="be brief")
    call.run()
    assert call.errors() == [("invalid_value", None)]
    assert call.of("session.updated") == []
    assert call.realtime.session.get("instructions") == ""


def test_the_nth_counts_those_of_that_type_only() -> None:
    call = with_fault("reject:event=conversation.item.create,nth=0")
    assert [code for code, _ in call.errors()] == ["server_error"]
    assert len(call.of("response.created")) == 3


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("reject:nth=1", "the client sends 1 'response.create' events"),
        ("reject:event=response.cancel", "it sends: conversation.item.create, response.create, session.update"),
    ],
)
def test_what_the_client_never_sends_can_never_fire(fault: str, why: str) -> None:
    assert why in refused(fault)
