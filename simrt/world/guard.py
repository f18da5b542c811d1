"""What keeps the outside out while a World runs: no connection, no proxy, no chance that is not seeded."""

import gc
import importlib
import os
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from importlib.util import find_spec
from socket import AF_INET, AF_INET6
from typing import Any

from simrt.world.network import HostNotServed

_watched = frozenset(
    {
        "socket.connect",
        "socket.sendto",
        "socket.sendmsg",
        "socket.getaddrinfo",
        "socket.gethostbyname",
        "socket.gethostbyaddr",
    }
)
_installed = False
_depth = 0


def _is_local(host: Any) -> bool:
    if isinstance(host, bytes | bytearray):
        host = bytes(host).decode("ascii", "replace")
    if host is None or host == "":
        return True
    text = str(host).lower().rstrip(".")
    return text in ("localhost", "::1", "0.0.0.0", "::") or text.startswith(("127.", "::ffff:127."))


def _audit(event: str, args: tuple[Any, ...]) -> None:
    if not _depth or event not in _watched:
        return
    if event in ("socket.connect", "socket.sendto", "socket.sendmsg"):
        sock, address = args[0], args[1]
        if sock.family not in (AF_INET, AF_INET6) or not isinstance(address, tuple) or _is_local(address[0]):
            return
        place = f"{address[0]}:{address[1]}"
    else:
        if _is_local(args[0]):
            return
        host = args[0].decode("ascii", "replace") if isinstance(args[0], bytes) else args[0]
        place = f"{host}:{args[1]}" if event == "socket.getaddrinfo" else str(host)
    raise HostNotServed(
        f"{event}: {place} is outside, and nothing leaves the machine while a World runs. Connections in "
        "memory are made through the event loop: use an asynchronous client, or give the code a stand-in."
    )


@contextmanager
def nothing_leaves() -> Iterator[None]:
    """Refuse, in every thread, real sockets that go further than this machine, until the end of the block.

    Raises (where the socket is used):
        HostNotServed: names the host.
    """
    global _installed, _depth
    if not _installed:
        sys.addaudithook(_audit)  # cannot be taken out again: it rests while no World runs
        _installed = True
    _depth += 1
    try:
        yield
    finally:
        _depth -= 1


@contextmanager
def names_from_loop() -> Iterator[None]:
    """Have aiohttp ask the loop for addresses until the end of the block.

    Where aiodns is installed, aiohttp would ask that, which sends its questions past Python's sockets.
    """
    connector = _connector_with_aiodns()
    if connector is None:
        yield
        return
    usual = connector.DefaultResolver
    connector.DefaultResolver = importlib.import_module("aiohttp.resolver").ThreadedResolver
    try:
        yield
    finally:
        connector.DefaultResolver = usual


@cache
def _connector_with_aiodns() -> Any:
    if find_spec("aiodns") is None or find_spec("aiohttp") is None:
        return None
    return importlib.import_module("aiohttp.connector")


@contextmanager
def no_proxies() -> Iterator[None]:
    """Hide `HTTP_PROXY` and its kin from clients until the end of the block."""
    hidden = {name: value for name, value in os.environ.items() if name.upper().endswith("_PROXY")}
    for name in hidden:
        del os.environ[name]
    os.environ["NO_PROXY"] = os.environ["no_proxy"] = "*"
    try:
        yield
    finally:
        for name in [name for name in os.environ if name.upper().endswith("_PROXY")]:
            del os.environ[name]
        os.environ.update(hidden)


@contextmanager
def rare_collection() -> Iterator[None]:
    """Have the garbage collector look less often: a call makes many objects, few of them garbage in cycles."""
    before = gc.get_threshold()
    gc.set_threshold(max(before[0], 20_000), max(before[1], 20), max(before[2], 20))
    try:
        yield
    finally:
        gc.set_threshold(*before)


_BLOCK = 4096


class Chance:
    """The random numbers of one World: `random`, and `os.urandom` with what draws from it.

    `uuid.uuid4` and `secrets` do, and their ids end up in traces. A World that runs in pieces goes on where it
    was.
    """

    def __init__(self, seed: int) -> None:
        self._state = random.Random(seed).getstate()
        self._source = random.Random(f"urandom {seed}")
        self._block, self._taken = b"", 0

    def _urandom(self, size: int) -> bytes:
        """Some bytes out of a block: each WebSocket frame that a client masks takes four."""
        start, stop = self._taken, self._taken + size
        if stop > len(self._block):
            self._block, start, stop = self._source.randbytes(max(size, _BLOCK)), 0, size
        self._taken = stop
        return self._block[start:stop]

    @contextmanager
    def drawn(self) -> Iterator[None]:
        """Draw from here until the end of the block; the module's own state comes back after it."""
        system: Any = random
        state, urandom = random.getstate(), os.urandom
        random.setstate(self._state)
        os.urandom = system._urandom = self._urandom
        try:
            yield
        finally:
            os.urandom = system._urandom = urandom
            self._state = random.getstate()
            random.setstate(state)
