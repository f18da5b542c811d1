import base64

import pytest

from tests.replay.hand import Call

from .runs import fired, plain, refused, times, with_fault

DELTA = "response.output_audio.delta"
WORDS = "response.output_audio_transcript.delta"


def split(*faults: str) -> tuple[Call, list[str]]:
    """The call, and the ids of the message items in its last response, in order."""
    call = with_fault(*(faults or ("second-item",)))
    output = call.of("response.done")[-1].event["response"]["output"]
    return call, [item["id"] for item in output if item["type"] == "message"]


def test_the_audio_is_of_two_items_one_after_the_other() -> None:
    call, (first, second) = split()
    items = [got.event["item_id"] for got in call.of(DELTA) if got.send.reply == 1]
    assert items == sorted(items, key=[first, second].index)
    assert set(items) == {first, second}
    heard = b"".join(base64.b64decode(got.event["delta"]) for got in call.of(DELTA) if got.send.reply == 1)
    want = b"".join(base64.b64decode(got.event["delta"]) for got in plain().of(DELTA) if got.send.reply == 1)
    assert heard == want
    assert [reply for reply, _, _ in call.ear.ended] == [0, 1]
    assert times(call, "response.done") == times(plain(), "response.done")


def test_the_first_is_closed_before_the_second_is_opened_and_both_are_whole() -> None:
    call, (first, second) = split()
    about = {
        item_id: [
            got.kind
            for got in call.got
            if (got.event.get("item_id") or (got.event.get("item") or {}).get("id")) == item_id
        ]
        for item_id in (first, second)
    }
    rhythm = [[kind for kind in kinds if not kind.endswith(".delta")] for kinds in about.values()]
    assert rhythm[0] == rhythm[1]
    order = [got.event.get("item_id") or (got.event.get("item") or {}).get("id") for got in call.got]
    assert max(k for k, item in enumerate(order) if item == first) < order.index(second)


def test_each_says_its_own_words_and_together_all() -> None:
    call, items = split()
    texts = []
    for item_id in items:
        (done,) = (
            got.event["transcript"]
            for got in call.of("response.output_audio_transcript.done")
            if got.event["item_id"] == item_id
        )
        spoken = "".join(got.event["delta"] for got in call.of(WORDS) if got.event["item_id"] == item_id)
        assert spoken.strip() == done.strip()
        item = call.session.retrieve(item_id)
        assert item is not None
        assert item["content"][0]["transcript"] == done
        texts.append(done.strip())
    assert " ".join(texts) == plain().of("response.output_audio_transcript.done")[-1].event["transcript"]


def test_no_two_items_have_one_place() -> None:
    call, _ = split()
    (response,) = {got.event["response_id"] for got in call.of(DELTA) if got.send.reply == 1}
    added = [got.event for got in call.of("response.output_item.added") if got.event["response_id"] == response]
    assert sorted(event["output_index"] for event in added) == [0, 1, 2]
    assert fired(call)[0][1] == "second-item"


def test_it_can_be_truncated_by_itself() -> None:
    call, (_, second) = split()
    end = round(call.got[-1].ms) + 1
    call.send(end, {"type": "conversation.item.truncate", "item_id": second, "content_index": 0, "audio_end_ms": 5000})
    call.send(
        end + 100, {"type": "conversation.item.truncate", "item_id": second, "content_index": 0, "audio_end_ms": 1000}
    )
    call.run(1e9)
    assert [code for code, _ in call.errors()] == ["invalid_value"]


@pytest.mark.parametrize("fault", ["second-item:reply=3", "second-item:at=9s", "second-item:at=4890ms"])
def test_a_place_that_is_not_there_can_never_fire(fault: str) -> None:
    assert "can never fire" in refused(fault)
