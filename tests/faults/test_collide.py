from tests.replay.hand import Call, answer_tools, samples_of, update

from .runs import fired, front_desk, plain, refused, with_fault


def colliding(after_ms: float | None = None, *faults: str) -> Call:
    """A client that asks again so long after the prompt has ended."""

    def react(call: Call, ms: float, event: dict[str, object]) -> None:
        answer_tools(call, ms, event)
        if after_ms is not None and event.get("type") == "response.done" and len(call.of("response.done")) == 2:
            call.send(ms + after_ms, {"type": "response.create"})

    call = update(Call(front_desk(), ["collide", *faults], react=react), 70)
    call.say(300, samples_of("booking"), tail_ms=18_000)
    return call.run()


def test_the_prompt_begins_and_the_request_is_refused() -> None:
    call = colliding()
    assert [code for code, _ in call.errors()] == ["conversation_already_has_active_response"]
    created = call.of("response.created")[1]
    error = call.one("error")
    kinds = call.kinds()
    assert created.ms == error.ms
    assert kinds.index("error") > [k for k, kind in enumerate(kinds) if kind == "response.created"][1]
    assert created.event["response"]["id"] in error.event["error"]["message"]
    assert [reply for reply, _, _ in call.ear.ended] == ["prompt-0"]
    assert [name for _, name in fired(call)] == ["collide"]


def test_the_server_says_what_made_it_speak() -> None:
    call = colliding()
    triggered = call.one("input_audio_buffer.timeout_triggered")
    assert triggered.event["audio_end_ms"] > 1000
    item_id = triggered.event["item_id"]
    assert call.session.retrieve(item_id) is not None


def test_asked_again_afterwards_the_reply_comes_as_on_the_cassette() -> None:
    call = colliding(50)
    assert [reply for reply, _, _ in call.ear.ended] == ["prompt-0", 0]
    assert call.session.final_verdict().unscripted == []


def test_a_request_that_is_refused_anyway_collides_by_itself() -> None:
    call = colliding(None, "delay:event=response.done,nth=0,for=2s")
    assert len(call.errors()) <= 1
    ids = [got.event["event_id"] for got in call.got]
    assert len(ids) == len(set(ids))


def test_no_such_request_can_never_fire() -> None:
    assert "can never fire" in refused("collide:nth=1")
    assert with_fault("collide").got != plain().got
