"""`simrt serve`: a cassette on a real socket."""

import json
import shutil
import socket
import ssl
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from simrt.cli.serve import tls_context
from simrt.errors import SimrtError

from .conftest import Process, Run, message

Start = Callable[..., Process]


def url_of(server: Process) -> str:
    """Where it says that it listens."""
    return server.line_with("DIALOG_REALTIME_URL").partition("=")[2].strip()


def test_connections_are_served_and_reported(process: Start) -> None:
    server = process("serve", "front-desk-short")
    assert "serving on http://127.0.0.1:" in server.line_with("serving")
    url = url_of(server)
    with connect(url) as one, connect(f"{url}&api_key=a-secret-value") as two:  # both at once
        for ws in (one, two):
            assert json.loads(ws.recv())["type"] == "session.created"
        one.send('{"type": "session.update", "session": {"type": "realtime"}}')
        assert json.loads(one.recv())["type"] == "session.updated"
    reports = [server.line_with("closed 1000 by the client") for _ in range(2)]
    assert sorted(report.partition(":")[0] for report in reports) == ["connection 1", "connection 2"]
    assert all("heard nothing; verdict:" in report for report in reports)
    status, out, err = server.interrupt()
    assert status == 130
    assert err == ""
    assert "a-secret-value" not in "".join(reports) + out


def test_what_is_open_when_it_ends_is_reported_too(process: Start) -> None:
    server = process("serve", "front-desk-short")
    with connect(url_of(server)) as ws:
        ws.recv()
        status, out, err = server.interrupt()
    assert status == 130
    assert "connection 1: still open when the server stopped" in out
    assert "Traceback" not in err


def test_a_live_cassette_is_found_by_the_sdks_own_variable(process: Start) -> None:
    server = process("serve", "parcel-status")
    base = server.line_with("OPENAI_BASE_URL").partition("=")[2].strip()
    with connect(f"{base.replace('http', 'ws', 1)}/live/sessions") as ws:
        ws.send('{"type": "session.start", "session": {"model": "fluid-1"}}')
        assert json.loads(ws.recv())["type"] == "session.started"
    status, out, _ = server.interrupt()
    assert status == 130
    assert "DIALOG_REALTIME_URL" not in out


def test_faults_act_and_refusals_are_told(process: Start) -> None:
    server = process("serve", "front-desk-short", "--fault", "refuse:status=429")
    url = url_of(server)
    with pytest.raises(InvalidStatus, match="429"):
        connect(url)
    assert "connection 1: /v1/realtime refused with HTTP 429" in server.line_with("refused")


def test_a_path_that_no_api_has(process: Start) -> None:
    server = process("serve", "front-desk-short")
    with pytest.raises(InvalidStatus, match="404"):
        connect(url_of(server).partition("/v1")[0] + "/elsewhere")
    assert "/elsewhere refused with HTTP 404" in server.line_with("refused")


def test_a_port_in_use(run: Run) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        told = message(run("serve", "front-desk-short", "--port", str(port)))
    assert f"cannot listen on 127.0.0.1:{port}" in told
    assert "give another --port" in told


def test_a_fault_that_is_no_good(run: Run) -> None:
    assert "did you mean 'stall'?" in message(run("serve", "front-desk-short", "--fault", "stal"))
    assert "can never fire" in message(run("serve", "front-desk-short", "--fault", "stall:reply=9"))


def test_a_key_needs_its_certificate(run: Run) -> None:
    assert run("serve", "front-desk-short", "--tls-key", "key.pem").exit_code == 2


def test_files_that_are_no_certificate(run: Run, tmp_path: Path) -> None:
    (tmp_path / "cert.pem").write_text("hello")
    told = message(run("serve", "front-desk-short", "--tls-cert", tmp_path / "cert.pem"))
    assert "cannot be used for TLS" in told
    with pytest.raises(SimrtError, match="No such file"):
        tls_context(tmp_path / "nowhere.pem", None)


@pytest.mark.skipif(shutil.which("openssl") is None, reason="openssl makes the certificate, and is not here")
def test_tls(process: Start, tmp_path: Path) -> None:
    cert, key = tmp_path / "cert.pem", tmp_path / "key.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    )
    subprocess.run([*command.split(), "-keyout", key, "-out", cert], check=True, capture_output=True)
    server = process("serve", "front-desk-short", "--tls-cert", cert, "--tls-key", key)
    url = url_of(server)
    assert url.startswith("wss://127.0.0.1:")
    with connect(url, ssl=ssl.create_default_context(cafile=str(cert))) as ws:
        assert json.loads(ws.recv())["type"] == "session.created"
