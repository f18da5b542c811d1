import base64

from simrt.faults import LateAudio
from tests.replay.hand import Call, answer_tools, samples_of, update

from .runs import fired, front_desk, refused, whole_call
from .test_barge_in import talked_over


def test_the_next_audio_of_the_cut_reply_comes_behind_its_end() -> None:
    call = talked_over("late-audio")
    (cut,) = (got for got in call.of("response.done") if got.event["response"]["status"] == "cancelled")
    late = [got for got in call.of("response.output_audio.delta") if got.ms == cut.ms + 200 and got.send.reply == 1]
    assert [got.event["response_id"] for got in late] == [cut.event["response"]["id"]] * 2
    whole = b"".join(frame.audio for frame in front_desk().frames if frame.reply == 1)
    sent = b"".join(
        base64.b64decode(got.event["delta"]) for got in call.of("response.output_audio.delta") if got.send.reply == 1
    )
    assert whole.startswith(sent)
    assert sum(length for reply, ms, length in call.ear.audio if reply == 1 and ms > cut.ms) == 400
    assert (cut.ms + 200, "late-audio") in fired(call)


def test_the_rest_never_comes() -> None:
    call = talked_over("late-audio:for=1s")
    heard = sum(length for reply, _, length in call.ear.audio if reply == 1)
    assert heard < 4900


def test_what_the_client_cancels_is_late_too_without_a_barge_in() -> None:
    def react(call: Call, ms: float, event: dict[str, object]) -> None:
        if event.get("type") == "response.output_audio.delta" and len(call.ear.audio) == 3:
            call.send(ms + 1, {"type": "response.cancel"})
        answer_tools(call, ms, event)

    call = update(Call(front_desk(), [LateAudio(reply=0, at=None)], react=react), 70)
    call.say(300, samples_of("booking"), tail_ms=9000)
    call.run()
    assert call.session.final_verdict().unfired == []


def test_a_reply_that_is_not_cut_leaves_it_unfired() -> None:
    assert whole_call(front_desk(), ["late-audio"]).session.final_verdict().unfired == ["late-audio"]


def test_a_place_that_is_not_there_can_never_fire() -> None:
    assert "at=6000ms lies beyond" in refused("late-audio:at=6s")
