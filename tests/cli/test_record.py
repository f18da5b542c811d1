"""`simrt record` over real sockets: with a command, without one, and with upstreams that are no good."""

import json
import socket
import sys
import threading
from collections.abc import Callable, Iterator
from http import HTTPStatus
from pathlib import Path

import pytest
from websockets.http11 import Request, Response
from websockets.sync.client import connect
from websockets.sync.server import ServerConnection, serve

from simrt.cassette.store import load
from simrt.cli.record import live_text
from simrt.record import Status
from simrt.record.target import profile_of

from .conftest import Process, Run, message

KEY = "sk-proj-0123456789abcdefghij"
CALL = f"""
import os
from websockets.sync.client import connect
with connect(os.environ["DIALOG_REALTIME_URL"], additional_headers={{"Authorization": "Bearer {KEY}"}}) as ws:
    ws.send("hello")
    ws.recv()
"""


def echo(ws: ServerConnection) -> None:
    for received in ws:
        ws.send(received)


@pytest.fixture
def upstream() -> Iterator[str]:
    """A service that says everything again."""
    with serve(echo, "127.0.0.1", 0) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        server.shutdown()
        thread.join()


def test_a_command_is_recorded_and_its_cassette_told(run: Run, upstream: str, tmp_path: Path) -> None:
    result = run("record", upstream, "--out", tmp_path / "call", "--", sys.executable, "-c", CALL)
    assert result.exit_code == 0, result.output
    assert f"recorded {tmp_path / 'call'}: 0." in result.stdout
    assert "1 client and 1 server frames" in result.stdout
    assert "connection 1 opened" in result.stderr
    assert [frame.payload for frame in load(tmp_path / "call").trace.frames] == ["hello", "hello"]


def test_no_key_is_on_the_disk_or_the_screen(run: Run, upstream: str, tmp_path: Path) -> None:
    result = run("record", f"{upstream}?api_key={KEY}", "--out", tmp_path / "call", "--", sys.executable, "-c", CALL)
    assert result.exit_code == 0, result.output
    assert KEY not in result.output
    assert KEY not in (tmp_path / "call" / "cassette.jsonl").read_text()


@pytest.mark.parametrize("status", [0, 7])
def test_a_commands_status_is_passed_on(run: Run, upstream: str, tmp_path: Path, status: int) -> None:
    code = f"{CALL}\nimport sys\nsys.exit({status})"
    assert run("record", upstream, "-o", tmp_path / "call", "--", sys.executable, "-c", code).exit_code == status
    assert (tmp_path / "call" / "cassette.jsonl").exists()


def test_options_of_the_command_are_its_own(run: Run, upstream: str, tmp_path: Path) -> None:
    code = f"import sys\nassert sys.argv[1:] == ['--port', '1', '--', 'x'], sys.argv\n{CALL}"
    command = (sys.executable, "-c", code, "--port", "1", "--", "x")
    assert run("record", upstream, "--out", tmp_path / "call", "--", *command).exit_code == 0


def test_a_command_that_does_not_call_is_no_success(run: Run, upstream: str, tmp_path: Path) -> None:
    told = message(run("record", upstream, "--out", tmp_path / "call", "--", sys.executable, "-c", "pass"))
    assert "nothing was recorded" in told
    assert "OPENAI_BASE_URL" in told


def test_every_connection_is_a_cassette(run: Run, upstream: str, tmp_path: Path) -> None:
    result = run("record", upstream, "--out", tmp_path / "call", "--", sys.executable, "-c", CALL + CALL)
    assert result.exit_code == 0, result.output
    assert [line.split(":")[0] for line in result.stdout.splitlines()] == [
        f"recorded {tmp_path / 'call'}",
        f"recorded {tmp_path / 'call-2'}",
    ]


def test_until_ctrl_c_without_a_command(upstream: str, process: Callable[..., Process], tmp_path: Path) -> None:
    recorder = process("record", upstream, "--out", tmp_path / "call", "--profile", "polyai")
    assert "listening on http://127.0.0.1:" in recorder.line_with("listening")
    assert "OPENAI_BASE_URL=http://127.0.0.1:" in recorder.line_with("OPENAI_BASE_URL")
    url = recorder.line_with("DIALOG_REALTIME_URL").partition("=")[2].strip()
    with connect(url) as ws:
        ws.send("one")
        assert ws.recv() == "one"
    recorder.line_with("saved as", "stderr")
    with connect(url) as open_still:
        open_still.send("two")
        assert open_still.recv() == "two"
        status, out, err = recorder.interrupt()
    assert status == 130
    assert "Traceback" not in err
    assert out.count("recorded ") == 2
    assert load(tmp_path / "call").header.profile == "polyai"
    assert [frame.payload for frame in load(tmp_path / "call-2").trace.frames] == ["two", "two"]


