import asyncio
import os
import random
import secrets
import socket
import sys
import types
import urllib.request
import uuid

import pytest

from simrt.world import HostNotServed, World, guard, new_loop


def in_thread(job):
    async def main():
        return await asyncio.to_thread(job)

    return World().run(main())


@pytest.mark.parametrize(
    "reach",
    [
        lambda: socket.create_connection(("192.0.2.1", 80), 1),
        lambda: socket.create_connection(("outside.example", 80), 1),
        lambda: socket.getaddrinfo(b"outside.example", 80),
        lambda: socket.gethostbyname("outside.example"),
        lambda: socket.socket(type=socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53)),
        lambda: socket.socket().connect_ex(("192.0.2.1", 80)),
        lambda: socket.socket(socket.AF_INET6).connect(("2001:db8::1", 80)),
    ],
)
@pytest.mark.parametrize("where", ["loop", "thread"])
def test_real_sockets_go_nowhere(reach, where):
    async def main():
        reach()

    with pytest.raises(HostNotServed, match=r"(outside\.example|192\.0\.2\.1|2001:db8::1).* is outside"):
        in_thread(reach) if where == "thread" else World().run(main())


def test_synchronous_clients_get_a_clear_error():
    with pytest.raises(OSError, match=r"outside\.example:80 is outside"):
        in_thread(lambda: urllib.request.urlopen("http://outside.example/"))


def test_this_machine_can_be_reached():
    def job():
        near, far = socket.socketpair()
        near.close()
        far.close()
        with socket.create_server(("127.0.0.1", 0)) as server:
            socket.create_connection(("localhost", server.getsockname()[1])).close()
        return True

    assert in_thread(job)


def test_the_guard_rests_when_no_world_runs():
    World().run(asyncio.sleep(1))
    with socket.socket(type=socket.SOCK_DGRAM) as sock:
        sock.connect(("127.0.0.1", 9))
    assert guard._depth == 0
    guard._audit("socket.getaddrinfo", ("outside.example", 80, 0, 0, 0))


def test_proxies_are_hidden_and_given_back(monkeypatch):
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy.example:3128")
    monkeypatch.setenv("all_proxy", "socks5://proxy.example:1080")
    monkeypatch.setenv("NO_PROXY", "a.example")
    before = dict(os.environ)

    async def main():
        assert set(urllib.request.getproxies()) <= {"no"}
        assert urllib.request.proxy_bypass("any.example")
        assert not {"HTTPS_PROXY", "all_proxy"} & set(os.environ)

    World().run(main())
    assert dict(os.environ) == before


def draw():
    return random.random(), uuid.uuid4(), secrets.token_hex(4), os.urandom(4), random.SystemRandom().random()


async def draws():
    return draw()


def test_chance_is_seeded_and_given_back():
    random.seed("before")
    state = random.getstate()
    first, again, other = (World(seed=seed).run(draws()) for seed in (1, 1, 2))
    assert first == again
    assert all(a != b for a, b in zip(first, other, strict=True))
    assert random.getstate() == state
    assert uuid.uuid4() != uuid.uuid4()
    assert os.urandom is not None
    assert draw()[1:] != draw()[1:]


def test_aiohttp_does_not_resolve_past_the_loop(monkeypatch):
    connector = pytest.importorskip("aiohttp.connector")
    resolver = pytest.importorskip("aiohttp.resolver")
    monkeypatch.setattr(connector, "DefaultResolver", resolver.AsyncResolver)
    monkeypatch.setattr(guard, "find_spec", lambda name: types.ModuleType(name))
    guard._connector_with_aiodns.cache_clear()

    async def main():
        return sys.modules["aiohttp.connector"].DefaultResolver

    try:
        assert World().run(main()) is resolver.ThreadedResolver
        assert connector.DefaultResolver is resolver.AsyncResolver
    finally:
        guard._connector_with_aiodns.cache_clear()


def test_a_world_that_runs_in_pieces_goes_on_drawing():
    with asyncio.Runner(loop_factory=new_loop) as runner:
        first, second = runner.run(draws()), runner.run(draws())
    assert all(a != b for a, b in zip(first, second, strict=True))
    assert first == World().run(draws())
