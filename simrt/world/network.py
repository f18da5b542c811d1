"""The network of a World: names, addresses, listeners. Everything is in memory; nothing is ever sent."""

import asyncio
import itertools
import socket
from collections.abc import Callable, Sequence
from errno import EADDRINUSE, ECONNREFUSED
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from simrt.errors import WorldError
from simrt.world.transport import MemorySocket, MemoryTransport, join

if TYPE_CHECKING:
    from simrt.world.loop import VirtualLoop

Factory = Callable[[], asyncio.BaseProtocol]
Host = str | bytes | None

ANY = "*"
LOCAL = "localhost"
# Ways to write "this machine". They are one host here.
_LOCAL_NAMES = frozenset({"", "localhost", "127.0.0.1", "::1", "0.0.0.0", "::"})
_CLIENT = "192.0.2.1"
_FIRST_EPHEMERAL_PORT = 49152


class HostNotServed(WorldError, ConnectionRefusedError):
    """A connection to a host and port that no one serves in this World; an `OSError`, as a refusal is."""

    def __init__(self, message: str) -> None:
        ConnectionRefusedError.__init__(self, ECONNREFUSED, message)

    def __new__(cls, message: str) -> "HostNotServed":
        return super().__new__(cls, ECONNREFUSED, message)

    def __reduce__(self) -> tuple[type["HostNotServed"], tuple[str]]:
        return HostNotServed, (str(self),)

    def __str__(self) -> str:
        return str(self.strerror)


class Listener:
    """One server: who makes its protocols, which connections are open."""

    def __init__(self, factory: Factory) -> None:
        self.factory = factory
        self.open: dict[MemoryTransport, None] = {}  # in order of arrival
        self.waiters: list[asyncio.Future[None]] = []
        self.closed = False

    def settle(self) -> None:
        """Wake who waits for the end, if this is it: closed, and the last connection gone."""
        if self.closed and not self.open:
            for waiter in self.waiters:
                if not waiter.done():
                    waiter.set_result(None)
            self.waiters.clear()


class MemoryServer(asyncio.AbstractServer):
    """What `loop.create_server` returns; like `asyncio.Server` of Python 3.12.1 and later."""

    def __init__(self, network: "Network", listener: Listener, places: Sequence[tuple[str, int]]) -> None:
        self._network = network
        self._listener = listener
        self._places = tuple(places)
        self._serving = False
        self._forever: asyncio.Future[None] | None = None

    @property
    def sockets(self) -> tuple[MemorySocket, ...]:
        """One for each place it listens at; empty once closed."""
        if self._listener.closed:
            return ()
        return tuple(MemorySocket((self._network.address_of(host), port)) for host, port in self._places)

    def get_loop(self) -> "VirtualLoop":
        return self._network.loop

    def is_serving(self) -> bool:
        return self._serving

    async def start_serving(self) -> None:
        if not self._serving and not self._listener.closed:
            self._serving = True
            for host, port in self._places:
                self._network.add(host, port, self._listener)

    async def serve_forever(self) -> None:
        if self._forever is not None:
            raise RuntimeError(f"server {self!r} is already being awaited on serve_forever()")
        await self.start_serving()
        self._forever = self.get_loop().create_future()
        try:
            await self._forever
        finally:
            self._forever = None
            self.close()

    def close(self) -> None:
        if self._listener.closed:
            return
        self._serving = False
        self._listener.closed = True
        for host, port in self._places:
            self._network.remove(host, port, self._listener)
        if self._forever is not None and not self._forever.done():
            self._forever.cancel()
        self._listener.settle()

    def close_clients(self) -> None:
        for transport in list(self._listener.open):
            transport.close()

    def abort_clients(self) -> None:
        for transport in list(self._listener.open):
            transport.abort()

    async def wait_closed(self) -> None:
        """Return once the server is closed and its last connection gone."""
        if self._listener.closed and not self._listener.open:
            return
        waiter = self.get_loop().create_future()
        self._listener.waiters.append(waiter)
        await waiter


