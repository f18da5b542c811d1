"""Clients as they are shipped, unchanged, in a World."""

import asyncio
import json

import pytest
import websockets
from websockets.asyncio.server import serve

from simrt.world import HostNotServed, World


async def realtime(socket):
    """A minimal realtime server: greets, then acknowledges."""
    await socket.send(json.dumps({"type": "session.created", "event_id": "e0", "session": {"type": "realtime"}}))
    async for message in socket:
        kind = json.loads(message)["type"]
        await socket.send(json.dumps({"type": kind.replace("update", "updated"), "event_id": "e1", "session": {}}))


def test_websockets_with_pings_over_an_hour():
    pings = []

    class Connection(websockets.ServerConnection):
        def data_received(self, data):
            super().data_received(data)
            pings.append(self.loop.time())

    async def main():
        loop = asyncio.get_running_loop()
        echo = lambda socket: _echo(socket)  # noqa: E731
        async with (
            serve(echo, "a.example", 443, create_connection=Connection) as server,
            websockets.connect("wss://a.example/path?query=1") as socket,
        ):
            await asyncio.sleep(3600)
            await socket.send("still there")
            assert await socket.recv() == "still there"
            assert socket.remote_address == ("203.0.113.1", 443)
            assert len(server.connections) == 1
            await socket.close(4000, "enough")
        assert socket.close_code == 4000
        return loop.time()

    assert World().run(main()) == 3600.0
    assert len([when for when in pings if when % 20 == 0]) >= 3600 // 20


async def _echo(socket):
    async for message in socket:
        await socket.send(message)


def test_a_peer_that_answers_no_ping_is_dropped_after_the_ping_timeout():
    class Deaf(asyncio.Protocol):
        """Accepts, and says nothing more."""

        def connection_made(self, transport):
            from websockets.server import ServerProtocol

            self.transport, self.protocol = transport, ServerProtocol()

        def data_received(self, data):
            if self.protocol.state is websockets.protocol.State.CONNECTING:
                self.protocol.receive_data(data)
                [request] = self.protocol.events_received()
                self.protocol.send_response(self.protocol.accept(request))
                self.transport.write(b"".join(self.protocol.data_to_send()))

    world = World()
    world.listen("a.example", Deaf)

    async def main():
        async with websockets.connect("wss://a.example/", close_timeout=3) as socket:
            with pytest.raises(websockets.ConnectionClosedError):
                await socket.recv()
            return asyncio.get_running_loop().time()

    assert world.run(main()) == 20 + 20 + 3


def test_openai_with_its_own_url():
    openai = pytest.importorskip("openai")

    async def main():
        async with (
            serve(realtime, "api.openai.com", 443),
            openai.AsyncOpenAI(api_key="x").realtime.connect(model="gpt-realtime") as connection,
        ):
            event = await connection.recv()
            await connection.session.update(session={"type": "realtime"})
            return event.type, (await connection.recv()).type

    assert World().run(main()) == ("session.created", "session.updated")


def test_aiohttp_websockets():
    aiohttp = pytest.importorskip("aiohttp")

    async def main():
        async with (
            serve(realtime, "api.openai.com", 443),
            aiohttp.ClientSession() as session,
            session.ws_connect("wss://api.openai.com/v1/realtime") as socket,
        ):
            first = await socket.receive_json()
            await asyncio.sleep(15)
            await socket.send_json({"type": "session.update"})
            return first["type"], (await socket.receive_json())["type"]

    assert World().run(main()) == ("session.created", "session.updated")


def test_an_aiohttp_server():
    aiohttp = pytest.importorskip("aiohttp")
    web = pytest.importorskip("aiohttp.web")

    async def talk(request):
        socket = web.WebSocketResponse()
        await socket.prepare(request)
        async for message in socket:
            await socket.send_str(message.data.upper())
        return socket

    async def main():
        app = web.Application()
        app.router.add_get("/talk", talk)
        runner = web.AppRunner(app)
        await runner.setup()
        await web.TCPSite(runner, "localhost", 8080).start()
        async with websockets.connect("ws://127.0.0.1:8080/talk") as socket:
            await socket.send("hello")
            answer = await socket.recv()
        async with aiohttp.ClientSession() as session, session.ws_connect("ws://localhost:8080/talk") as socket:
            await socket.send_str("again")
            answers = answer, await socket.receive_str()
        await runner.cleanup()
        return answers

    assert World().run(main()) == ("HELLO", "AGAIN")


@pytest.mark.parametrize("proxy", ["http://proxy.example:3128", "socks5://proxy.example:1080"])
def test_proxies_do_not_divert_clients(monkeypatch, proxy):
    aiohttp = pytest.importorskip("aiohttp")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "https_proxy", "wss_proxy"):
        monkeypatch.setenv(name, proxy)

    async def main():
        async with serve(_echo, "a.example", 443):
            async with websockets.connect("wss://a.example/") as socket:
                await socket.send("straight")
                assert await socket.recv() == "straight"
            async with (
                aiohttp.ClientSession(trust_env=True) as session,
                session.ws_connect("wss://a.example/") as socket,
            ):
                await socket.send_str("straight")
                return await socket.receive_str()

    assert World().run(main()) == "straight"


def test_websockets_refused_by_name():
    async def main():
        with pytest.raises(HostNotServed, match=r"b\.example:443 is not served in this World"):
            await websockets.connect("wss://b.example/")

    World().run(main())


def test_aiohttp_refused_by_name():
    aiohttp = pytest.importorskip("aiohttp")

    async def main():
        async with aiohttp.ClientSession() as session:
            with pytest.raises(aiohttp.ClientConnectorError, match=r"b\.example:443 is not served") as caught:
                await session.ws_connect("wss://b.example/")
        assert isinstance(caught.value.os_error, HostNotServed)

    World().run(main())
