"""The wire facts measured on live calls (SCENARIOS §1), reproduced by the authored front desk."""

import numpy as np
import pytest

from simrt.audio import PCM24, ULAW8
from simrt.caller.clip import fixture_clip
from simrt.replay.score import Score

from .hand import (
    ULAW_UPDATE,
    Call,
    answer_tools,
    front_desk,
    one_reply,
    samples_of,
    silence,
    update,
    whole_call,
)

BOOKING = "Hi, yes, I'm calling about my booking for Friday. The surname's Okafor."
OVER = "barge-in:clip=one-more-thing,reply=-1,at=500ms"


def first(call: Call, kind: str, reply: int) -> float:
    return next(got.ms for got in call.of(kind) if got.send.reply == reply)


def audio(call: Call, reply: int) -> list[tuple[float, float]]:
    """When each piece of a reply came, and how long it is."""
    return [(got.ms, len(got.send.audio) / 48) for got in call.got if got.send.reply == reply and got.send.audio]


# --- the beginning


def test_pcm_before_the_update_is_heard_in_full() -> None:
    call = Call(front_desk())
    call.say(0, samples_of("booking"))
    update(call, 7000).run(8000)
    assert call.ear.turns == [(0, BOOKING, 0)]
    assert call.errors() == []


def test_mu_law_before_the_update_is_lost_without_any_sign() -> None:
    call = Call(front_desk())
    call.say(0, samples_of("booking"), ULAW8)
    update(call, 7000, audio=ULAW_UPDATE["audio"]).run(20_000)
    assert call.kinds() == ["session.created", "session.updated"]
    assert call.ear.turns == []
    assert "input_audio_buffer.speech_started ×2" in call.session.final_verdict().unplayed


@pytest.mark.parametrize("burst", [True, False])
def test_mu_law_between_update_and_updated_is_heard_in_full(burst: bool) -> None:
    call = Call(front_desk(), ["late-ready:at=8s"])
    update(call, 70, audio=ULAW_UPDATE["audio"])
    call.say(80, samples_of("booking"), ULAW8, burst=burst)
    call.run(10_000)
    assert call.one("session.updated").ms == 8000
    assert call.ear.turns == [(0, BOOKING, 0)]


def test_mu_law_is_lost_up_to_the_update_and_heard_from_there() -> None:
    """The very frame that follows the update counts."""
    call = Call(front_desk())
    update(call, 1500, audio=ULAW_UPDATE["audio"])
    call.say(0, samples_of("booking"), ULAW8)
    call.run(10_000)
    ((_, text, lost),) = call.ear.turns
    assert lost == sum(word.start_ms < 1480 for word in fixture_clip("booking").words) > 0
    assert text.lower().split() == BOOKING.lower().split()[lost:]


@pytest.mark.parametrize("held_ms", [1500, 3000])
@pytest.mark.parametrize("fmt", [PCM24, ULAW8], ids=["pcm24", "ulaw8"])
def test_speech_held_and_sent_in_one_burst_is_the_same_turn(held_ms: int, fmt: object) -> None:
    ulaw = fmt == ULAW8
    ends = []
    for held in (0, held_ms):
        call = Call(front_desk())
        update(call, 65, **({"audio": ULAW_UPDATE["audio"]} if ulaw else {}))
        track = samples_of("booking")
        cut = held * 24
        if held:
            call.say(66 + held, track[:cut], ULAW8 if ulaw else PCM24, burst=True, tail_ms=0)
        call.say(66 + held, track[cut:], ULAW8 if ulaw else PCM24)
        call.run(9000)
        assert call.ear.turns == [(0, BOOKING, 0)]
        ends.append(call.one("input_audio_buffer.speech_stopped").event["audio_end_ms"])
    assert ends[0] == ends[1]


def test_a_burst_of_everything_is_one_turn_at_once() -> None:
    call = update(Call(front_desk()), 65)
    call.say(3000, samples_of("booking"), burst=True)
    call.run(4000)
    assert call.one("input_audio_buffer.speech_started").ms == pytest.approx(3030, abs=1)
    assert call.one("input_audio_buffer.speech_stopped").ms == pytest.approx(3030, abs=1)


