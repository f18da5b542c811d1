"""Keys planted wherever a call can carry one: none is on disk, in a log, an error or the status, at any moment."""

import contextlib
import json
import logging
import os
import random
import string
from pathlib import Path

import pytest
from websockets.asyncio.server import ServerConnection
from websockets.exceptions import ConnectionClosed, InvalidStatus
from websockets.http11 import Response

from simrt.cassette.redact import Redactor
from simrt.cassette.store import load

from .conftest import Make

pytestmark = pytest.mark.asyncio

LETTERS = string.ascii_letters + string.digits


class Keys:
    """Makes keys of the shapes that services use, and remembers them."""

    def __init__(self, seed: int) -> None:
        self.made: list[str] = []
        self._random = random.Random(seed)

    def __call__(self) -> str:
        def letters(count: int) -> str:
            return "".join(self._random.choices(LETTERS, k=count))

        shape = self._random.choice(["sk", "hex", "plain", "jwt"])
        key = {
            "sk": f"sk-proj-{letters(40)}",
            "hex": self._random.randbytes(16).hex(),
            "plain": f"{letters(20)}_{letters(10)}-{letters(9)}",
            "jwt": f"eyJ{letters(20)}.eyJ{letters(30)}.{letters(20)}",
        }[shape]
        self.made.append(key)
        return key


def files(folder: Path) -> bytes:
    """The bytes of every file and the name of everything under a folder (what is just being renamed is left out)."""
    parts = []
    for place, _, names in os.walk(folder):
        parts.append(place.encode())
        for name in names:
            parts.append(name.encode())
            with contextlib.suppress(FileNotFoundError):
                parts.append(Path(place, name).read_bytes())
    return b"\n".join(parts)


async def test_200_planted_keys_reach_neither_disk_nor_logs(
    bench: Make, tmp_path: Path, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level(logging.DEBUG, "simrt")
    caplog.set_level(logging.DEBUG, "asyncio")
    keys = Keys(seed=20261130)
    environ = {f"SERVICE_{n}_API_KEY": keys() for n in range(10)}
    upstream_key = keys()
    arrived: set[str] = set()

    async def handler(ws: ServerConnection) -> None:
        """Talk about every key that the request carried, then close with one in the reason."""
        assert ws.request is not None
        request = str(ws.request.headers) + ws.request.path
        found = [key for key in keys.made if key in request]
        arrived.update(found)
        await ws.send(json.dumps({"type": "session.created", "session": {"client_secret": {"value": keys()}}}))
        for key in [*found, *environ.values()]:
            await ws.send(json.dumps({"type": "error", "error": {"message": f"the key {key} is no good"}}))
            await ws.send(f"not JSON: {key}")
            await ws.send(b"binary \x00" + key.encode())
        await ws.recv()
        await ws.close(4001, f"bad key {found[0]}"[:120])

    def refuse(connection: ServerConnection, request: object) -> Response | None:
        path = connection.request.path if connection.request else ""
        if "refuse" not in path:
            return None
        assert connection.request is not None
        echoed = connection.request.headers["Authorization"]
        response = connection.respond(401, f'{{"error": "Incorrect key provided: {echoed}"}}')
        response.headers["Set-Cookie"] = f"session={keys()}; Path=/"
        return response

    statuses: list[str] = []
    options = {
        "server": {"process_request": refuse, "subprotocols": ["realtime"]},
        "path": f"/v1?api-key={upstream_key}",
        "redactor": Redactor(environ=environ),
        "on_event": lambda status: statuses.append(repr(status)),
    }
    async with bench(handler, **options) as b:
        for number in range(19):
            headers = {"Authorization": f"Bearer {keys()}", "X-API-KEY": keys(), "Cookie": f"session={keys()}"}
            path = f"/v1/realtime?model=m&token={keys()}"
            subprotocols = ["realtime", f"openai-insecure-api-key.{keys()}"]
            if number % 4 == 3:
                with pytest.raises(InvalidStatus):
                    await b.connect(path + "&refuse=1", additional_headers=headers)
                continue
            async with b.connect(path, additional_headers=headers, subprotocols=subprotocols) as ws:
                tool = {"type": "mcp", "server_url": f"https://h/?api_key={keys()}", "authorization": keys()}
                tool["headers"] = {"Authorization": f"Bearer {keys()}", "X-Custom": keys()}
                event = {"type": "session.update", "session": {"tools": [tool], "api_key": keys()}}
                nested = {"type": "response.create", "arguments": json.dumps({"password": keys()})}
                for _ in range(20):
                    await ws.recv()
                await ws.send(json.dumps(event))
                await ws.send(json.dumps(nested))
                with pytest.raises(ConnectionClosed):
                    await drain(ws)
            none_in(keys, files(tmp_path), "the disk while it records")
        await b.proxy.aclose()
        assert b.proxy.failures == []
        assert len(b.proxy.recordings) == 19

    # And where things go wrong: nobody is there, a name that is too long.
    for upstream in (f"ws://127.0.0.1:1/v1?api-key={upstream_key}", f"ws://{'x' * 70}.invalid/v1?token={upstream_key}"):
        async with bench(upstream=upstream, overwrite=True) as b:
            with pytest.raises(InvalidStatus) as caught:
                await b.connect(f"/v1/realtime?api-key={keys()}", additional_headers={"Authorization": keys()})
            statuses += [repr(b.proxy.status()), *map(str, b.proxy.failures), str(caught.value.response.body)]

    assert len(keys.made) >= 200
    assert len(arrived) > 60
    none_in(keys, files(tmp_path), "the disk")
    out, err = capfd.readouterr()
    none_in(keys, "\n".join([caplog.text, out, err, *statuses]).encode(), "logs, errors and status")
    for path in sorted(tmp_path.iterdir()):
        assert load(path).header.redacted


async def drain(ws: object) -> None:
    """Receive until the end."""
    while True:
        await ws.recv()  # type: ignore[attr-defined]


def none_in(keys: Keys, text: bytes, where: str) -> None:
    """No key is in there; the failure does not print what was searched."""
    found = [key for key in keys.made if key.encode() in text]
    assert not found, f"{len(found)} keys in {where}: {found[:3]}"
