import asyncio
import pickle
import socket

import pytest

from simrt.world import HostNotServed, World, WorldError


class Hello(asyncio.Protocol):
    """Says who it is."""

    name = b"hello"

    def connection_made(self, transport):
        self.transport = transport
        transport.write(self.name)


async def greeting(host, port=443, **options):
    """What the server at HOST says first."""
    reader, writer = await asyncio.open_connection(host, port, **options)
    data = await reader.read(100)
    writer.close()
    return data


def server(name):
    return type("Server", (Hello,), {"name": name})


def test_the_nearest_listener_answers():
    world = World()
    world.listen("*", server(b"any"))
    world.listen("*", server(b"any 8080"), 8080)
    world.listen("a.example", server(b"a"))
    world.listen("A.example.", server(b"a 80"), 80)

    async def main():
        places = [("a.example", 80), ("a.EXAMPLE", 443), (b"b.example", 8080), ("b.example", 1)]
        return [await greeting(*place) for place in places]

    assert world.run(main()) == [b"a 80", b"a", b"any 8080", b"any"]


def test_a_place_is_served_once():
    world = World()
    world.listen("a.example", Hello, 443)
    with pytest.raises(WorldError, match=r"a\.example:443 is served already"):
        world.listen("A.example", Hello, 443)


def test_an_unserved_host_is_refused_by_name_with_what_is_served_and_what_to_do():
    world = World()
    world.listen("a.example", Hello)

    async def main():
        for host, port in [("b.example", 443), ("192.168.0.1", 80), ("localhost", 8765)]:
            with pytest.raises(HostNotServed) as caught:
                await asyncio.open_connection(host, port)
            message = str(caught.value)
            assert f"{host}:{port}" in message
            assert "a.example (any port)" in message
            assert f"world.listen('{host}', factory)" in message
            assert isinstance(caught.value, ConnectionRefusedError)

    world.run(main())


def test_a_refusal_can_be_pickled():
    error = pickle.loads(pickle.dumps(HostNotServed("a.example:1 is not served")))
    assert str(error) == "a.example:1 is not served"
    assert error.errno


def test_addresses_are_stable_and_lead_back_to_their_names():
    world = World()
    world.listen("b.example", server(b"b"))

    async def main():
        loop = asyncio.get_running_loop()
        first = await loop.getaddrinfo("a.example", 443, type=socket.SOCK_STREAM)
        assert first == [(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP, "", ("203.0.113.1", 443))]
        [(*_, address)] = await loop.getaddrinfo(b"b.example", "https")
        assert address == ("203.0.113.2", 443)
        assert await loop.getaddrinfo("a.example", 443) == first
        assert await loop.getnameinfo(address) == ("b.example", "443")
        assert await greeting(*address) == b"b"
        [(family, *_, address)] = await loop.getaddrinfo("b.example", 443, family=socket.AF_INET6)
        assert (family, address) == (socket.AF_INET6, ("2001:db8::2", 443, 0, 0))
        assert await greeting(*address[:2]) == b"b"
        assert (await loop.getaddrinfo("10.1.2.3", 1))[0][4] == ("10.1.2.3", 1)
        assert (await loop.getaddrinfo("::1", 1, family=socket.AF_INET6))[0][4] == ("::1", 1, 0, 0)
        assert len({(await loop.getaddrinfo(f"{i}.example", 1))[0][4] for i in range(600)}) == 600

    world.run(main())


def test_a_socket_is_promised_and_never_connected():
    world = World()
    world.listen("a.example", Hello)

    async def main():
        loop = asyncio.get_running_loop()
        [(family, kind, proto, _, address)] = await loop.getaddrinfo("a.example", 443)
        sock = socket.socket(family, kind, proto)
        sock.setblocking(False)
        await loop.sock_connect(sock, address)
        with pytest.raises(OSError, match=r"."):
            sock.getpeername()
        assert await greeting(None, None, sock=sock) == b"hello"
        assert sock.fileno() == -1
        with socket.socket() as other, pytest.raises(HostNotServed, match=r"b\.example"):
            await loop.sock_connect(other, ("b.example", 1))
        with socket.socket() as other, pytest.raises(WorldError, match="was not connected in this World"):
            await loop.create_connection(Hello, sock=other)

    world.run(main())


def test_servers_inside():
    async def main():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Hello, ["a.example", "127.0.0.1", "::1"], 0)
        assert server.is_serving()
        [first, second] = server.sockets
        host, port = second.getsockname()
        assert host == "127.0.0.1"
        assert first.getsockname() == ("203.0.113.1", port)
        assert await greeting("localhost", port) == b"hello"
        assert await greeting("a.example", port) == b"hello"
        with pytest.raises(OSError, match="served already"):
            await loop.create_server(Hello, "localhost", port)
        server.close()
        assert server.sockets == ()
        await server.wait_closed()
        with pytest.raises(HostNotServed):
            await greeting("a.example", port)

    World().run(main())


def test_a_closed_server_waits_for_its_connections():
    async def main():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Hello, "a.example", 443)
        transport, _ = await loop.create_connection(asyncio.Protocol, "a.example", 443)
        server.close()
        loop.call_later(3, transport.close)
        await server.wait_closed()
        return loop.time()

    assert World().run(main()) == 3.0


def test_serve_forever_until_cancelled():
    async def main():
        loop = asyncio.get_running_loop()
        server = await loop.create_server(Hello, "a.example", 443, start_serving=False)
        assert not server.is_serving()
        task = asyncio.create_task(server.serve_forever())
        await asyncio.sleep(0)
        assert await greeting("a.example") == b"hello"
        task.cancel()
        await asyncio.wait([task])
        assert not server.is_serving()

    World().run(main())


def test_a_server_can_drop_its_clients():
    async def main():
        loop = asyncio.get_running_loop()
        async with await loop.create_server(Hello, "a.example", 443) as server:
            reader, first = await asyncio.open_connection("a.example", 443)
            await asyncio.sleep(0)
            server.close_clients()
            assert await reader.read() == b"hello"
            first.close()
            reader, second = await asyncio.open_connection("a.example", 443)
            await reader.read(5)
            server.abort_clients()
            with pytest.raises(ConnectionResetError):
                await reader.read()
            second.close()

    World().run(main())


def test_a_server_that_cannot_make_its_protocol_drops_the_client():
    def broken():
        raise ZeroDivisionError

    world = World()
    world.listen("a.example", broken)

    async def main():
        reports = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: reports.append(context))
        reader, _ = await asyncio.open_connection("a.example", 443)
        with pytest.raises(ConnectionResetError):
            await reader.read()
        [report] = reports
        assert type(report["exception"]) is ZeroDivisionError

    world.run(main())


def test_start_tls_needs_no_tls():
    world = World()
    world.listen("a.example", Hello)

    async def main():
        reader, writer = await asyncio.open_connection("a.example", 443)
        await writer.start_tls(object())
        return await reader.read(100)

    assert world.run(main()) == b"hello"
