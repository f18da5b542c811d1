"""`simrt call`: the outcomes, the JSON, many runs, and clients that do not behave."""

import json
import shutil
import textwrap
from pathlib import Path
from typing import Any

import pytest
import soundfile

from simrt.shipped import cassette

from .conftest import Run, message

SHORT = "front-desk-short"
STALL = "stall:reply=-1,at=1500ms,for=500ms"


def client(home: Path, body: str, name: str = "mine") -> str:
    """A client module in the current directory; returns what to call it by."""
    code = "import asyncio, sys\nfrom websockets.asyncio.client import connect\n\n" + textwrap.dedent(body)
    (home / f"{name}.py").write_text(code)
    return f"{name}:client"


@pytest.mark.parametrize(
    ("name", "lost", "least", "most"), [("Call", 0, 3000, 3000), ("NaiveCall", 1, 950, 1150), ("DrainCall", 0, 1, 1999)]
)
def test_the_stall_tells_the_three_clients_apart(run: Run, name: str, lost: int, least: int, most: int) -> None:
    result = run("call", f"clients.call:{name}", SHORT, "--fault", STALL, "--json")
    assert result.exit_code == 0
    told = json.loads(result.stdout)
    assert told["caller_turns"][0]["words_lost"] == lost
    assert told["replies"][-1]["audio_ms"] == 3000
    assert least <= told["replies"][-1]["heard_ms"] <= most


def test_json_is_one_object_with_all_that_is_promised(run: Run) -> None:
    told = json.loads(run("call", "clients.call:Call", SHORT, "--json", "--seed", "7").stdout)
    assert set(told) >= {
        "ready_ms", "caller_turns", "replies", "closed_by", "virtual_ms", "trace_sha256", "verdict", "error", "seed",
    }  # fmt: skip
    assert set(told["caller_turns"][0]) >= {"clip", "words", "words_lost", "transcript"}
    assert set(told["replies"][0]) >= {"transcript", "audio_ms", "heard_ms", "heard_text", "cut_off"}
    assert set(told["verdict"]) >= {"unplayed", "unasked", "synthetic", "unfired", "unscripted"}
    assert told["error"] is None
    assert told["seed"] == 7


def test_people_get_transcript_tables_headline_verdict_and_log(run: Run) -> None:
    result = run("call", "clients.call:NaiveCall", SHORT, "--fault", STALL)
    assert result.exit_code == 0
    assert result.stdout.startswith("caller: Yes, I'm calling about my booking")
    assert "first words lost: 1 of 12 (session ready 0.2" in result.stdout
    assert "goodbye played:   1.0" in result.stdout
    assert "ended:            closed by the client" in result.stdout
    assert "verdict:          unplayed: " in result.stdout
    assert "unfired: stall:" in result.stdout
    assert "hanging up: the call is finished" in result.stdout


def test_a_caller_who_hung_up_is_told_of(run: Run) -> None:
    told = run("call", "clients.call:Call", SHORT, "--fault", "hang-up:at=8s").stdout
    assert "ended:            the caller hung up, closed by the client" in told


def test_many_runs_are_summed_up(run: Run) -> None:
    arguments = ("call", "clients.call:Call", SHORT, "--runs", "3", "--fault", "latency:jitter=40ms")
    text = run(*arguments).stdout
    assert "first words lost: min 0, max 0, median 0 of 12" in text
    assert "goodbyes played:  in full 3 of 3, median 3.00 s" in text
    told = json.loads(run(*arguments, "--json", "--seed", "5").stdout)
    assert [one["seed"] for one in told["runs"]] == [5, 6, 7]
    assert len({one["trace_sha256"] for one in told["runs"]}) == 3
    assert told["summary"]["runs"] == 3
    assert told["summary"]["failed"] == 0
    assert told["summary"]["goodbyes_in_full"] == 3


def test_the_wav_has_the_caller_left_and_the_agent_right(run: Run, home: Path) -> None:
    result = run("call", "clients.call:Call", SHORT, "--wav", "call.wav", "--json")
    samples, rate = soundfile.read(home / "call.wav", dtype="int16")
    assert rate == 24000
    assert samples.shape == (int(json.loads(result.stdout)["virtual_ms"] * 24), 2)
    assert abs(samples[: 24000 * 4, 0]).max() > 1000  # the caller speaks first
    assert abs(samples[: 24000 * 4, 1]).max() == 0


