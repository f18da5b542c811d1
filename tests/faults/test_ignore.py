from tests.replay.hand import Call, answer_tools, samples_of, update

from .runs import fired, front_desk, refused, with_fault


def test_nothing_comes_of_it() -> None:
    call = with_fault("ignore")
    assert call.errors() == []
    assert [reply for reply, _, _ in call.ear.ended] == [1]
    assert [name for _, name in fired(call)] == ["ignore"]


def test_asked_again_the_server_obliges() -> None:
    def react(call: Call, ms: float, event: dict[str, object]) -> None:
        answer_tools(call, ms, event)
        if event.get("type") == "response.done" and len(call.of("response.done")) == 1:
            call.send(ms + 3000, {"type": "response.create"})

    call = update(Call(front_desk(), ["ignore"], react=react), 70)
    call.say(300, samples_of("booking"), tail_ms=18_000)
    call.run()
    assert [reply for reply, _, _ in call.ear.ended] == [0]


def test_what_the_client_never_sends_can_never_fire() -> None:
    assert "can never fire" in refused("ignore:event=response.cancel")
