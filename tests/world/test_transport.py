import asyncio

import pytest

from simrt.world import World
from simrt.world.transport import HIGH_WATER, SOCKET_BUFFER


class Log(asyncio.Protocol):
    """Notes what happens to it."""

    keep_open = False

    def __init__(self):
        self.seen = []

    def connection_made(self, transport):
        self.transport = transport
        self.seen.append("made")

    def data_received(self, data):
        assert type(data) is bytes
        self.seen.append(data)

    def eof_received(self):
        self.seen.append("eof")
        return self.keep_open

    def connection_lost(self, exc):
        self.seen.append(("lost", exc))

    def pause_writing(self):
        self.seen.append("pause")

    def resume_writing(self):
        self.seen.append("resume")


def in_world(test, *, ssl=None, server=Log, client=Log):
    """Run TEST(client protocol, server protocol) with the two connected."""

    async def main():
        servers = []
        world.listen("a.example", lambda: servers.append(server()) or servers[-1])
        _, near = await asyncio.get_running_loop().create_connection(client, "a.example", 443, ssl=ssl)
        await asyncio.sleep(0)
        await test(near, servers[0])
        return near, servers[0]

    world = World()
    return world.run(main())


async def settle():
    await asyncio.sleep(1)


def test_bytes_arrive_in_order_and_those_of_one_round_in_one_piece():
    async def test(near, far):
        near.transport.write(b"one")
        near.transport.write(bytearray(b" two"))
        near.transport.writelines([b" three", memoryview(b" four")])
        far.transport.write(b"other way")
        await asyncio.sleep(0)
        near.transport.write(b"five")
        near.transport.write(b"")
        await settle()
        assert far.seen == ["made", b"one two three four", b"five"]
        assert near.seen == ["made", b"other way"]

    in_world(test)


def test_what_is_written_is_a_copy():
    async def test(near, far):
        data = bytearray(b"as it was")
        near.transport.write(data)
        data[:] = b"changed!!"
        await settle()
        assert far.seen[-1] == b"as it was"

    in_world(test)


def test_close_delivers_what_was_written_then_both_ends_are_lost_without_error():
    async def test(near, far):
        near.transport.write(b"last words")
        near.transport.close()
        near.transport.write(b"too late")
        assert near.transport.is_closing()
        far.transport.write(b"unheard")
        await settle()

    near, far = in_world(test)
    assert far.seen == ["made", b"last words", "eof", ("lost", None)]
    assert near.seen == ["made", ("lost", None)]


@pytest.mark.parametrize("method", ["reset", "abort"])
def test_reset_reaches_the_peer_after_what_was_sent(method):
    async def test(near, far):
        near.transport.write(b"sent")
        getattr(near.transport, method)()
        getattr(near.transport, method)()
        await settle()

    near, far = in_world(test)
    assert far.seen[:2] == ["made", b"sent"]
    [(lost, error)] = far.seen[2:]
    assert (lost, type(error)) == ("lost", ConnectionResetError)
    assert near.seen == ["made", ("lost", None)]


def test_half_closing_lets_the_other_half_go_on():
    class Open(Log):
        keep_open = True

    async def test(near, far):
        assert near.transport.can_write_eof()
        near.transport.write_eof()
        with pytest.raises(RuntimeError):
            near.transport.write(b"more")
        await settle()
        far.transport.write(b"still here")
        await settle()
        assert near.seen == ["made", b"still here"]
        far.transport.close()
        await settle()

    near, far = in_world(test, server=Open)
    assert far.seen == ["made", "eof", ("lost", None)]
    assert near.seen == ["made", b"still here", "eof", ("lost", None)]


def test_writing_to_a_peer_that_is_gone_is_a_reset():
    class Open(Log):
        keep_open = True

    async def test(near, far):
        near.transport.close()
        await settle()
        assert far.seen == ["made", "eof"]
        far.transport.write(b"anyone?")
        await settle()
        assert type(far.seen[-1][1]) is ConnectionResetError

    in_world(test, server=Open)


def test_with_tls_there_is_no_half_open_connection():
    class Open(Log):
        keep_open = True

    async def test(near, far):
        assert not near.transport.can_write_eof()
        near.transport.close()
        await settle()
        assert far.seen == ["made", "eof", ("lost", None)]

    in_world(test, ssl=True, server=Open)


def test_paused_reading_holds_data_and_end_back():
    async def test(near, far):
        far.transport.pause_reading()
        near.transport.write(b"one")
        await settle()
        near.transport.write(b" two")
        near.transport.close()
        await settle()
        assert far.seen == ["made"]
        assert not far.transport.is_reading()
        far.transport.resume_reading()
        await settle()
        assert far.seen == ["made", b"one two", "eof", ("lost", None)]

    in_world(test)


