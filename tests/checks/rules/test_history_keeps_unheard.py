from tests.checks.talk import Talk

from .calling import findings
from .small import Item, Small

OVER = ("barge-in:reply=0,at=1500ms,answer=breakfast",)


class Untold(Small):
    """Falls silent, and tells nobody."""

    async def tell(self, item_id: str, item: Item, heard_ms: float) -> None:
        pass


class PlaysOn(Small):
    """Lets the reply play to its end whatever the caller says."""

    async def barge_in(self) -> None:
        pass


def test_a_client_that_does_not_tell_the_server() -> None:
    (found,) = findings("PRO306", Untold, "front-desk", *OVER)
    assert found.evidence["heard_ms"] < found.evidence["sent_ms"]
    assert findings("PRO306", Small, "front-desk", *OVER) == []


def test_what_arrived_far_ahead_is_in_the_history_too() -> None:
    (found,) = findings("PRO306", Untold, "front-desk", "burst:reply=0", *OVER)
    assert found.evidence["sent_ms"] > 8000


def test_what_was_heard_to_its_end_may_stay() -> None:
    assert findings("PRO306", PlaysOn, "front-desk", "burst:reply=0", *OVER) == []


def test_what_comes_behind_the_end_of_a_response_is_no_part_of_it() -> None:
    (found,) = findings("PRO306", Untold, "front-desk", *OVER)
    (late,) = findings("PRO306", Untold, "front-desk", "late-audio:reply=0,at=1500ms,for=3000ms")
    assert late.evidence["sent_ms"] == found.evidence["sent_ms"]


def cut() -> Talk:
    """A recording in which the caller cuts in 500 ms after the first of 2 s of audio."""
    talk = Talk().ready().turn(200, 800).created(1000).audio(1100, 2000)
    talk.server(1600, "input_audio_buffer.speech_started", item_id="item_v", audio_start_ms=1200)
    return talk.done(1610, status="cancelled", status_details={"reason": "turn_detected"})


def test_a_recording_of_a_cut_reply_without_a_truncate() -> None:
    (found,) = cut().append(5000, b"\0\0").findings("PRO306")
    assert (found.evidence["sent_ms"], found.evidence["heard_ms"]) == (2000, 500)
    assert found.t_ms == 1600


def test_a_truncate_a_deletion_or_a_report_of_playback_tells() -> None:
    for kind in ("conversation.item.truncate", "conversation.item.delete", "poly.output_audio.stopped"):
        talk = cut().client(1620, kind, item_id="item_1", audio_end_ms=500)
        assert talk.append(5000, b"\0\0").findings("PRO306") == []


def test_a_call_that_ends_over_it_has_no_history() -> None:
    assert cut().append(1700, b"\0\0").findings("PRO306") == []