def test_a_wav_that_cannot_be_written_is_told(run: Run, home: Path) -> None:
    told = message(run("call", "clients.call:Call", SHORT, "--wav", "no/such/call.wav"))
    assert "the audio cannot be written to no/such/call.wav" in told


def test_a_wav_holds_one_call(run: Run) -> None:
    result = run("call", "clients.call:Call", SHORT, "--wav", "x.wav", "--runs", "2")
    assert result.exit_code == 2


def test_silero_is_a_choice_and_others_are_not(run: Run) -> None:
    pytest.importorskip("onnxruntime")
    told = json.loads(run("call", "clients.call:Call", "front-desk-authored", "--vad", "silero", "--json").stdout)
    assert told["caller_turns"][0]["words_lost"] == 0
    assert run("call", "clients.call:Call", SHORT, "--vad", "loud").exit_code == 2


# Clients that do not behave: a message, status 1, no traceback, and with --json still the object.


def failed(run: Run, *arguments: str) -> tuple[str, dict[str, Any]]:
    """The message in words, and the object of --json, which must carry it too."""
    told = message(run("call", *arguments)).removeprefix("simrt: ")
    result = run("call", *arguments, "--json")
    assert result.exit_code == 1
    made: dict[str, Any] = json.loads(result.stdout)
    assert made["error"] == told
    assert f"simrt: {told}" in result.stderr
    return told, made


def test_a_client_that_raises(run: Run, home: Path) -> None:
    name = client(home, "async def client(line):\n    raise ValueError('no idea')\n")
    told, _ = failed(run, name, SHORT)
    assert told.startswith("the client raised ValueError: no idea (")
    assert "mine.py:5" in told


def test_a_client_that_raises_late_leaves_its_call_and_its_wav(run: Run, home: Path) -> None:
    body = """
        async def client(line):
            async with connect(line.url) as ws:
                await ws.recv()
                await asyncio.sleep(2)
                raise RuntimeError("too much")
        """
    _, made = failed(run, client(home, body), SHORT, "--wav", "call.wav")
    assert made["virtual_ms"] > 2000
    assert made["caller_turns"][0]["words_lost"] == 12
    assert len(soundfile.read(home / "call.wav")[0]) > 48000


def test_a_client_that_never_connects(run: Run, home: Path) -> None:
    told, _ = failed(run, client(home, "async def client(line):\n    await asyncio.sleep(1)\n"), SHORT)
    assert "without ever connecting" in told


def test_a_client_that_never_closes(run: Run, home: Path) -> None:
    body = """
        async def client(line):
            async with connect(line.url) as ws:
                await asyncio.sleep(1e6)
        """
    told, made = failed(run, client(home, body), SHORT)
    assert "never ended the call" in told
    assert made["closed_by"] == "cap"


def test_a_client_that_waits_for_nothing(run: Run, home: Path) -> None:
    body = """
        async def client(line):
            async with connect(line.url) as ws:
                await asyncio.Event().wait()
        """
    told, made = failed(run, client(home, body), SHORT)
    assert "never ended the call" in told
    assert "transcript" in made


def test_a_client_that_ends_the_program(run: Run, home: Path) -> None:
    told, made = failed(run, client(home, "async def client(line):\n    sys.exit(3)\n"), SHORT)
    assert told == "the client ended the program: SystemExit(3)"
    sound = json.loads(run("call", "clients.call:Call", SHORT, "--json").stdout)
    assert list(made) == list(sound)  # the same keys, whatever happens


def test_a_client_that_connects_twice_is_noted(run: Run, home: Path) -> None:
    body = """
        async def client(line):
            for _ in range(2):
                async with connect(line.url) as ws:
                    await ws.recv()
        """
    result = run("call", client(home, body), SHORT)
    assert result.exit_code == 0
    assert "the client connected 2 times" in result.stdout


def test_a_client_that_is_refused(run: Run) -> None:
    told, _ = failed(run, "clients.call:Call", SHORT, "--fault", "refuse:status=429")
    assert "HTTP 429" in told