@pytest.mark.parametrize("late_ms", [0, 137, 5000])
def test_the_turn_moves_with_the_audio(late_ms: int) -> None:
    base, moved = (update(Call(one_reply()), 65) for _ in range(2))
    base.say(300, samples_of("booking"))
    moved.say(300 + late_ms, samples_of("booking"))
    kinds = ("input_audio_buffer.speech_started", "input_audio_buffer.speech_stopped", "response.created")
    base.run()
    moved.run()
    for kind in (*kinds, "response.done"):
        assert moved.one(kind).ms == base.one(kind).ms + late_ms
    # the buffer began with the clip in both calls
    assert moved.one(kinds[1]).event["audio_end_ms"] == base.one(kinds[1]).event["audio_end_ms"]


def test_silence_before_the_speech_moves_its_place_in_the_buffer() -> None:
    base, moved = (update(Call(one_reply()), 65) for _ in range(2))
    base.say(300, samples_of("booking"))
    moved.say(300, np.concatenate([silence(1000), samples_of("booking")]))
    ends = [call.run().one("input_audio_buffer.speech_stopped").event["audio_end_ms"] for call in (base, moved)]
    assert ends[1] == ends[0] + 1000


def test_silence_alone_brings_nothing() -> None:
    call = update(Call(front_desk()), 65)
    call.say(100, silence(20_000))
    assert call.run().kinds() == ["session.created", "session.updated"]


# --- the goodbye


@pytest.fixture(scope="module")
def goodbye() -> Call:
    return whole_call()


def test_the_whole_call_is_as_written(goodbye: Call) -> None:
    verdict = goodbye.session.final_verdict()
    assert verdict.clean, str(verdict)
    assert [lost for _, _, lost in goodbye.ear.turns] == [0, 0]
    assert [(reply, cut) for reply, _, cut in goodbye.ear.ended] == [(0, False), (1, False)]


def test_the_goodbye_is_heard_46_ms_before_the_call_is_done(goodbye: Call) -> None:
    call_done = goodbye.of("response.function_call_arguments.done")[-1]
    assert call_done.event["name"] == "end_call"
    assert call_done.ms - audio(goodbye, 1)[0][0] == 46


def test_audio_received_one_second_after_end_call(goodbye: Call) -> None:
    moment = goodbye.of("response.function_call_arguments.done")[-1].ms + 1000
    received = sum(length for ms, length in audio(goodbye, 1) if ms <= moment)
    assert 1350 <= received <= 1590


def test_done_comes_400_ms_after_the_last_chunk(goodbye: Call) -> None:
    assert goodbye.of("response.done")[-1].ms - audio(goodbye, 1)[-1][0] == 400


def test_the_goodbye_comes_in_200_ms_chunks_100_to_500_ms_ahead(goodbye: Call) -> None:
    pieces = audio(goodbye, 1)
    start = pieces[0][0]
    assert {round(length) for _, length in pieces[1:-1]} == {200}
    sent = 0.0
    for k, (ms, length) in enumerate(pieces):
        played = ms - start
        if k > 1:  # before a chunk comes there are still 100 ms to play, after it there are at most 500
            assert sent - played >= 100
        sent += length
        assert sent - played <= 500
    assert sent == 4900


# --- the caller talks over it


def talk_over(score: Score, *faults: str, phase_ms: float = 0.0) -> tuple[Call, float]:
    """The barge-in by hand; returns also when the caller's voice began."""
    started: list[float] = []

    def react(call: Call, ms: float, event: dict[str, object]) -> None:
        answer_tools(call, ms, event)
        got = call.got[-1]
        if got.send.audio and got.send.reply == 1 and not started:
            clip = samples_of("one-more-thing")
            onset = int(np.flatnonzero(np.abs(clip.astype(np.int32)) > 360)[0]) / 24
            started.append(ms + 500 + phase_ms + onset)
            call.say(ms + 500 + phase_ms, clip, tail_ms=3000)

    call = Call(score, [OVER, *faults], react=react)
    update(call, 70)
    track = np.concatenate([samples_of("booking"), silence(10_000)])
    call.say(300, track)
    call.say(300 + 20 + len(track) / 24 + 1200, samples_of("nothing-else"), tail_ms=900)
    call.run()
    return call, started[0]