# Upstreams and arguments that are no good.


def test_an_upstream_that_is_not_there(run: Run, tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound and not listening: nobody answers there
        upstream = f"ws://127.0.0.1:{taken.getsockname()[1]}"
        told = message(run("record", upstream, "--out", tmp_path / "call", "--", sys.executable, "-c", CALL))
    assert f"the upstream {upstream} gave no session" in told


def test_an_upstream_that_resets(run: Run, tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def hang_up() -> None:
            listening.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        upstream = f"ws://127.0.0.1:{listening.getsockname()[1]}"
        told = message(run("record", upstream, "--out", tmp_path / "call", "--", sys.executable, "-c", CALL))
        thread.join()
    assert "gave no session" in told
    assert KEY not in told


def test_a_refusal_is_recorded_and_the_command_decides(run: Run, tmp_path: Path) -> None:
    def refuse(ws: ServerConnection, request: Request) -> Response:
        return ws.respond(HTTPStatus.UNAUTHORIZED, "no such key\n")

    with serve(echo, "127.0.0.1", 0, process_request=refuse) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        upstream = f"ws://127.0.0.1:{server.socket.getsockname()[1]}"
        code = f"try:\n    exec({CALL!r})\nexcept Exception as error:\n    raise SystemExit(4)"
        result = run("record", upstream, "--out", tmp_path / "call", "--", sys.executable, "-c", code)
        server.shutdown()
        thread.join()
    assert result.exit_code == 4
    assert "the connection was refused with HTTP 401" in result.stdout
    assert load(tmp_path / "call").trace.opening.status == 401


def test_a_port_in_use(run: Run, upstream: str, tmp_path: Path) -> None:
    port = upstream.rpartition(":")[2]
    told = message(run("record", upstream, "--out", tmp_path / "call", "--port", port, "--", "true"))
    assert f"port {port} on 127.0.0.1 is in use" in told


@pytest.mark.parametrize(
    ("address", "told"),
    [
        ("api.example.org", "must begin with ws://"),
        (f"wss://user:{KEY}@example.org", "holds a user or password"),
        ("ws://host:port", "cannot be read"),
    ],
)
def test_an_upstream_that_is_no_url(run: Run, tmp_path: Path, address: str, told: str) -> None:
    said = message(run("record", address, "--out", tmp_path / "call", "--", "true"))
    assert told in said
    assert KEY not in said


def test_a_command_that_is_not_there(run: Run, upstream: str, tmp_path: Path) -> None:
    assert "cannot be run" in message(run("record", upstream, "--out", tmp_path / "call", "--", "no-such-command"))


def test_a_cassette_is_not_replaced_unless_asked(run: Run, upstream: str, tmp_path: Path) -> None:
    arguments = ("record", upstream, "--out", tmp_path / "call")
    command = ("--", sys.executable, "-c", CALL)
    assert run(*arguments, *command).exit_code == 0
    digest = load(tmp_path / "call").header.digest
    assert "exists already" in message(run(*arguments, *command))
    assert load(tmp_path / "call").header.digest == digest
    assert run(*arguments, "--overwrite", *command).exit_code == 0
    assert load(tmp_path / "call").header.digest != digest


@pytest.mark.parametrize(
    ("upstream", "profile"),
    [
        ("wss://api.us.poly.ai/v1/realtime?model=x", "polyai"),
        ("wss://mine.openai.azure.com", "azure"),
        ("wss://api.openai.com", "openai"),
        ("wss://api.kugelaudio.com", "kugel"),
        ("https://api.eu.kugelaudio.com/v1", "kugel"),
        ("wss://notpoly.ai", "openai"),
        ("ws://[broken", "openai"),
    ],
)
def test_the_profile_goes_by_the_host(upstream: str, profile: str) -> None:
    assert profile_of(upstream) == profile


def test_the_live_line() -> None:
    assert live_text(Status()) == "waiting for a client"
    status = Status(1, 2, 0, 600, 200, 1_500_000, 2_000_000, 12.34, "response.done")
    assert live_text(status) == (
        "12.3 s  1 open, 2 saved  client 600 frames, 1.5 MB  server 200 frames, 2.0 MB  response.done"
    )


def test_what_was_recorded_can_be_shown(run: Run, upstream: str, tmp_path: Path) -> None:
    run("record", upstream, "--out", tmp_path / "call", "--", sys.executable, "-c", CALL)
    told = json.loads(run("show", tmp_path / "call", "--json").stdout)
    assert told["header"]["redacted"] == ["header:authorization"]
