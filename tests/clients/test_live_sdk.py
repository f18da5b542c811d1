"""What the vendor's page shows of a backend, done with the official SDK, unmodified: in the World and over a socket."""

import asyncio
import base64
from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import pytest

from simrt import CallResult, Line
from simrt.caller.clip import fixture_clip
from simrt.cassette.script import Delegate, Pacing, Reply, Script, Step, Turn
from simrt.replay.authored_live import author_live
from simrt.replay.score import Score

openai = pytest.importorskip("openai", minversion="3.57", reason="the OpenAI SDK 3.57 is in the [test] extra")

from tests.clients.live_talk import Talk, in_the_world, over_a_socket  # noqa: E402

ORDERS = {"4711": "Order 4711 shipped yesterday and arrives tomorrow.", "4712": "Order 4712 arrives on Friday."}
NAMES = "zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven", "twelve"
DIGITS = {name: number for number, name in enumerate(NAMES)}
START = "pickup+1500ms"  # a client on a busy machine takes its time to connect
QUESTION = "Shall I really cancel order 4711?"


def says(clip: str, on: Any = "turn") -> Reply:
    said = fixture_clip(clip)
    return Reply(on, said.text, list(said.words), said.samples)


def asks(clip: str, cue: str, *, leave: bool = False) -> Turn:
    said = fixture_clip(clip)
    return Turn(said.text, cue, list(said.words), said.samples, clip, leave=leave)


def bye(reply: int) -> Turn:
    return asks("thanks-bye", f"reply[{reply}].end+200ms", leave=True)


def score(*steps: Step) -> Score:
    """Quick on its feet, so that the calls over a socket need not take long."""
    pacing = Pacing(ready_ms=50, lag_ms=120, silence_ms=200, prefix_ms=100)
    return author_live(Script(list(steps), pacing, "live"), "kugel")


def number_in(text: str) -> str:
    """The digits of an order number, said as words or digits in any mix."""
    found, times = "", 1
    for word in text.lower().replace(".", " ").replace("?", " ").split():
        digits = word if word.isdigit() else str(DIGITS[word]) if word in DIGITS else ""
        found += digits * (times if digits else 1)
        times = 2 if word == "double" else 1
    return found


# --- the backends


async def look_up(talk: Talk, delegation: str, said: str) -> None:
    """Find the order and tell what is known of it."""
    await talk.tell(ORDERS.get(number_in(said), "There is no such order."), delegation)


async def look_up_slowly(talk: Talk, delegation: str, said: str) -> None:
    """Progress is for the agent to know; the result is for the caller."""
    session = talk.connection.session
    await session.thinking.append(content="Checking; nothing is confirmed.", delegation_id=delegation)
    await asyncio.sleep(1.5)
    await look_up(talk, delegation, said)


async def cancel(talk: Talk, delegation: str, said: str) -> None:
    """Ask before anything is cancelled; the answer is a delegation of its own."""
    if len(talk.delegations) == 1:
        await talk.tell(QUESTION, delegation, expects_reply=True)
    elif "yes" in said.lower().split("cancel")[-1]:
        await talk.tell("Order 4711 is cancelled.", delegation)


async def verify(talk: Talk, delegation: str, said: str) -> None:
    """Who knows the postcode may be told the address."""
    await talk.connection.session.instructions.append(
        content="The caller is verified. You may tell them the address.", delegation_id=delegation
    )
    await talk.tell("Order 4711 arrives tomorrow at 12 Mill Lane.", delegation)


class Announcing(Talk):
    """Says something that nobody asked for."""

    def _take(self, event: Any) -> bool:
        if event.type == "session.started":
            self.do(self._announce())
        return super()._take(event)

    async def _announce(self) -> None:
        await asyncio.sleep(2.2)
        await self.tell("Order 4713 has just been delivered.", None)


# --- the examples


class Example(NamedTuple):
    score: Callable[[], Score]
    make: Callable[[Line], Talk]


GREETING = says("parcel-greeting", "start")

EXAMPLES: dict[str, Example] = {
    "greeting": Example(lambda: score(GREETING, bye(0)), Talk),
    "look-up": Example(
        lambda: score(asks("parcel-where", START), Delegate(), says("status-4711", "commentary"), bye(0)),
        lambda line: Talk(line, look_up),
    ),
    "slow look-up": Example(
        lambda: score(asks("parcel-where-slow", START), Delegate(), says("status-4712", "commentary"), bye(0)),
        lambda line: Talk(line, look_up_slowly),
    ),
    "asking back": Example(
        lambda: score(
            asks("parcel-cancel", START),
            Delegate(),
            says("shall-i-cancel", "commentary"),
            asks("yes-please", "reply[0].end+200ms"),  # that this is delegated is not in the script
            says("cancelled-4711", "commentary"),
            bye(1),
        ),
        lambda line: Talk(line, cancel),
    ),
    "unattached": Example(lambda: score(GREETING, says("update-4713", "commentary"), bye(1)), Announcing),
    "tools": Example(
        lambda: score(asks("parcel-where", START), Delegate(), says("still-looking"), bye(0)),
        lambda line: Talk(line, look_up, kugel={"tools": []}),
    ),
    "instructions": Example(
        lambda: score(asks("parcel-postcode", START), Delegate(), says("address-4711", "commentary"), bye(0)),
        lambda line: Talk(line, verify),
    ),
}


