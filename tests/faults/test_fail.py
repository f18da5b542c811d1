import pytest

from simrt.faults import Fail, parse_fault
from tests.replay.hand import Call, answer_tools, samples_of, update

from .runs import fired, front_desk, plain, refused, times, whole_call, with_fault


def asking_again(*faults: str) -> Call:
    """The front desk by a client that asks again for a response that broke down."""

    def react(call: Call, ms: float, event: dict[str, object]) -> None:
        response = event.get("response")
        if isinstance(response, dict) and response["status"] in ("failed", "incomplete"):
            call.send(ms + 1, {"type": "response.create"})
        else:
            answer_tools(call, ms, event)

    call = update(Call(front_desk(), faults, react=react), 70)
    call.say(300, samples_of("booking"), tail_ms=11_000)
    call.say(300 + 20 + len(samples_of("booking")) / 24 + 11_000, samples_of("nothing-else"), tail_ms=12_000)
    return call.run()


def statuses(call: Call) -> list[str]:
    return [got.event["response"]["status"] for got in call.of("response.done")]


def test_nothing_of_it_comes_between_its_beginning_and_its_end() -> None:
    call = with_fault("fail:response=0")
    (done,) = (got for got in call.of("response.done") if got.event["response"]["status"] == "failed")
    assert done.event["response"]["output"] == []
    assert done.event["response"]["status_details"]["error"]["code"] == "server_error"
    between = [got.kind for got in call.got if times(call, "response.created")[0] <= got.ms <= done.ms]
    assert between[0] == "response.created"
    assert between[-1] == "response.done"
    assert not [kind for kind in between if "item" in kind or "delta" in kind]
    assert fired(call) == [(done.ms, "fail:response=0")]


def test_it_leaves_no_item_behind() -> None:
    call = with_fault("fail:response=0")
    gone = plain().of("response.output_item.added")[0].event["item"]["id"]
    assert plain().session.retrieve(gone) is not None
    assert call.session.retrieve(gone) is None


def test_the_server_is_free_again() -> None:
    call = with_fault("fail:response=0")
    assert call.realtime.active is None


def test_a_client_that_asks_gets_it_anew_and_whole() -> None:
    call = asking_again("fail:response=0")
    assert statuses(call) == ["failed", "completed", "completed", "completed"]
    assert call.errors() == []
    first, second = call.of("response.created")[:2]
    assert first.event["response"]["id"] != second.event["response"]["id"]
    made = call.of("response.function_call_arguments.done")[0].event
    wanted = plain().of("response.function_call_arguments.done")[0].event
    assert made["arguments"] == wanted["arguments"]
    assert made["call_id"] != wanted["call_id"]
    assert len(made["call_id"]) == len(wanted["call_id"])
    assert [reply for reply, _, _ in call.ear.ended] == [0, 1]
    assert call.session.final_verdict().clean


def test_all_ids_are_its_own() -> None:
    ids = [got.event["event_id"] for got in asking_again("fail:response=-1,at=1s").got]
    assert len(ids) == len(set(ids))


def test_within_its_audio_it_is_closed_as_far_as_it_was() -> None:
    call = with_fault("fail:response=-1,at=1s,status=incomplete")
    done = call.of("response.done")[-1].event["response"]
    assert (done["status"], done["status_details"]) == (
        "incomplete",
        {"type": "incomplete", "reason": "max_output_tokens"},
    )
    message, function_call = done["output"]
    assert (message["status"], function_call["status"]) == ("incomplete", "completed")
    said = "".join(got.event["delta"] for got in call.of("response.output_audio_transcript.delta"))
    assert said.endswith(call.of("response.output_audio_transcript.done")[-1].event["transcript"])
    heard = sum(length for reply, _, length in call.ear.audio if reply == 1)
    assert 800 <= heard <= 1000
    assert [(reply, cut) for reply, _, cut in call.ear.ended] == [(0, False), (1, False)]


def test_the_second_try_of_what_was_begun_is_another_reply() -> None:
    call = asking_again("fail:response=-1,at=1s")
    assert [reply for reply, _, _ in call.ear.ended] == [0, 1, "again-0"]
    assert sum(length for reply, _, length in call.ear.audio if reply == "again-0") == 4900


def test_the_caller_waits_for_the_second_try() -> None:
    from simrt.cues import says_of

    fault = parse_fault("fail:response=1,at=1s")
    lines = [say for _, say in says_of(front_desk())]
    moved = fault.recast(lines, front_desk(), 3)
    assert [str(line.cue) for line in moved] == ["pickup", 'reply["again-3"].end+600ms']
    assert [str(line.cue) for line in parse_fault("fail:response=1").recast(lines, front_desk(), 3)] == [
        "pickup",
        "reply[0].end+600ms",
    ]


def test_another_response_takes_its_place() -> None:
    def react(call: Call, ms: float, event: dict[str, object]) -> None:
        answer_tools(call, ms, event)
        if event.get("type") == "response.done" and len(call.of("response.done")) == 3:
            call.send(ms + 1, {"type": "response.create"})

    call = update(Call(front_desk(), ["fail:response=1"], react=react), 70)
    call.say(300, samples_of("booking"), tail_ms=3000)
    call.say(300 + 20 + len(samples_of("booking")) / 24 + 3000, samples_of("nothing-else"), tail_ms=8000)
    call.run()
    assert statuses(call)[:3] == ["completed", "failed", "completed"]
    assert "again" not in str(call.of("response.created")[-1].event["event_id"])


def test_the_score_stays_as_it_is() -> None:
    before = [(frame.index, frame.delay_us, frame.reply, frame.nth) for frame in front_desk().frames]
    asking_again("fail:response=-1,at=1s")
    assert [(frame.index, frame.delay_us, frame.reply, frame.nth) for frame in front_desk().frames] == before


@pytest.mark.parametrize(
    ("fault", "why"),
    [
        ("fail:response=3", "the cassette has 3 responses, so response=3 is not there"),
        ("fail:response=0,at=1s", "response 0 has 0 ms of audio"),
        ("fail:at=6s", "at=6000ms lies beyond"),
    ],
)
def test_what_is_not_there_can_never_fire(fault: str, why: str) -> None:
    assert why in refused(fault)


def test_never_asked_it_says_what_was_not_played() -> None:
    call = whole_call(front_desk(), ["fail:response=0"])
    verdict = call.session.final_verdict()
    assert "response.done ×" in " ".join(verdict.unplayed)
    assert verdict.unfired == []


def test_the_compact_form() -> None:
    assert parse_fault("fail:response=0,at=500ms,reason=rate_limit_exceeded") == Fail(
        0, 500, "failed", "rate_limit_exceeded"
    )
