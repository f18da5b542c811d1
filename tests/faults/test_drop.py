from .runs import fired, plain, refused, with_fault


def test_that_one_event_never_comes() -> None:
    call = with_fault("drop:event=response.done,nth=-1")
    want = list(plain().got)
    gone = max(k for k, got in enumerate(want) if got.kind == "response.done")
    moment = want.pop(gone).ms
    assert [(got.ms, got.kind) for got in call.got] == [(got.ms, got.kind) for got in want]
    assert fired(call) == [(moment, "drop")]


def test_what_was_dropped_is_not_called_unplayed() -> None:
    assert with_fault("drop:event=response.done").session.final_verdict().clean


def test_what_the_client_would_have_done_upon_it_is_not_asked() -> None:
    call = with_fault("drop:event=response.done,nth=0")
    assert call.session.final_verdict().unasked == ["conversation.item.create:function_call_output", "response.create"]
    assert call.of("response.output_audio.delta")[0].send.reply == 1


def test_an_event_that_never_came_leaves_it_unfired() -> None:
    call = with_fault("drop:event=response.done,nth=0", "drop:event=response.output_audio.delta,nth=0")
    assert call.session.final_verdict().unfired == ["drop:event=response.output_audio.delta,nth=0"]


def test_no_such_event_can_never_fire() -> None:
    assert "no 'nothing' event" in refused("drop:event=nothing")
