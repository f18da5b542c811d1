"""A command beside the proxy."""

import asyncio
import json
import os
import signal
import sys
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection

from simrt.cassette.store import load
from simrt.errors import SimrtError

from .conftest import Make, echo, said

pytestmark = pytest.mark.asyncio

CALL = """
import os, sys
from websockets.sync.client import connect
with connect(os.environ["DIALOG_REALTIME_URL"]) as ws:
    ws.send("hello")
    ws.recv()
"""


async def test_the_command_is_told_where_the_proxy_is(bench: Make, tmp_path: Path) -> None:
    out = tmp_path / "environment"
    code = f"import json, os; json.dump(dict(os.environ), open({str(out)!r}, 'w'))"
    async with bench(path="/v1/realtime?model=a%20b") as b:
        assert await b.proxy.run_command([sys.executable, "-c", code]) == 0
        told = json.loads(out.read_text())
        assert told["OPENAI_BASE_URL"] == f"http://127.0.0.1:{b.proxy.port}/v1"
        assert told["DIALOG_REALTIME_URL"] == f"ws://127.0.0.1:{b.proxy.port}/v1/realtime?model=a%20b"
        assert told["PATH"] == os.environ["PATH"]


async def test_its_calls_are_cassettes_when_it_is_done(bench: Make, tmp_path: Path) -> None:
    async with bench() as b:
        assert await b.proxy.run_command([sys.executable, "-c", CALL]) == 0
        assert b.proxy.recordings == [tmp_path / "call"]
    assert said(load(tmp_path / "call")) == [("client", "hello"), ("server", "hello")]


async def test_a_call_that_it_leaves_open_is_finished(bench: Make, tmp_path: Path) -> None:
    async with bench() as b:
        assert await b.proxy.run_command([sys.executable, "-c", CALL + "    os._exit(3)"]) == 3
        assert b.proxy.recordings == [tmp_path / "call"]
    assert said(load(tmp_path / "call")) == [("client", "hello"), ("server", "hello")]


@pytest.mark.parametrize(
    ("code", "status"),
    [("raise SystemExit(7)", 7), ("import os, signal; os.kill(os.getpid(), signal.SIGTERM)", 128 + signal.SIGTERM)],
)
async def test_its_exit_status_is_handed_back(bench: Make, code: str, status: int) -> None:
    async with bench() as b:
        assert await b.proxy.run_command([sys.executable, "-c", code]) == status


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_the_command_and_finishes_its_call(
    bench: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    async def handler(ws: ServerConnection) -> None:
        os.kill(os.getpid(), number)
        await echo(ws)

    monkeypatch.setattr(sys, "stdin", None)
    code = "import signal; signal.signal(signal.SIGINT, signal.SIG_DFL)" + CALL + "    ws.recv()"
    async with bench(handler) as b:
        assert await b.proxy.run_command([sys.executable, "-c", code]) == 128 + number
        assert b.proxy.recordings == [tmp_path / "call"]


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_serving(bench: Make, tmp_path: Path, number: signal.Signals) -> None:
    async with bench() as b, b.connect() as ws:
        serving = asyncio.create_task(b.proxy.serve_forever())
        await ws.send("x")
        await ws.recv()
        os.kill(os.getpid(), number)
        await serving
        assert b.proxy.recordings == [tmp_path / "call"]


@pytest.mark.parametrize(("argv", "told"), [([], "after --"), (["no-such-program-here"], "no-such-program-here")])
async def test_a_command_that_cannot_be_run(bench: Make, argv: list[str], told: str) -> None:
    async with bench() as b:
        with pytest.raises(SimrtError, match=told):
            await b.proxy.run_command(argv)
