"""Names, failures and the live status."""

import asyncio
import errno
import math
import os
import socket
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus

from simrt.cassette import journal
from simrt.cassette.journal import Journal
from simrt.cassette.redact import Redactor
from simrt.cassette.store import load
from simrt.errors import SimrtError
from simrt.record import Proxy, Status
from simrt.trace import Closing

from .conftest import Bench, Make, finished, said

pytestmark = pytest.mark.asyncio


async def exchange(bench: Bench, text: str) -> None:
    """One short call."""
    async with bench.connect() as ws:
        await ws.send(text)
        assert await ws.recv() == text


async def test_a_cassette_is_never_overwritten(bench: Make, tmp_path: Path) -> None:
    async with bench() as b:
        await exchange(b, "first")
    with pytest.raises(SimrtError, match="call: exists already"):
        async with bench():
            pass
    assert said(load(tmp_path / "call"))[0] == ("client", "first")


async def test_a_cassette_is_overwritten_when_that_is_asked_for(bench: Make, tmp_path: Path) -> None:
    for text in ("first", "second"):
        async with bench(overwrite=True) as b:
            await exchange(b, text)
    assert said(load(tmp_path / "call"))[0] == ("client", "second")
    assert [path.name for path in tmp_path.iterdir()] == ["call"]


async def test_names_that_are_taken_are_left_out(bench: Make, tmp_path: Path) -> None:
    (tmp_path / "call-2").mkdir()
    (tmp_path / "call-4.recording").mkdir()
    async with bench() as b:
        for text in "abc":
            await exchange(b, text)
        await finished(b)
    assert sorted(path.name for path in b.proxy.recordings) == ["call", "call-3", "call-5"]


async def test_an_unfinished_recording_is_not_lost(bench: Make, tmp_path: Path) -> None:
    (tmp_path / "call.recording").mkdir()
    with pytest.raises(SimrtError, match=r"call\.recording.*recover"):
        async with bench():
            pass


async def test_a_folder_that_cannot_be_made(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SimrtError, match=r"file/deep.*cannot be made"):
        await Proxy("ws://127.0.0.1:1", tmp_path / "file" / "deep" / "call").start()


async def test_a_port_in_use(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(SimrtError, match=rf"port {port} on 127.0.0.1 is in use.*--port"):
            await Proxy("ws://127.0.0.1:1", tmp_path / "call", port=port).start()


def full_disk(monkeypatch: pytest.MonkeyPatch, writes: float) -> None:
    """The disk is full for that many writes to a journal."""
    left = writes
    write = os.write

    def failing(fd: int, data: bytes) -> int:
        nonlocal left
        left -= 1
        if left >= 0:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        return write(fd, data)

    monkeypatch.setattr(journal.os, "write", failing)


@pytest.mark.parametrize("lasting", [False, True])
async def test_a_full_disk_ends_the_call_before_anything_is_lost(
    bench: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, lasting: bool
) -> None:
    arrived: list[str | bytes] = []
    codes: asyncio.Queue[int | None] = asyncio.Queue()

    async def handler(ws: ServerConnection) -> None:
        try:
            async for message in ws:
                arrived.append(message)
                await ws.send(message)
        except ConnectionClosed:
            codes.put_nowait(ws.protocol.close_code)

    async with bench(handler) as b, b.connect() as ws:
        await ws.send("one")
        assert await ws.recv() == "one"
        full_disk(monkeypatch, math.inf if lasting else 1)
        await ws.send("two")
        await ws.wait_closed()
        assert ws.protocol.close_code == 1011
        assert await codes.get() == 1011
        await b.proxy.aclose()
        assert arrived == ["one"]
        assert "No space left" in str(b.proxy.failures[0])
        assert "No space left" in caplog.text
    if lasting:
        assert b.proxy.recordings == []
        assert (tmp_path / "call.recording" / journal.JOURNAL).read_text().count('"text":"one"') == 2
    else:
        cassette = load(tmp_path / "call")
        assert said(cassette) == [("client", "one"), ("server", "one")]
        assert cassette.trace.closing is not None
        assert cassette.trace.closing.code == 1011


async def test_a_call_whose_recording_cannot_begin_is_refused(bench: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    async with bench() as b:
        full_disk(monkeypatch, 1)
        with pytest.raises(InvalidStatus) as caught:
            await b.connect()
        monkeypatch.undo()
    assert caught.value.response.status_code == 500
    assert b"No space left" in (caught.value.response.body or b"")


async def test_a_cassette_that_cannot_be_finished_is_told_of_and_can_be_recovered(
    bench: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise OSError(errno.EIO, "Input/output error")

    monkeypatch.setattr(Journal, "finish", fail)
    async with bench() as b:
        await exchange(b, "x")
        await b.proxy.aclose()
    (failure,) = b.proxy.failures
    assert "Input/output error" in str(failure)
    assert str(tmp_path / "call.recording") in str(failure)
    assert b.proxy.recordings == []
    assert (tmp_path / "call.recording").is_dir()


async def test_a_redaction_hook_that_fails_lets_nothing_through(bench: Make) -> None:
    def hook(event: dict[str, object]) -> dict[str, object]:
        raise ValueError("sekrit")

    async with bench(redactor=Redactor(environ={}, hook=hook)) as b:
        async with b.connect() as ws:
            await ws.send('{"type":"session.update","x":"sekrit"}')
            await ws.wait_closed()
            assert ws.protocol.close_code == 1011
        await b.proxy.aclose()
    assert "hook failed" in str(b.proxy.failures[0])
    assert "sekrit" not in str(b.proxy.failures)
    assert [said(load(path)) for path in b.proxy.recordings] == [[]]


async def test_the_status_follows_the_call(bench: Make) -> None:
    told: asyncio.Queue[Status] = asyncio.Queue()
    async with bench(on_event=told.put_nowait) as b:
        assert b.proxy.status() == Status()
        async with b.connect() as ws:
            await ws.send('{"type":"session.update"}')
            await ws.recv()
            await ws.send(b"\x00" * 1000)
            await ws.recv()
            while (status := await told.get()).server_frames < 2:
                pass
            assert (status.connections, status.finished, status.failed) == (1, 0, 0)
            assert (status.client_frames, status.client_bytes, status.server_bytes) == (2, 1025, 1025)
            assert status.last_event == "binary"
            assert status.seconds > 0
        await finished(b)
        while not told.empty():
            status = told.get_nowait()
        assert (status.connections, status.finished) == (0, 1)


async def test_the_status_names_the_last_event_and_no_key(bench: Make) -> None:
    key = "a1b2c3d4e5f6a7b8c9d0"
    async with bench() as b, b.connect(additional_headers={"api-key": key}) as ws:
        await ws.send('{"type":"response.create"}')
        await ws.recv()
        assert b.proxy.status().last_event == "response.create"
        await ws.send(f'{{"type":"{key}"}}')
        await ws.recv()
        assert b.proxy.status().last_event == "<redacted>"


async def test_the_header_says_where_it_came_from(bench: Make) -> None:
    async with bench(how="stand-in", profile="polyai") as b:
        async with b.connect("/v1/realtime?model=m&api-key=0123456789abcdef"):
            pass
        (cassette,) = await finished(b)
    header = cassette.header
    assert (header.how, header.profile, header.dialect, header.timing) == ("stand-in", "polyai", "realtime", "measured")
    assert header.origin.startswith("ws://127.0.0.1:")
    assert header.origin.endswith("/v1/realtime?model=m&api-key=<redacted>")
    assert header.created.endswith("Z")
    assert isinstance(cassette.trace.closing, Closing)
