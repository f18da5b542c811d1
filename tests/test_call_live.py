"""A Live call as a result: what was heard, what became of what the client appended."""

import asyncio

import pytest

from simrt import CallResult, Line, run_call
from simrt.call import LIVE_URL
from simrt.describe import call_text
from simrt.scripts.parts import turn
from tests.replay.live_hand import STATUS, Delegate, says, script

pytest.importorskip("openai", minversion="3.57", reason="the OpenAI SDK 3.57 is in the [test] extra")

from tests.clients.live_talk import Talk

FACTS = "The parcel is on its way to Leeds."


async def status(talk: Talk, delegation: str, said: str) -> None:
    await talk.connection.session.thinking.append(content="Checking.", delegation_id=delegation)
    await asyncio.sleep(0.3)
    await talk.tell(STATUS, delegation)


async def other(talk: Talk, delegation: str, said: str) -> None:
    await talk.tell(FACTS, delegation)


def call(*faults: str, profile: str = "openai", answer: object = status, **session: object) -> CallResult:
    score = script(
        says("parcel-greeting", "start"),
        turn("parcel-where", "reply[0].end+400ms"),
        Delegate(),
        says("status-4711", "commentary"),
        turn("thanks-bye", "line.quiet+4s", leave=True),
        profile=profile,
    )
    model = "fluid-1" if profile == "kugel" else "gpt-live-1"
    return run_call(lambda line: Talk(line, answer, model=model, **session).run(), score, faults)  # type: ignore[arg-type]


def test_the_line_leads_to_a_live_session() -> None:
    urls: list[str] = []

    async def client(line: Line) -> None:
        urls.append(line.url)
        await Talk(line, model="gpt-live-1").run()

    steps = says("parcel-greeting", "start"), turn("thanks-bye", "reply[0].end+1s", leave=True)
    result = run_call(client, script(*steps))
    assert urls == [LIVE_URL]
    assert result.ready_ms == 450
    assert result.trace.opening.url == "/v1/live/sessions"


@pytest.mark.parametrize(
    ("profile", "session"), [("openai", {}), ("kugel", {}), ("kugel", {"kugel": {}})], ids=["openai", "kugel", "ahead"]
)
def test_what_was_heard(profile: str, session: dict[str, object]) -> None:
    result = call(profile=profile, **session)
    assert [reply.heard_text for reply in result.replies] == ["Parcel service, how can I help?", STATUS]
    assert [reply.cut_off for reply in result.replies] == [False, False]
    assert [reply.again_ms for reply in result.replies] == [0, 0]
    assert result.transcript.splitlines()[1] == "caller: Hi, where is my order? It's four seven double one."
    assert result.replies[1].from_ms is not None


def test_what_became_of_it() -> None:
    (delegation,) = call().delegations
    assert delegation.outcome == "answered"
    assert [(append.kind, append.reply) for append in delegation.appends] == [("thinking", None), ("commentary", 1)]


def test_a_made_up_voice_is_heard_too() -> None:
    result = call(answer=other)
    assert result.replies[-1].heard_text == FACTS
    assert not result.replies[-1].cut_off
    assert result.delegations[0].appends[0].reply == result.replies[-1].reply
    assert result.verdict.synthetic == [f"speech ({FACTS})"]
    assert any(frame.synthetic for frame in result.trace.frames)


@pytest.mark.parametrize("session", [{}, {"kugel": {}}], ids=["plain", "ahead"])
def test_a_caller_who_talks_over_the_result(session: dict[str, object]) -> None:
    result = call("barge-in:reply=1,at=900ms,clip=hang-on,answer=take-your-time", profile="kugel", **session)
    cut = result.replies[1]
    assert cut.cut_off
    assert 900 < cut.heard_ms < 2600
    assert STATUS.startswith(cut.heard_text)
    assert result.replies[2].heard_text.endswith("take your time.")
    assert result.verdict.unfired == []
    assert "Order 4711 shipped — " not in result.transcript


def test_a_fault_of_the_network_does_not_spoil_the_ear() -> None:
    """Fillers and replies come in one bunch; what is heard is heard once."""
    result = call("clog:at=3s,for=2s")
    assert [reply.heard_text for reply in result.replies] == ["Parcel service, how can I help?", STATUS]
    assert [round(reply.again_ms) for reply in result.replies] == [0, 0]


def test_equal_calls_are_equal() -> None:
    assert call().trace_sha256 == call().trace_sha256


def test_its_snapshot_tells_of_delegations() -> None:
    text = call_text(call())
    assert "said in reply 1" in text
    assert "delegation-1" in text