@cache
def real_calls() -> dict[str, tuple[Talk, CallResult]]:
    """All of them at once over real sockets: they take real time."""

    async def all_at_once() -> list[tuple[Talk, CallResult]]:
        return await asyncio.gather(*(over_a_socket(e.score(), e.make) for e in EXAMPLES.values()))

    return dict(zip(EXAMPLES, asyncio.run(all_at_once()), strict=True))


@pytest.fixture(params=["world", pytest.param("socket", marks=pytest.mark.slow)])
def call(request: pytest.FixtureRequest) -> Callable[[str], tuple[Talk, CallResult]]:
    """Make one of the example calls."""
    if request.param == "socket":
        return lambda name: real_calls()[name]
    return lambda name: in_the_world(EXAMPLES[name].score(), EXAMPLES[name].make)


Caller = Callable[[str], tuple[Talk, CallResult]]


def heard(result: CallResult) -> list[str]:
    """What the caller heard of the agent."""
    return [reply.heard_text for reply in result.replies if not reply.cut_off]


def whole(talk: Talk, result: CallResult) -> None:
    """Nothing went wrong beside the point."""
    assert talk.errors == []
    assert talk.seconds is not None
    assert result.verdict.synthetic == []
    finished = result.caller_turns[:-1]  # the last one hangs up before the agent takes it for over
    assert [turn.words_lost for turn in finished] == [0] * len(finished)


def test_greeting(call: Caller) -> None:
    talk, result = call("greeting")
    whole(talk, result)
    assert heard(result) == ["Parcel service, how can I help?"]


def test_look_up(call: Caller) -> None:
    talk, result = call("look-up")
    whole(talk, result)
    assert number_in(talk.said.split("Great")[0]) == "4711"
    assert heard(result) == [ORDERS["4711"]]
    (delegation,) = result.delegations
    assert (delegation.id, delegation.outcome) == (talk.delegations[0], "answered")
    assert delegation.appends[0].reply == 0


def test_slow_look_up(call: Caller) -> None:
    talk, result = call("slow look-up")
    whole(talk, result)
    assert talk.acks == ["thinking", "commentary"]
    assert heard(result) == [ORDERS["4712"]], "progress is not read out"


def test_asking_back(call: Caller) -> None:
    talk, result = call("asking back")
    whole(talk, result)
    assert heard(result) == [QUESTION, "Order 4711 is cancelled."]
    assert len(set(talk.delegations)) == 2


def test_an_announcement_that_nobody_asked_for(call: Caller) -> None:
    talk, result = call("unattached")
    whole(talk, result)
    assert heard(result)[-1] == "Order 4713 has just been delivered."
    assert result.delegations[-1].id == ""


def test_no_tools_no_delegation(call: Caller) -> None:
    talk, result = call("tools")
    assert talk.delegations == []
    assert heard(result) == ["Yes, I'm still looking."]


def test_instructions(call: Caller) -> None:
    talk, result = call("instructions")
    whole(talk, result)
    assert talk.acks == ["instructions", "commentary"]
    assert heard(result) == ["Order 4711 arrives tomorrow at 12 Mill Lane."]


def test_the_stopped_microphone() -> None:
    """45 s after the delegation, with and without silence being sent."""

    class Late(Talk):
        stops = False

        async def _listen(self) -> None:
            async for frame in self.line.microphone:
                if not (self.stops and self.delegations):
                    await self.connection.session.input_audio.append(audio=base64.b64encode(frame).decode())
            await self.connection.session.close()

    class Stopped(Late):
        stops = True

    async def late(talk: Talk, delegation: str, said: str) -> None:
        await asyncio.sleep(45)
        await look_up(talk, delegation, said)

    steps = [asks("parcel-where", START), Delegate(), says("status-4711", "commentary")]
    steps.append(Turn("", "pickup+60s", leave=True))
    streaming = in_the_world(score(*steps), lambda line: Late(line, late))
    stopped = in_the_world(score(*steps), lambda line: Stopped(line, late))
    assert heard(streaming[1]) == [ORDERS["4711"]]
    assert streaming[0].errors == []
    assert heard(stopped[1]) == []
    assert stopped[0].errors == ["context_injection_incomplete"]
    assert stopped[1].delegations[0].outcome == "answer not placed"
