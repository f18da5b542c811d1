"""One call from end to end, and what becomes of clients that do not behave."""

import asyncio
import base64
import json
import os
import sqlite3
import subprocess
import sys
import urllib.request
from pathlib import Path

import numpy as np
import pytest
import websockets

from clients.call import Call
from simrt import ULAW8, AudioFormat, CallError, Line, Say, SimrtError, fixture_clip, parse_cue, run_call, shipped
from simrt.call import PATIENCE_MS
from simrt.errors import PlanError
from simrt.scripts import authored

APPEND = "input_audio_buffer.append"


async def connected(line: Line) -> websockets.ClientConnection:
    return await websockets.connect(line.url, additional_headers=line.headers, max_size=None)


async def test_client(line: Line) -> None:
    """The ten lines of a first test: sends the microphone, plays the reply, and hangs up when it has been heard."""
    async with await connected(line) as socket:

        async def pump() -> None:
            async for frame in line.microphone:
                await socket.send(json.dumps({"type": APPEND, "audio": base64.b64encode(frame).decode()}))

        pumping = asyncio.create_task(pump())
        async for message in socket:
            event = json.loads(message)
            if event["type"] == "response.output_audio.delta":
                line.speaker.play(base64.b64decode(event["delta"]))
            elif event["type"] == "response.done":
                break
        await line.speaker.drain()
        pumping.cancel()


test_client.__test__ = False  # type: ignore[attr-defined]


def test_a_result_tells_what_was_said_and_heard() -> None:
    result = run_call(Call, authored("front-desk"))
    plain = result.to_dict()
    assert plain["ready_ms"] == 260
    assert plain["caller_turns"][0] == {
        "clip": "booking",
        "words": 12,
        "words_lost": 0,
        "transcript": "Hi, yes, I'm calling about my booking for Friday. The surname's Okafor.",
        "said_ms": 0.0,
    }
    assert {key: plain["replies"][1][key] for key in ("audio_ms", "heard_ms", "cut_off")} == {
        "audio_ms": 4900.0,
        "heard_ms": 4900.0,
        "cut_off": False,
    }
    assert set(plain) >= {"closed_by", "virtual_ms", "trace_sha256", "verdict", "transcript"}
    json.dumps(plain)
    assert result.transcript.splitlines()[2] == "caller: No, that's everything. Thank you."


def test_the_stereo_audio_is_the_caller_left_and_what_was_heard_right() -> None:
    result = run_call(Call, authored("front-desk"))
    audio = result.audio()
    assert audio.shape == (round(result.virtual_ms * 24), 2)
    booking = fixture_clip("booking").samples
    assert np.array_equal(audio[: len(booking), 0], booking)
    start = round((result.replies[1].from_ms or 0) * 24)
    goodbye = fixture_clip("goodbye").samples
    assert np.array_equal(audio[start : start + len(goodbye), 1], goodbye)


def test_the_same_call_twice_gives_the_same_trace_and_another_seed_does_too_without_chance() -> None:
    digests = {run_call(Call, authored("front-desk"), seed=seed).trace_sha256 for seed in (0, 0, 1)}
    assert len(digests) == 1


def test_chance_follows_the_seed() -> None:
    plan = ["latency:add=40ms,jitter=30ms"]
    runs = [run_call(Call, authored("front-desk"), plan, seed=seed).trace_sha256 for seed in (1, 1, 2)]
    assert runs[0] == runs[1] != runs[2]


def test_the_trace_is_the_same_in_another_process_with_another_hash_seed() -> None:
    code = (
        "from clients.call import Call; from simrt import run_call, shipped\n"
        "print(run_call(Call, shipped.cassette('talk-over'), ['latency:add=5ms,jitter=9ms'], seed=3).trace_sha256)"
    )
    root = Path(__file__).resolve().parent.parent

    def digest(hash_seed: str) -> subprocess.Popen[str]:
        environment = {**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(root)}
        return subprocess.Popen([sys.executable, "-c", code], env=environment, stdout=subprocess.PIPE, text=True)

    # at once, and beside this process's own call, so that the machine is busy
    others = [digest("1"), digest("2718")]
    mine = run_call(Call, shipped.cassette("talk-over"), ["latency:add=5ms,jitter=9ms"], seed=3).trace_sha256
    assert [other.communicate()[0].strip() for other in others] == [mine, mine]


def test_a_client_with_its_ledger_on_a_thread_is_as_deterministic(tmp_path: Path) -> None:
    def write(path: Path) -> int:
        with sqlite3.connect(path) as ledger:
            ledger.execute("create table if not exists calls (id integer primary key)")
            return ledger.execute("insert into calls default values").lastrowid or 0

    class Ledgered(Call):
        async def run(self) -> None:
            loop = asyncio.get_running_loop()
            before = loop.time()
            number = await asyncio.to_thread(write, tmp_path / "ledger.db")
            assert loop.time() == before
            self.line.note(f"call {number}")
            await super().run()

    digests = {run_call(Ledgered, authored("front-desk")).trace_sha256 for _ in range(3)}
    assert len(digests) == 1
    with sqlite3.connect(tmp_path / "ledger.db") as ledger:
        assert ledger.execute("select count(*) from calls").fetchone() == (3,)


