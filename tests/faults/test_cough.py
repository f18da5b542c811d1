import numpy as np

from clients.call import Call
from clients.desk import Desk
from simrt.faults.cough import cough
from simrt.replay.build import score_of
from simrt.scripts import authored

from .calls import called, kinds, marks, replies
from .runs import refused

COMPLETED = "conversation.item.input_audio_transcription.completed"


class Waits(Call):
    """Never asks for a reply to what the caller has said."""

    def unanswered(self) -> None:
        pass


def test_the_reply_is_cut_off_and_nothing_was_said() -> None:
    result = called("cough:reply=0,at=2s", client=Waits)
    assert replies(result) == [(0, True)]
    events = [frame.event() or {} for frame in result.trace.sent_by("server")]
    assert [event["transcript"] for event in events if event["type"] == COMPLETED][-1] == ""
    assert kinds(result).count("response.created") == 2
    assert marks(result) == ["cough:reply=0,at=2000ms"]
    assert result.verdict.unsaid  # the caller waits for the rest


def test_a_client_that_asks_gets_the_reply_again_and_the_caller_goes_on() -> None:
    result = called("cough:reply=0,at=2s")
    assert replies(result) == [(0, True), ("again-0", False), (1, False)]
    assert result.replies[1].transcript == result.replies[0].transcript
    assert result.verdict.clean
    assert result.closed_by == "client"


def test_a_goodbye_that_was_coughed_into_is_said_again() -> None:
    result = called("cough")
    assert replies(result) == [(0, False), (1, True), ("again-0", False)]
    assert not result.verdict.unfired


def test_the_cough_is_the_same_each_time_and_is_heard() -> None:
    assert cough() is cough()
    assert 300 <= cough().duration_ms <= 400
    assert np.abs(cough().samples).max() > 5000
    assert cough().words == []


def test_what_is_not_there_can_never_fire() -> None:
    assert "at=9000ms lies beyond" in refused("cough:at=9s")
    assert "does not end by itself" in refused("cough:reply=1", score_of(authored("no-done")))
    assert issubclass(Waits, Desk)
