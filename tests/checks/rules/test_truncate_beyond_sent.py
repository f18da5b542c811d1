import pytest

from tests.checks.talk import Talk


def reply(end_ms: int, **fields: str) -> Talk:
    talk = Talk().ready().turn(200, 800).created(1000).audio(1100, 1000).audio(1200, 1000)
    start = {"item_id": "item_v", "audio_start_ms": 3500}
    talk.server(4000, "input_audio_buffer.speech_started", **start)
    return talk.client(4010, "conversation.item.truncate", item_id="item_1", content_index=0, audio_end_ms=end_ms)


def test_more_than_was_sent() -> None:
    (found,) = reply(2900).findings("PRO304")
    assert (found.evidence["end_ms"], found.evidence["sent_ms"]) == (2900, 2000)


@pytest.mark.parametrize("end_ms", [0, 1500, 2000])
def test_what_was_sent_may_be_cut_anywhere(end_ms: int) -> None:
    assert reply(end_ms).findings("PRO304") == []


def test_what_comes_later_was_not_there() -> None:
    assert len(reply(2900).audio(4020, 1000).findings("PRO304")) == 1


def test_an_item_without_audio_cannot_be_cut() -> None:
    part = {"response_id": "resp_1", "item_id": "item_1", "part": {"type": "audio"}}
    talk = Talk().ready().created(1000).server(1100, "response.content_part.added", **part)
    talk.client(1200, "conversation.item.truncate", item_id="item_1", content_index=0, audio_end_ms=0)
    (found,) = talk.findings("PRO304")
    assert "no audio" in found.message


def test_audio_that_a_recording_holds_in_part_is_not_measured() -> None:
    assert reply(2900).findings("PRO304", agent_audio="truncated") == []