class Network:
    """Names and listeners of one loop.

    Addresses are handed out in the order in which names come up, from blocks that are reserved for
    documentation and benchmarks (RFC 5737, RFC 2544, RFC 3849), and lead back to their names.
    """

    def __init__(self, loop: "VirtualLoop") -> None:
        self.loop = loop
        self._listeners: dict[tuple[str, int | None], Listener] = {}
        self._owners: dict[MemoryTransport, Listener] = {}
        self._addresses: dict[str, int] = {}
        self._names: dict[str, str] = {}
        self._ports = itertools.count(_FIRST_EPHEMERAL_PORT)
        self._promised: WeakKeyDictionary[socket.socket, tuple[str, int]] = WeakKeyDictionary()

    # Names and addresses

    def name_of(self, host: Host) -> str:
        """The name that stands for HOST: lower case, no final dot, addresses led back to their names."""
        text = host.decode("ascii") if isinstance(host, bytes) else host or ""
        text = text.lower().rstrip(".").partition("%")[0]
        if text in _LOCAL_NAMES or text.startswith("127."):
            return LOCAL
        return self._names.get(text, text)

    def address_of(self, host: Host, family: int = socket.AF_INET) -> str:
        """The address of HOST; IP addresses stand for themselves."""
        name = self.name_of(host)
        v6 = family == socket.AF_INET6
        if name == LOCAL:
            return "::1" if v6 else "127.0.0.1"
        if name == ANY:
            return "0.0.0.0"
        if ":" in name or name.replace(".", "").isdigit():
            return name
        if name not in self._addresses:
            self._addresses[name] = len(self._addresses) + 1
        number = self._addresses[name]
        if v6:
            address = f"2001:db8::{number:x}"
        elif number < 255:
            address = f"203.0.113.{number}"
        else:
            address = f"198.18.{number // 256}.{number % 256}"
        self._names[address] = name
        return address

    def resolve(self, host: Host, port: Any, family: int, kind: int, proto: int) -> list[Any]:
        """What `getaddrinfo` returns for HOST: one address (IPv6 only when FAMILY asks for it)."""
        number = _port(port)
        kind = kind or socket.SOCK_STREAM
        proto = proto or (socket.IPPROTO_TCP if kind == socket.SOCK_STREAM else 0)
        if family == socket.AF_INET6:
            where: Any = (self.address_of(host, family), number, 0, 0)
            return [(socket.AF_INET6, socket.SocketKind(kind), proto, "", where)]
        where = (self.address_of(host), number)
        family = socket.AF_INET6 if ":" in where[0] else socket.AF_INET
        if family == socket.AF_INET6:
            where = (*where, 0, 0)
        return [(socket.AddressFamily(family), socket.SocketKind(kind), proto, "", where)]

    # Listeners

    def listen(self, host: str, factory: Factory, port: int | None) -> None:
        """Serve HOST ("*": any) at PORT (None: any) until the loop is closed.

        Raises:
            WorldError: it is served already.
        """
        self.add(host, port, Listener(factory))

    def add(self, host: Host, port: int | None, listener: Listener) -> None:
        key = (self.name_of(host), port)
        if key in self._listeners:
            raise WorldError(f"{_place(*key)} is served already in this World: close the first server")
        self._listeners[key] = listener

    def remove(self, host: Host, port: int | None, listener: Listener) -> None:
        key = (self.name_of(host), port)
        if self._listeners.get(key) is listener:
            del self._listeners[key]

    def create_server(self, factory: Factory, hosts: Sequence[Host], port: int | None) -> MemoryServer:
        """A server for HOSTS, not serving yet; PORT 0 or None takes a free one."""
        names = list(dict.fromkeys(self.name_of(host) for host in hosts))
        port = port or next(self._ports)
        for name in names:
            if (name, port) in self._listeners:
                raise OSError(EADDRINUSE, f"{_place(name, port)} is served already in this World")
        return MemoryServer(self, Listener(factory), [(name, port) for name in names])

    def _find(self, host: Host, port: Any) -> tuple[str, int, Listener]:
        name, number = self.name_of(host), _port(port)
        for key in ((name, number), (name, None), (ANY, number), (ANY, None)):
            if key in self._listeners:
                return name, number, self._listeners[key]
        raise HostNotServed(self.refusal(_place(name, number)))

    def refusal(self, place: str) -> str:
        """Why a connection to PLACE ("host:port") cannot be, and what to do about it."""
        served = ", ".join(_place(*key) for key in self._listeners) or "nothing"
        return (
            f"{place} is not served in this World, and a World never connects to the outside. "
            f"Served: {served}. "
            f"Serve it, as in world.listen({place.rpartition(':')[0]!r}, factory), or point the client "
            "to a host that is served."
        )

    # Connections

    def promise(self, sock: socket.socket, address: Any) -> None:
        """`sock_connect`: note where SOCK would be connected; it never is.

        Raises:
            HostNotServed: no one serves ADDRESS.
        """
        if not isinstance(address, tuple):
            raise WorldError(f"cannot connect to {address!r}: a World has no Unix sockets")
        name, port, _ = self._find(address[0], address[1])
        self._promised[sock] = (name, port)

    def redeem(self, sock: socket.socket) -> tuple[str, int]:
        """Where SOCK was promised a connection. The real socket is closed: it has served its purpose."""
        if sock not in self._promised:
            raise WorldError(
                f"{sock!r} was not connected in this World: connect with loop.sock_connect, or give "
                "create_connection a host and a port"
            )
        place = self._promised.pop(sock)
        sock.close()
        return place

    def connect(self, factory: Factory, host: Host, port: Any, secure: bool) -> MemoryTransport:
        """A connection to HOST and PORT: the client's end, with a protocol from FACTORY.

        Raises:
            HostNotServed: no one serves it.
        """
        name, number, listener = self._find(host, port)
        client, server = join(self.loop, (_CLIENT, next(self._ports)), (self.address_of(name), number), secure)
        client.set_protocol(factory())
        try:
            server.set_protocol(listener.factory())
        except Exception as exc:  # the server's fault, and the client sees no more of it than of a real server's
            self.loop.call_exception_handler({"message": f"no protocol for {_place(name, number)}", "exception": exc})
            server.set_protocol(asyncio.Protocol())
            server.abort()
        listener.open[server] = None
        self._owners[server] = listener
        self.loop.call_soon(server.get_protocol().connection_made, server)
        client.get_protocol().connection_made(client)
        return client

    def forget(self, transport: MemoryTransport) -> None:
        """TRANSPORT's connection is gone."""
        listener = self._owners.pop(transport, None)
        if listener is not None:
            del listener.open[transport]
            listener.settle()

    def close(self) -> None:
        """Let go of everything, real sockets included."""
        for sock in list(self._promised):
            sock.close()
        self._listeners.clear()


def _port(port: Any) -> int:
    if isinstance(port, bytes):
        port = port.decode("ascii")
    if isinstance(port, str) and not port.isdigit():
        return {"http": 80, "https": 443, "ws": 80, "wss": 443}.get(port, 0)
    return int(port or 0)


def _place(host: str, port: int | None) -> str:
    name = f"[{host}]" if ":" in host else host
    return f"{name} (any port)" if port is None else f"{name}:{port}"
