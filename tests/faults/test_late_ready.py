from clients.call import Call as Desk
from simrt.call import run_call
from tests.replay.hand import Call, update

from .runs import fired, front_desk, plain, refused, times, with_fault


def test_ready_no_earlier_than_that() -> None:
    call = with_fault("late-ready:at=2500ms")
    assert times(call, "session.updated") == [2500]
    assert times(call, "session.created") == times(plain(), "session.created")
    assert fired(call) == [(270, "late-ready:at=2500ms")]


def test_only_the_first_update_is_late() -> None:
    call = update(Call(front_desk(), ["late-ready:at=2s"]), 70)
    update(call, 3000).run()
    assert times(call, "session.updated") == [2000, 3050]


def test_a_session_that_is_later_by_itself_leaves_it_unfired() -> None:
    call = with_fault("late-ready:at=100ms")
    assert times(call) == times(plain())
    assert call.session.final_verdict().unfired == ["late-ready:at=100ms"]


def test_a_cassette_without_session_updated_is_refused(recordings: object) -> None:
    from simrt.replay.score import OPEN, Score
    from simrt.trace import Opening

    empty = Score("realtime", "openai", Opening(), [], {OPEN: []})
    assert "no 'session.updated' event" in refused("late-ready", empty)


def test_a_turn_that_comes_in_one_piece_begins_before_it_ends() -> None:
    frames = run_call(Desk, "front-desk", "late-ready:at=5s").trace.sent_by("server")
    kinds = [event["type"] for frame in frames if (event := frame.event()) is not None]
    speech = [kind for kind in kinds if kind.startswith("input_audio_buffer.speech_")]
    assert speech == ["input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped"] * 2