def test_odd_pcm_and_other_rubbish_are_survived(run: Run, home: Path) -> None:
    body = """
        import base64, json

        async def client(line):
            async with connect(line.url, max_size=None) as ws:
                await ws.recv()
                for audio in (b"x", b"x" * 961, b"\\xff" * 160):
                    event = {"type": "input_audio_buffer.append", "audio": base64.b64encode(audio).decode()}
                    await ws.send(json.dumps(event))
                await ws.send('{"type": "input_audio_buffer.append", "audio": "?"}')
                await ws.send("no json {")
                await ws.send(json.dumps({"type": "session.update", "session": {"instructions": "x" * (16 << 20)}}))
                await asyncio.sleep(1)
        """
    result = run("call", client(home, body), SHORT, "--json")
    assert result.exit_code == 0, result.output
    verdict = json.loads(result.stdout)["verdict"]
    assert verdict["synthetic"], "the bad append and the text that is no JSON must have been answered"


def test_what_a_client_prints_stays_out_of_the_json(run: Run, home: Path) -> None:
    body = """
        print("imported")

        async def client(line):
            print("connecting")
            async with connect(line.url) as ws:
                await ws.recv()
        """
    result = run("call", client(home, body), SHORT, "--json")
    assert json.loads(result.stdout)["closed_by"] == "client"
    assert "imported\nconnecting" in result.stderr


def test_failures_among_many_runs_are_counted_and_told_once(run: Run, home: Path) -> None:
    name = client(home, "async def client(line):\n    raise ValueError('no idea')\n")
    result = run("call", name, SHORT, "--runs", "3")
    assert "no idea" in message(result)
    told = json.loads(run("call", name, SHORT, "--runs", "3", "--json").stdout)
    assert told["summary"]["failed"] == 3
    assert [one["error"] is None for one in told["runs"]] == [False] * 3


def test_keys_in_an_error_or_a_log_are_not_printed(run: Run, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_API_KEY", "hush-hush-value-9")
    body = """
        import os

        async def client(line):
            line.note("using " + os.environ["MY_API_KEY"])
            raise ValueError("bad key " + os.environ["MY_API_KEY"])
        """
    for more in ((), ("--json",)):
        result = run("call", client(home, body), SHORT, *more)
        assert "bad key <redacted>" in result.stderr
        assert "using <redacted>" in result.stdout
        assert "hush-hush" not in result.output


# Cassettes and plans that are no good.


def damaged(home: Path, name: str = "no-done") -> Path:
    """A copy of a shipped cassette, to be damaged."""
    return Path(shutil.copytree(cassette(name), home / "damaged"))


def edit(folder: Path, old: str, new: str, count: int = 1) -> None:
    file = folder / "cassette.jsonl"
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new, count))


@pytest.mark.parametrize(
    ("damage", "told"),
    [
        (lambda folder: edit(folder, '{"t_us":', '{t_us:', 1), "line 2"),
        (lambda folder: (folder / "agent.flac").unlink(), "agent.flac"),
        (lambda folder: edit(folder, "Okafor", "Okafar", 99), "digest"),
        (lambda folder: edit(folder, '"format":1', '"format":99'), "newer"),
        (lambda folder: edit(folder, '"caller.flac"', '"../caller.flac"'), "caller.flac"),
        (lambda folder: (folder / "cassette.jsonl").unlink(), "cassette.jsonl"),
    ],
    ids=["no json", "audio missing", "digest", "newer", "path", "lines missing"],
)  # fmt: skip
def test_a_damaged_cassette(run: Run, home: Path, damage: Any, told: str) -> None:
    folder = damaged(home)
    damage(folder)
    complaint = message(run("call", "clients.call:Call", folder))
    assert told in complaint
    assert folder.name in complaint


def test_a_cassette_that_was_cut_off(run: Run, home: Path) -> None:
    file = damaged(home) / "cassette.jsonl"
    file.write_bytes(file.read_bytes()[:-200])
    assert "cassette.jsonl, line" in message(run("call", "clients.call:Call", "damaged"))


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        ("stal:reply=-1", "did you mean 'stall'?"),
        ("stall:repl=-1", "did you mean 'reply'?"),
        ("stall:for=soon", "is no duration"),
        ("stall:reply=7", "can never fire"),
        ("drop:event=nonesuch", "can never fire"),
    ],
)
def test_a_fault_that_is_no_good(run: Run, fault: str, told: str) -> None:
    assert told in message(run("call", "clients.call:Call", SHORT, "--fault", fault))
