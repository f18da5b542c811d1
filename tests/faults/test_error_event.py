import pytest

from .runs import fired, plain, refused, times, with_fault


@pytest.mark.parametrize("when", ["at=3s", "reply=1,at=1500ms", "event=response.created,nth=1"])
def test_an_error_comes_and_the_session_goes_on(when: str) -> None:
    call = with_fault(f"error:{when},code=rate_limit,message=Slow down")
    error = call.one("error")
    assert error.event["error"]["code"] == "rate_limit"
    assert error.event["error"]["message"] == "Slow down"
    moment = {
        "at=3s": 3000,
        "reply=1,at=1500ms": times(plain(), reply=1)[7],
        "event=response.created,nth=1": times(plain(), "response.created")[1],
    }[when]
    assert error.ms == moment
    assert [ms for ms, _ in fired(call)] == [moment]
    assert [got.kind for got in call.got if got.kind != "error"] == [got.kind for got in plain().got]


def test_it_stands_behind_the_event_and_before_the_audio() -> None:
    behind = [got.kind for got in with_fault("error:event=session.created").got]
    assert behind[:2] == ["session.created", "error"]
    before = with_fault("error:reply=1,at=1500ms").got
    k = next(k for k, got in enumerate(before) if got.kind == "error")
    assert next(got for got in before[k:] if got.send.audio).send.frame.audio_start_us == 1_500_000  # type: ignore[union-attr]


def test_the_fault_is_not_called_synthetic() -> None:
    assert with_fault("error:at=3s").session.final_verdict().clean


def test_behind_the_end_it_never_fires() -> None:
    assert "say when" in refused("error")
