from typing import Any

from simrt.cassette.header import Header
from simrt.checks import Case, Finding, judge
from tests.checks.talk import Talk

CALLER, AGENT = "My surname is Okafor.", "Thank you, I have found it."


def first() -> Talk:
    talk = Talk().ready().turn(200, 800, text=CALLER).created(1000).audio(1100, 500)
    ids = {"response_id": "resp_1", "item_id": "item_1"}
    talk.server(1200, "response.output_audio_transcript.done", **ids, transcript=AGENT)
    return talk.done(1300).close(5000, "server", 1001)


def message(role: str, text: str) -> dict[str, Any]:
    return {"item": {"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}}


def second(*texts: str, instructions: str = "Be kind.") -> Talk:
    talk = Talk().ready(instructions=instructions)
    for text in texts:
        talk.client(200, "conversation.item.create", **message("user", text))
    return talk.client(300, "response.create").created(400, "resp_9").done(500, "resp_9")


def found_in(*talks: Talk) -> list[Finding]:
    case = Case([talk.trace() for talk in talks], [0, 6_000_000], Header())
    return judge(case, select=["END406"])


def test_a_session_that_knows_nothing() -> None:
    (found,) = found_in(first(), second())
    assert found.evidence["lost"] == [CALLER.lower(), AGENT.lower()]
    assert found.connection == 1


def test_a_session_that_knows_the_half() -> None:
    (found,) = found_in(first(), second(CALLER))
    assert found.evidence["lost"] == [AGENT.lower()]


def test_a_session_that_is_told_all_by_items_or_in_its_instructions() -> None:
    assert found_in(first(), second(CALLER, AGENT)) == []
    assert found_in(first(), second(instructions=f"So far: {CALLER} {AGENT}")) == []


def test_a_session_that_is_told_twice() -> None:
    (found,) = found_in(first(), second(CALLER, AGENT, CALLER))
    assert found.evidence["twice"] == [CALLER.lower()]


def test_where_nothing_had_been_said_nothing_is_lost() -> None:
    assert found_in(Talk().ready().close(500, "server", 1001), second()) == []
