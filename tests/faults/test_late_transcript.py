from .runs import fired, plain, refused, times, with_fault

COMPLETED = "conversation.item.input_audio_transcription.completed"


def test_it_comes_behind_the_next_end_of_a_response() -> None:
    call = with_fault("late-transcript")
    was = times(plain(), COMPLETED)[0]
    done = next(ms for ms in times(call, "response.done") if ms > was)
    late = call.of(COMPLETED)[0]
    assert late.ms == done + 100
    assert late.event["transcript"] == plain().of(COMPLETED)[0].event["transcript"]
    assert fired(call) == [(late.ms, "late-transcript")]


def test_the_others_come_as_they_did() -> None:
    call = with_fault("late-transcript:after=1s")
    assert times(call, COMPLETED)[1] == times(plain(), COMPLETED)[1]


def test_no_such_transcript_can_never_fire() -> None:
    assert "nth=2 is not there" in refused("late-transcript:nth=2")