def test_a_line_at_mu_law_is_heard_like_any_other() -> None:
    result = run_call(Call, authored("front-desk"), format=ULAW8)
    assert [turn.words_lost for turn in result.caller_turns] == [0, 0]
    assert result.replies[-1].heard_ms == 4900


def test_another_rate_too() -> None:
    result = run_call(Call, authored("front-desk"), format=AudioFormat("pcm16", 16000))
    assert [turn.words_lost for turn in result.caller_turns] == [0, 0]


def test_the_caller_can_say_other_things() -> None:
    says = [Say(fixture_clip("booking"), parse_cue("pickup+1s"))]
    with pytest.raises(CallError, match="never ended the call") as caught:
        run_call(Call, authored("front-desk"), says=says, cap_ms=15_000)
    result = caught.value.result
    assert result is not None
    assert [turn.said_ms for turn in result.caller_turns] == [1000]
    assert result.closed_by == "cap"
    assert any("still on the line" in note for note in result.verdict.notes)


# clients that do not behave


def test_a_client_that_raises_is_named_with_its_place() -> None:
    async def client(line: Line) -> None:
        async with await connected(line):
            raise KeyError("surname")

    with pytest.raises(CallError, match=r"the client raised KeyError: 'surname' \(.*test_call\.py:\d+\)") as caught:
        run_call(client, authored("front-desk"))
    assert isinstance(caught.value.__cause__, KeyError)
    assert caught.value.result is not None
    assert caught.value.result.traces


def test_a_client_that_ends_cancelled_has_not_ended_well() -> None:
    async def client(line: Line) -> None:
        async with await connected(line) as socket:
            pumping = asyncio.create_task(asyncio.sleep(3600))
            await socket.recv()
            pumping.cancel()
            await pumping  # the common mistake

    with pytest.raises(CallError, match="the client raised CancelledError"):
        run_call(client, authored("front-desk"))


def test_a_client_that_ends_the_program_is_told_so() -> None:
    async def client(line: Line) -> None:
        sys.exit(3)

    with pytest.raises(CallError, match=r"the client ended the program: SystemExit\(3\)"):
        run_call(client, authored("front-desk"))


def test_a_task_that_dies_unnoticed_is_noted(caplog: pytest.LogCaptureFixture) -> None:
    async def pump(line: Line) -> None:
        async for _ in line.microphone:
            raise ZeroDivisionError("the pump is dead")

    async def client(line: Line) -> None:
        async with await connected(line) as socket:
            pumping = asyncio.create_task(pump(line))
            await socket.recv()
            await asyncio.sleep(1)
            assert pumping.done()

    (note,) = run_call(client, "front-desk").verdict.notes
    assert note.startswith("a task of the client died unnoticed: ZeroDivisionError: the pump is dead (")
    assert "test_call.py:" in note
    assert caplog.text == ""


def test_what_the_client_leaves_running_is_named() -> None:
    kept = []

    async def client(line: Line) -> None:
        kept.append(asyncio.create_task(line.speaker.drain()))
        kept.append(asyncio.create_task(asyncio.sleep(1e6)))
        cancelled = asyncio.create_task(asyncio.sleep(1e6))
        async with await connected(line):
            await asyncio.sleep(1)
        cancelled.cancel()  # and not waited for

    result = run_call(client, authored("front-desk"))
    assert [left.partition(" at ")[0] for left in result.tasks_left] == ["sleep"]
    assert run_call(Call, authored("front-desk")).tasks_left == []


def test_what_is_no_cassette_is_named() -> None:
    with pytest.raises(SimrtError, match=r"no shipped cassette of that name; those are: .*front-desk"):
        run_call(test_client, "front-dsk")
    with pytest.raises(SimrtError, match="42 is no cassette"):
        run_call(test_client, 42)  # type: ignore[arg-type]
    with pytest.raises(CallError, match="'front-desk' is no client"):
        run_call("front-desk", test_client)  # type: ignore[arg-type]


def test_a_client_that_never_connects_is_told_where_it_should_have() -> None:
    async def client(line: Line) -> None:
        await asyncio.sleep(1)

    with pytest.raises(CallError, match=r"without ever connecting; it was given ws://"):
        run_call(client, authored("front-desk"))


def test_a_client_that_never_closes_hits_the_cap_in_virtual_time() -> None:
    async def client(line: Line) -> None:
        async with await connected(line) as socket:
            async for _ in socket:
                pass

    with pytest.raises(CallError, match="never ended the call: 600 s after the caller's last cue") as caught:
        run_call(client, authored("front-desk"))
    result = caught.value.result
    assert result is not None
    assert result.closed_by == "cap"
    assert result.line.hung_up_by == "caller"


