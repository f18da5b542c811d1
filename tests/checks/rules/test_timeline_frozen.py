import pytest

from .live import LiveTalk, in_parcel


def test_a_session_without_audio_stands() -> None:
    (found,) = LiveTalk().started().speech(500, 2000).speech(5000, 6000).find("LIV601")
    assert (found.t_ms, found.evidence["stood_ms"]) == (pytest.approx(1980, abs=1), pytest.approx(3020, abs=1))


def test_what_was_appended_waits() -> None:
    talk = LiveTalk().started().speech(500, 2000).tell(2500, "commentary", "It is on its way.")
    (found,) = talk.speech(5000, 6000).placed(6000, "commentary").find("LIV601")
    assert found.evidence["waiting"] == 1


def test_a_short_gap_a_mute_and_the_time_after_the_close_are_none() -> None:
    assert LiveTalk().started().speech(500, 2000).speech(2900, 4000).find("LIV601") == []
    talk = LiveTalk().started().speech(500, 2000)
    talk.client(2000, "session.input_audio.mute")
    talk.client(6000, "session.input_audio.unmute")
    assert talk.speech(6000, 7000).find("LIV601") == []
    closed = LiveTalk().started().speech(500, 2000)
    closed.client(2000, "session.close").server(6000, "session.closed")
    assert closed.find("LIV601") == []


def test_a_recording_that_holds_counts_alone_is_not_judged() -> None:
    talk = LiveTalk().started().speech(500, 2000).speech(5000, 6000)
    assert talk.find("LIV601", caller_audio="counts") == []


def test_a_client_that_sends_no_silence() -> None:
    found = in_parcel("LIV601", "GatedParcel", "slow-lookup")
    assert found
    assert found[-1].evidence["waiting"] == 1
    assert in_parcel("LIV601", "Parcel", "slow-lookup") == []
