"""Clients that nobody wrote for simrt run whole calls in virtual time, with their URLs as they are."""

import asyncio
import base64
import json

import pytest

from simrt import CallResult, Line, run_call, shipped
from simrt.scripts import authored

aiohttp = pytest.importorskip("aiohttp", reason="aiohttp is in the [test] extra")
openai = pytest.importorskip("openai", reason="the OpenAI SDK is in the [test] extra")
agents = pytest.importorskip("agents", reason="openai-agents is in the [test] extra")

HANG_UP = "end_call"
BOTH_WAYS = pytest.mark.parametrize("way", ["authored", "recorded"])


def call(client: object, way: str) -> CallResult:
    cassette = authored("front-desk") if way == "authored" else shipped.cassette("front-desk")
    return run_call(client, cassette)  # type: ignore[arg-type]


def assert_whole(result: CallResult) -> None:
    assert [turn.words_lost for turn in result.caller_turns] == [0, 0]
    assert [turn.transcript.split()[0] for turn in result.caller_turns] == ["Hi,", "No,"]
    assert [(reply.heard_ms, reply.cut_off) for reply in result.replies] == [
        (reply.audio_ms, False) for reply in result.replies
    ]
    assert result.replies[-1].heard_ms == 4900
    assert result.replies[-1].heard_text.endswith("and goodbye.")
    assert result.verdict.unplayed == []
    assert result.verdict.unasked == []


async def openai_sdk(line: Line) -> None:
    """AsyncOpenAI().realtime.connect(), to wss://api.openai.com."""
    async with openai.AsyncOpenAI(api_key="sk-none").realtime.connect(model="gpt-realtime") as connection:

        async def pump() -> None:
            async for frame in line.microphone:
                await connection.input_audio_buffer.append(audio=base64.b64encode(frame).decode())

        pumping = None
        async for event in connection:
            if event.type == "session.created":
                await connection.session.update(session={"type": "realtime", "instructions": "A front desk."})
                pumping = asyncio.create_task(pump())
            elif event.type == "response.output_audio.delta":
                line.speaker.play(base64.b64decode(event.delta))
            elif event.type == "response.done":
                calls = [item for item in event.response.output or [] if item.type == "function_call"]
                if any(item.name == HANG_UP for item in calls):
                    await line.speaker.drain()
                    break
                for item in calls:
                    output = {"type": "function_call_output", "call_id": item.call_id, "output": '{"room": 214}'}
                    await connection.conversation.item.create(item=output)
                    await connection.response.create()
        assert pumping is not None
        pumping.cancel()


@BOTH_WAYS
def test_the_openai_sdk_makes_a_whole_call(way: str) -> None:
    result = call(openai_sdk, way)
    assert_whole(result)
    assert result.verdict.synthetic == []
    assert result.trace.opening.url == "/v1/realtime?model=gpt-realtime"


async def agents_runner(line: Line) -> None:
    """RealtimeRunner of openai-agents, whose models check every field of every frame."""
    hung_up = asyncio.Event()

    @agents.function_tool
    def lookup_booking(surname: str, day: str) -> str:
        return f"{surname}, {day}: room 214"

    @agents.function_tool
    def end_call(goodbye: str, reason: str) -> str:
        hung_up.set()
        return "bye"

    desk = agents.realtime.RealtimeAgent(name="desk", instructions="A desk.", tools=[lookup_booking, end_call])
    settings = {"turn_detection": {"type": "server_vad"}}  # the PolyAI profile takes no other
    config = {"tracing_disabled": True, "model_settings": settings}
    runner = agents.realtime.RealtimeRunner(starting_agent=desk, config=config)
    async with await runner.run(model_config={"api_key": "sk-none"}) as session:

        async def pump() -> None:
            async for frame in line.microphone:
                await session.send_audio(frame)

        pumping = asyncio.create_task(pump())
        async for event in session:
            if event.type == "audio":
                line.speaker.play(event.audio.data)
            elif event.type == "audio_interrupted":
                line.speaker.clear()
            elif event.type == "error":
                raise AssertionError(event.error)
            elif event.type == "audio_end" and hung_up.is_set():
                await line.speaker.drain()
                break
        pumping.cancel()


@BOTH_WAYS
def test_an_openai_agents_session_makes_a_whole_call(way: str) -> None:
    pytest.importorskip("agents.realtime", reason="openai-agents is in the [test] extra")
    assert_whole(call(agents_runner, way))


async def aiohttp_client(line: Line) -> None:
    """A client on aiohttp, which opens its sockets itself."""
    url = "wss://dialog.example/v1/realtime?model=dialog-rsn-1"
    async with (
        aiohttp.ClientSession(headers={"X-API-KEY": "none"}) as session,
        session.ws_connect(url, heartbeat=5) as socket,
    ):

        async def pump() -> None:
            async for frame in line.microphone:
                audio = base64.b64encode(frame).decode()
                await socket.send_json({"type": "input_audio_buffer.append", "audio": audio})

        pumping = asyncio.create_task(pump())
        async for message in socket:
            event = json.loads(message.data)
            if event["type"] == "session.created":
                await socket.send_json({"type": "session.update", "session": {"type": "realtime"}})
            elif event["type"] == "response.output_audio.delta":
                line.speaker.play(base64.b64decode(event["delta"]))
            elif event["type"] == "response.done":
                calls = [item for item in event["response"]["output"] if item["type"] == "function_call"]
                if any(item["name"] == HANG_UP for item in calls):
                    await line.speaker.drain()
                    break
                for item in calls:
                    output = {"type": "function_call_output", "call_id": item["call_id"], "output": "{}"}
                    await socket.send_json({"type": "conversation.item.create", "item": output})
                    await socket.send_json({"type": "response.create"})
        pumping.cancel()


@BOTH_WAYS
def test_an_aiohttp_client_makes_a_whole_call(way: str) -> None:
    result = call(aiohttp_client, way)
    assert_whole(result)
    assert result.verdict.synthetic == []


def test_a_client_with_a_proxy_in_its_environment_still_stays_in_the_world(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    assert_whole(call(openai_sdk, "recorded"))