def test_a_caller_who_hears_nothing_any_more_hangs_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clients.desk.patience.QUIET_S", 1000)
    says = [Say(fixture_clip("booking"), parse_cue("pickup+1s"))]
    result = run_call(Call, authored("front-desk"), says=says)
    assert (result.closed_by, result.line.hung_up_by) == ("client", "caller")
    heard = result.replies[-1]
    assert heard.from_ms is not None
    assert abs(result.virtual_ms - heard.from_ms - heard.audio_ms - PATIENCE_MS) < 100


def test_a_caller_who_still_has_something_to_say_does_not(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clients.desk.patience.QUIET_S", 1000)
    says = [
        Say(fixture_clip("booking"), parse_cue("pickup+1s")),
        Say(fixture_clip("thats-all"), parse_cue("pickup+200s")),
    ]
    result = run_call(Call, authored("front-desk"), says=says)
    assert [turn.said_ms for turn in result.caller_turns] == [1000, 200_000]


def test_a_client_that_swallows_its_cancellation_does_not_hang_the_run() -> None:
    async def client(line: Line) -> None:
        async with await connected(line):
            while True:
                try:
                    await asyncio.sleep(3600)
                except asyncio.CancelledError:
                    line.note("no, thanks")

    with pytest.raises(CallError, match="never ended the call"):
        run_call(client, authored("front-desk"), cap_ms=1000)


def test_a_client_that_waits_for_nothing_is_named_at_once() -> None:
    async def client(line: Line) -> None:
        await asyncio.Event().wait()

    with pytest.raises(CallError, match="never ended the call, and never connected"):
        run_call(client, authored("front-desk"), cap_ms=1000)


def test_a_client_that_connects_twice_is_served_twice_and_noted() -> None:
    async def client(line: Line) -> None:
        async with await connected(line) as first:
            await first.recv()
        await test_client(line)

    result = run_call(client, authored("front-desk"))
    assert len(result.traces) == 2
    assert "the client connected 2 times" in result.verdict.notes


def test_something_that_is_no_client_is_refused() -> None:
    with pytest.raises(CallError, match="is no client"):
        run_call(lambda line: 42, authored("front-desk"))


def test_a_wrong_path_is_404() -> None:
    async def client(line: Line) -> None:
        await websockets.connect(line.url.replace("realtime?", "chat?"))

    with pytest.raises(CallError, match="HTTP 404"):
        run_call(client, authored("front-desk"))


def test_nothing_leaves_the_machine_even_from_a_thread() -> None:
    async def client(line: Line) -> None:
        await asyncio.to_thread(urllib.request.urlopen, "http://192.0.2.1/", timeout=1)

    with pytest.raises(CallError, match=r"192\.0\.2\.1"):
        run_call(client, authored("front-desk"))


def test_a_frame_of_sixteen_mebibytes_passes() -> None:
    async def client(line: Line) -> None:
        async with await connected(line) as socket:
            await socket.recv()
            audio = base64.b64encode(bytes(12 << 20)).decode()
            await socket.send(json.dumps({"type": APPEND, "audio": audio}))
            await socket.send(json.dumps({"type": APPEND, "audio": audio + audio}))
            line.note(json.loads(await socket.recv())["error"]["message"])

    result = run_call(client, authored("front-desk"))
    sizes = [len(frame.payload) for frame in result.trace.sent_by("client")]
    assert sizes[0] > 16 << 20
    assert any("the limit is" in note for note in result.log)


def test_odd_lengths_are_noted_and_hurt_nothing() -> None:
    async def client(line: Line) -> None:
        async with await connected(line) as socket:
            await socket.send(json.dumps({"type": APPEND, "audio": base64.b64encode(b"\x01\x02\x03").decode()}))
            await socket.recv()

    assert any("odd number" in note for note in run_call(client, authored("front-desk")).verdict.notes)


def test_audio_in_the_wrong_format_is_no_turn_and_no_error() -> None:
    async def client(line: Line) -> None:
        async with await connected(line) as socket:
            async for frame in line.microphone:  # μ-law, but no session.update has said so
                await socket.send(json.dumps({"type": APPEND, "audio": base64.b64encode(frame).decode()}))
                if line.clock.now_us() > 8_000_000:
                    break

    result = run_call(client, authored("front-desk"), format=ULAW8)
    assert result.caller_turns[0].words_lost == 12
    kinds = [frame.event()["type"] for frame in result.trace.sent_by("server")]  # type: ignore[index]
    assert kinds == ["session.created"]


def test_a_plan_that_cannot_come_true_is_refused_before_the_call() -> None:
    with pytest.raises(PlanError, match="can never fire"):
        run_call(Call, authored("front-desk"), ["stall:reply=-1,at=20s,for=500ms"])
    with pytest.raises(PlanError, match="did you mean 'stall'"):
        run_call(Call, authored("front-desk"), ["stal:at=1s"])


def test_a_fault_that_did_not_fire_is_in_the_verdict() -> None:
    result = run_call(Call, authored("front-desk"), ["close:at=5m".replace("5m", "300s")])
    assert result.verdict.unfired == ["close:at=300000ms"]
