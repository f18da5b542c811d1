from tests.checks.talk import Talk


def refused(until_ms: int) -> Talk:
    talk = Talk().server(0, "session.created").client(10, "session.update", event_id="e1", session={"x": 1})
    talk.error(60, "unsupported_parameter", "e1", "Unsupported parameter: 'x'.")
    for ms in range(100, until_ms, 100):
        talk.append(ms, b"\0\0")
    return talk


def test_audio_goes_into_a_session_that_was_refused() -> None:
    (found,) = refused(9000).findings("PRO315")
    assert "Unsupported parameter: 'x'." in found.message


def test_who_ends_the_call_soon_is_right() -> None:
    assert refused(1000).close(1100).findings("PRO315") == []


def test_an_update_that_is_taken_mends_it() -> None:
    talk = refused(1000).client(1000, "session.update").server(1050, "session.updated", session={})
    assert talk.append(9000, b"\0\0").findings("PRO315") == []


def test_a_refusal_that_names_no_event_is_known_by_its_code() -> None:
    talk = Talk().server(0, "session.created").client(10, "session.update").error(60, "unsupported_parameter")
    assert len(talk.append(9000, b"\0\0").findings("PRO315")) == 1