def test_pausing_in_the_middle_of_a_delivery_holds_the_rest_back():
    class Pauses(Log):
        def data_received(self, data):
            super().data_received(data)
            self.transport.pause_reading()

    async def test(near, far):
        near.transport.write(b"one")
        await settle()
        near.transport.write(b"two")
        near.transport.close()
        await settle()
        assert far.seen == ["made", b"one"]
        far.transport.resume_reading()
        await settle()
        assert far.seen == ["made", b"one", b"two"]
        far.transport.resume_reading()
        await settle()
        assert far.seen[3:] == ["eof", ("lost", None)]

    in_world(test, server=Pauses)


def test_a_peer_that_does_not_read_pauses_the_writer():
    async def test(near, far):
        far.transport.pause_reading()
        near.transport.write(bytes(SOCKET_BUFFER))
        assert near.transport.get_write_buffer_size() == 0
        near.transport.write(bytes(HIGH_WATER))
        assert near.seen == ["made"]
        near.transport.write(b"x")
        assert near.seen == ["made", "pause"]
        assert near.transport.get_write_buffer_size() == HIGH_WATER + 1
        near.transport.close()
        await settle()
        assert near.seen == ["made", "pause"]  # not lost before it is flushed
        far.transport.resume_reading()
        await settle()
        assert near.seen == ["made", "pause", "resume", ("lost", None)]
        assert len(far.seen[1]) == SOCKET_BUFFER + HIGH_WATER + 1

    in_world(test)


def test_a_peer_that_closes_frees_a_paused_writer():
    async def test(near, far):
        far.transport.pause_reading()
        near.transport.write(bytes(2 * SOCKET_BUFFER))
        far.transport.close()
        await settle()
        assert near.seen == ["made", "pause", "resume", "eof", ("lost", None)]

    in_world(test)


def test_write_buffer_limits():
    async def test(near, far):
        transport = near.transport
        transport.set_write_buffer_limits(high=0)
        assert transport.get_write_buffer_limits() == (0, 0)
        transport.set_write_buffer_limits(low=10)
        assert transport.get_write_buffer_limits() == (10, 40)
        with pytest.raises(ValueError, match="high"):
            transport.set_write_buffer_limits(high=1, low=2)

    in_world(test)


def test_buffered_protocols():
    class Buffered(asyncio.BufferedProtocol):
        def __init__(self):
            self.buffer = bytearray(4)
            self.seen = b""

        def get_buffer(self, sizehint):
            return self.buffer

        def buffer_updated(self, nbytes):
            self.seen += self.buffer[:nbytes]

    async def test(near, far):
        near.transport.write(b"longer than the buffer")
        await settle()
        assert far.seen == b"longer than the buffer"

    in_world(test, server=Buffered)


def test_set_protocol_takes_over():
    async def test(near, far):
        other = Log()
        far.transport.set_protocol(other)
        assert far.transport.get_protocol() is other
        near.transport.write(b"to the other")
        await settle()
        assert other.seen == [b"to the other"]

    in_world(test)


def test_an_error_in_a_protocol_is_reported_and_breaks_the_connection():
    class Broken(Log):
        def data_received(self, data):
            raise ZeroDivisionError

    async def test(near, far):
        reports = []
        asyncio.get_running_loop().set_exception_handler(lambda loop, context: reports.append(context))
        near.transport.write(b"x")
        await settle()
        [report] = reports
        assert "Broken.data_received" in report["message"]
        assert type(report["exception"]) is ZeroDivisionError
        assert type(far.seen[-1][1]) is ZeroDivisionError
        assert type(near.seen[-1][1]) is ConnectionResetError

    in_world(test, server=Broken)


def test_extra_info_is_harmless():
    async def test(near, far):
        info = near.transport.get_extra_info
        assert info("peername") == far.transport.get_extra_info("sockname")
        assert info("sockname") == far.transport.get_extra_info("peername")
        assert info("ssl_object") is None
        sock = info("socket")
        sock.setsockopt(6, 1, 1)
        assert sock.getsockopt(6, 1) == 0
        assert (sock.getsockname(), sock.getpeername()) == (info("sockname"), info("peername"))
        assert "open" in repr(near.transport)

    in_world(test, ssl=True)


def test_streams_work():
    async def echo(reader, writer):
        writer.write((await reader.readline()).upper())
        await writer.drain()
        writer.close()
        await writer.wait_closed()

    async def main():
        async with await asyncio.start_server(echo, "localhost", 8765):
            reader, writer = await asyncio.open_connection("127.0.0.1", 8765)
            writer.write(b"hello\n")
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()
            return answer

    assert World().run(main()) == b"HELLO\n"
