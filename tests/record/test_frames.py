import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Close as WireClose
from websockets.frames import Frame, Opcode

from simrt.record import frames
from simrt.record.frames import Close, Heard, Message, Splitter, TooBig, close_frame

sizes = st.sampled_from([0, 1, 5, 125, 126, 127, 300, 65535, 65536, 70000])


def wire(opcode: int, data: bytes, *, fin: bool = True, mask: bool = False) -> bytes:
    """A frame as the websockets library writes it."""
    return Frame(opcode, data, fin).serialize(mask=mask)  # type: ignore[arg-type]


@st.composite
def messages(draw: st.DrawFn) -> tuple[bytes, list[Heard]]:
    """The wire bytes of one message, perhaps in fragments with pings between, and what is to be heard."""
    mask = draw(st.booleans())
    text = draw(st.booleans())
    data = draw(st.text("aé☎", max_size=40)).encode() if text else draw(st.binary(max_size=20))
    data += b"x" * draw(sizes)
    cuts = sorted(draw(st.lists(st.integers(0, len(data)), max_size=3)))
    edges = [0, *cuts, len(data)]
    out = b""
    for index, (start, end) in enumerate(itertools.pairwise(edges)):
        opcode = (Opcode.TEXT if text else Opcode.BINARY) if index == 0 else Opcode.CONT
        out += wire(opcode, data[start:end], fin=index == len(edges) - 2, mask=mask)
        if draw(st.booleans()):
            out += wire(draw(st.sampled_from([Opcode.PING, Opcode.PONG])), b"ping", mask=mask)
    return out, [Message(data.decode() if text else data)]


@given(st.lists(messages(), max_size=5), st.data())
def test_any_cut_of_the_stream_gives_the_same_bytes_and_messages(
    sent: list[tuple[bytes, list[Heard]]], data: st.DataObject
) -> None:
    stream = b"".join(one for one, _ in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    splitter = Splitter()
    passed, heard = b"", []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        whole, new = splitter.feed(stream[start:end])
        passed += whole
        heard += new
    assert passed == stream
    assert heard == [message for _, messages in sent for message in messages]


def test_every_byte_by_itself() -> None:
    stream = wire(Opcode.TEXT, b"ab" * 100, mask=True) + wire(
        Opcode.CLOSE, WireClose(4000, "why").serialize(), mask=True
    )
    splitter = Splitter()
    given = [splitter.feed(stream[index : index + 1]) for index in range(len(stream))]
    assert b"".join(whole for whole, _ in given) == stream
    assert [item for _, items in given for item in items] == [Message("ab" * 100), Close(4000, "why")]


def test_nothing_of_a_frame_is_passed_on_before_it_is_whole() -> None:
    frame = wire(Opcode.TEXT, b"x" * 300)
    splitter = Splitter()
    assert splitter.feed(frame[:-1]) == (b"", [])
    assert splitter.feed(frame[-1:]) == (frame, [Message("x" * 300)])


def test_fragments_are_passed_on_before_the_message_is_whole() -> None:
    first = wire(Opcode.TEXT, b"a", fin=False)
    assert Splitter().feed(first) == (first, [])


@pytest.mark.parametrize(
    ("frame", "heard"),
    [
        (wire(Opcode.TEXT, b"\xff"), [Message(b"\xff")]),
        (b"\x83\x01x", [Message(b"x")]),  # a reserved opcode
        (b"\xc1\x01x", [Message(b"x")]),  # a reserved bit
        (b"\x80\x01x", [Message(b"x")]),  # a continuation of nothing
        (b"\x88\x00", [Close(1005, "")]),
        (b"\x88\x01\x03", [Close(1005, "")]),
        (b"\x88\x04\x03\xe8\xff\xff", [Close(1000, "\ufffd\ufffd")]),
    ],
)
def test_what_no_endpoint_should_send_is_passed_on_and_kept(frame: bytes, heard: list[Heard]) -> None:
    assert Splitter().feed(frame) == (frame, heard)


def test_a_new_message_in_the_middle_of_another_does_not_mix_with_it() -> None:
    stream = wire(Opcode.TEXT, b"a", fin=False) + wire(Opcode.TEXT, b"b") + wire(Opcode.CONT, b"c")
    assert Splitter().feed(stream) == (stream, [Message("b"), Message("ac")])


def test_sizes_have_a_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(frames, "SIZE_LIMIT", 70000)
    assert Splitter().feed(wire(Opcode.BINARY, bytes(70000)))[1] == [Message(bytes(70000))]
    with pytest.raises(TooBig, match="70001"):
        Splitter().feed(wire(Opcode.BINARY, bytes(70001))[:10])
    splitter = Splitter()
    splitter.feed(wire(Opcode.BINARY, bytes(40000), fin=False))
    with pytest.raises(TooBig, match="70000"):
        splitter.feed(wire(Opcode.CONT, bytes(40000)))


@pytest.mark.parametrize("masked", [False, True])
def test_a_close_frame_of_its_own(masked: bool) -> None:
    frame = close_frame(1011, "no space left", masked=masked)
    assert Splitter().feed(frame) == (frame, [Close(1011, "no space left")])
    assert bool(frame[1] & 0x80) is masked
    (long,) = Splitter().feed(close_frame(1011, "é" * 100, masked=masked))[1]
    assert long == Close(1011, "é" * 61)