@pytest.mark.parametrize("phase_ms", [0, 7, 13, 19])
def test_polyai_cuts_three_quarters_of_a_second_after_the_caller_starts(phase_ms: int) -> None:
    call, started = talk_over(front_desk("polyai"), phase_ms=phase_ms)
    cut = call.of("response.done")[-1]
    assert cut.event["response"]["status"] == "cancelled"
    assert cut.event["response"]["status_details"] == {"type": "cancelled", "reason": "turn_detected"}
    assert 740 <= cut.ms - started <= 790
    # speech_started means that the barge-in is confirmed
    assert 0 <= cut.ms - call.of("input_audio_buffer.speech_started")[-1].ms < 5


def test_openai_cuts_at_once() -> None:
    call, started = talk_over(front_desk("openai"))
    cut = call.of("response.done")[-1]
    assert cut.event["response"]["status"] == "cancelled"
    assert 90 <= cut.ms - started <= 200
    assert 0 <= cut.ms - call.of("input_audio_buffer.speech_started")[-1].ms < 5


def test_a_reply_that_is_cut_off_closes_in_order() -> None:
    call, _ = talk_over(front_desk("polyai"))
    begin = max(k for k, kind in enumerate(call.kinds()) if kind == "input_audio_buffer.speech_started")
    end = max(k for k, kind in enumerate(call.kinds()) if kind == "response.done")
    assert call.kinds()[begin : end + 1] == [
        "input_audio_buffer.speech_started",
        "response.output_audio.done",
        "response.output_audio_transcript.done",
        "response.content_part.done",
        "conversation.item.done",
        "response.output_item.done",
        "response.done",
    ]
    assert not any(kind.endswith(".delta") for kind in call.kinds()[begin:])


def test_a_reply_that_is_cut_off_says_what_was_said() -> None:
    call, _ = talk_over(front_desk("polyai"))
    said = "".join(
        got.event["delta"] for got in call.of("response.output_audio_transcript.delta") if got.send.reply == 1
    )
    done = call.of("response.output_audio_transcript.done")[-1].event
    part = call.of("response.content_part.done")[-1].event["part"]
    item = call.of("response.output_item.done")[-1].event["item"]
    message, tool = call.of("response.done")[-1].event["response"]["output"]
    whole = "You're all set for Friday"
    assert whole.startswith(said[:10])
    assert len(said) < 80
    assert done["transcript"] == part["transcript"] == item["content"][0]["transcript"] == said
    assert message["content"][0]["transcript"] == said
    assert item["status"] == message["status"] == "incomplete"
    assert (tool["name"], tool["status"]) == ("end_call", "completed")
    assert call.ear.ended[-1][2] is True


@pytest.mark.parametrize("profile", ["polyai", "openai"])
@pytest.mark.parametrize(
    "other",
    [
        "stall:reply=-1,at=200ms,for=300ms",
        "stall:reply=-1,at=3s,for=2s",
        "burst:reply=-1,within=3s",
    ],
)
def test_other_faults_on_the_reply_do_not_move_the_cut(profile: str, other: str) -> None:
    call, started = talk_over(front_desk(profile), other)
    cut = call.of("response.done")[-1]
    assert cut.event["response"]["status"] == "cancelled"
    assert 90 <= cut.ms - started <= 790
    assert 0 <= cut.ms - call.of("input_audio_buffer.speech_started")[-1].ms < 5
    fired = [mark.detail["fault"].partition(":")[0] for mark in call.session.marks]
    assert (other.partition(":")[0] in fired) == ("at=3s" not in other)


def test_a_delay_of_the_done_also_delays_that_of_a_cut_reply() -> None:
    call, started = talk_over(front_desk("polyai"), "delay:event=response.done,nth=-1,for=300ms")
    assert 1040 <= call.of("response.done")[-1].ms - started <= 1090
