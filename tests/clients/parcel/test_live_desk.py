"""The plumbing of a Live session, with a server played by hand: starting, refusals, errors, endings."""

import asyncio
import base64
from pathlib import Path

import pytest

from clients.desk import CallFailed
from simrt.audio import AudioFormat

from .server import LiveServer, play


async def quiet(server: LiveServer) -> None:
    await server.start()
    await asyncio.sleep(3)
    await server.hang_up()


@pytest.mark.parametrize(
    ("format", "stated"),
    [
        (AudioFormat("pcm16", 16000), {"type": "audio/pcm", "rate": 16000}),
        (AudioFormat("ulaw", 8000), {"type": "audio/pcmu", "rate": 8000}),
    ],
)
def test_the_session_says_what_it_is(format: AudioFormat, stated: object, tmp_path: Path) -> None:
    call = play(tmp_path, quiet, format=format)
    assert call.server.got[0][1]["type"] == "session.start"  # nothing comes before it
    session = call.server.of("session.start")[0]["session"]
    assert session["model"] == "fluid-1"
    assert session["audio"]["format"] == stated
    assert session["delegation"] == {"type": "client"}
    assert session["kugel"] == {}
    assert "postcode" not in session["instructions"]


def test_without_kugel_the_session_is_as_openai_knows_it(tmp_path: Path) -> None:
    call = play(tmp_path, quiet, kugel=False)  # type: ignore[arg-type]
    assert "kugel" not in call.server.of("session.start")[0]["session"]


def test_every_frame_is_sent_in_order_silence_or_not(tmp_path: Path) -> None:
    call = play(tmp_path, quiet, ready_after_s=2.0)
    appends = call.server.of("session.input_audio.append")
    assert len(appends) * 0.02 >= call.hung_up_s - 0.1
    numbers = [int.from_bytes(base64.b64decode(event["audio"])[:2], "big") for event in appends]
    assert numbers == list(range(numbers[0], numbers[0] + len(numbers)))


def test_a_session_that_is_refused_for_now_is_tried_again(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        tries.append(server)
        if len(tries) < 3:
            await server.refuse("rate_limit_exceeded", 1013)
        else:
            await quiet(server)

    tries: list[LiveServer] = []
    call = play(tmp_path, script)
    assert call.error is None
    assert len(tries) == 3
    assert "trying again in 1 s" in call.notes
    assert "hanging up: the call is finished" in call.notes


def test_a_close_with_1013_alone_is_tried_again_too(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        tries.append(server)
        if len(tries) == 1:
            await server.connection.close(1013, "try again later")
        else:
            await quiet(server)

    tries: list[LiveServer] = []
    assert play(tmp_path, script).error is None
    assert len(tries) == 2


def test_who_is_refused_for_good_says_so(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.refuse("rate_limit_exceeded", 1013)

    call = play(tmp_path, script)
    assert len(call.outcome.servers) == 3
    assert "rate_limit_exceeded" in str(call.error)
    assert str(call.error).endswith("end another call or wait, then call again")


def test_another_refusal_is_not_tried_again(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.until("session.start")
        await server.error("unknown_parameter", "Unknown parameter: 'session.kugel'.", param="session.kugel")

    call = play(tmp_path, script)
    assert len(call.outcome.servers) == 1
    assert "Unknown parameter: 'session.kugel'." in str(call.error)
    assert "correct the session.start" in str(call.error)


@pytest.mark.parametrize(("status", "advice"), [(401, "KUGELAUDIO_API_KEY"), (429, "wait"), (503, "again")])
def test_a_refused_connection_is_explained(status: int, advice: str, tmp_path: Path) -> None:
    error = str(play(tmp_path, quiet, status=status).error)
    assert f"HTTP {status}" in error
    assert advice in error
    assert "not-a-real-key" not in error


def test_without_a_key_there_is_no_call(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for variable in ("KUGELAUDIO_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(variable, raising=False)
    error = play(tmp_path, quiet, headers={}).error
    assert isinstance(error, CallFailed)
    assert "set KUGELAUDIO_API_KEY or OPENAI_API_KEY" in str(error)
    monkeypatch.setenv("OPENAI_API_KEY", "any")
    assert play(tmp_path, quiet, headers={}).error is None


def test_a_session_that_never_starts_is_given_up(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await asyncio.sleep(100)

    call = play(tmp_path, script)
    assert "not started after 30 s" in str(call.error)


def test_a_lost_connection_ends_the_call(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await asyncio.sleep(1)
        await server.connection.close(1011, "out of order")

    call = play(tmp_path, script)
    assert "the connection was lost (1011 out of order)" in call.notes
    assert call.hung_up_s < 2


def test_a_session_that_the_server_closes_ends_the_call(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await asyncio.sleep(1)
        await server.send("session.closed", reason="content", session={}, usage={"seconds": 1})
        await server.connection.close()

    assert "the server has closed the session (content)" in play(tmp_path, script).notes


def test_a_caller_who_hangs_up_ends_the_call(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.close()

    call = play(tmp_path, script, caller_hangs_up_s=2)
    assert "hanging up: the caller hung up" in call.notes
    assert call.hung_up_s < 2.1
    assert call.outcome.leftovers == []


def test_a_server_that_does_not_answer_the_close_is_left(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await asyncio.sleep(100)

    call = play(tmp_path, script, caller_hangs_up_s=2)
    assert 4 <= call.hung_up_s < 7
    assert call.outcome.leftovers == []


@pytest.mark.parametrize("garbled", ["{", "[]", '"text"', "null", '{"type": 3}', '{"no": "type"}'])
def test_a_garbled_message_ends_nothing(garbled: str, tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.connection.send(garbled)
        await server.hang_up()

    assert "hanging up: the call is finished" in play(tmp_path, script).notes


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("session.output_audio.delta", {"delta": "no base64!"}),
        ("session.output_audio.delta", {}),
        ("session.delegation.created", {"delegation": None, "offset_ms": 0}),
        ("session.input_transcript.delta", {"delta": "Hm"}),
        ("session.commentary.appended", {"start_ms": 0}),
        ("kugel.something.new", {}),
        ("info", {"code": "kugel_voice_alias", "message": "Another voice."}),
    ],
)
def test_an_event_that_cannot_be_used_ends_nothing(kind: str, fields: dict[str, object], tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.send(kind, **fields)
        await server.hang_up()

    assert "hanging up: the call is finished" in play(tmp_path, script).notes


def test_what_was_never_placed_is_reported(tmp_path: Path) -> None:
    async def script(server: LiveServer) -> None:
        await server.start()
        await server.delegate("Where is order 4711?")
        await server.until("session.commentary.append")
        await server.turn("Bye.")
        await server.say("Goodbye.")
        await server.close("commentary-1")

    call = play(tmp_path, script)
    assert "context_injection_incomplete: Too late. about commentary-1 ('Order 4711 shipped" in call.notes
    assert "untold: order 4711 is shipped" in call.notes
    assert call.order("4711").told == ""
