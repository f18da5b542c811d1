import hashlib
from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simrt.trace import Closing, Frame, Mark, Opening, Trace, parse_event


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        ('{"type":"x","n":1}', {"type": "x", "n": 1}),
        (' {"a": null}\n', {"a": None}),
        ("{}", {}),
        ("[1]", None),
        ('"text"', None),
        ("1", None),
        ("null", None),
        ("", None),
        ("{", None),
        ('{"a":1} {"b":2}', None),
        (b'{"type":"x"}', None),
        ('{"a":"\ud800"}', None),
    ],
)
def test_only_a_text_with_a_json_object_is_an_event(payload: Any, event: Any) -> None:
    assert parse_event(payload) == event
    assert Frame(0, "client", payload).event() == event


def a_trace() -> Trace:
    return Trace(
        Opening("/v1/realtime"),
        [Frame(10, "server", "a"), Frame(20, "client", b"b"), Frame(20, "server", "c", synthetic=True)],
        Closing(30, 1000, "bye", "client"),
        [Mark(15, "fault", {"fault": "stall", "b": 1})],
    )


def test_one_sides_frames_in_order() -> None:
    assert [frame.payload for frame in a_trace().sent_by("server")] == ["a", "c"]
    assert [frame.payload for frame in a_trace().sent_by("client")] == [b"b"]


def change(trace: Trace, what: str) -> Trace:
    first = trace.frames[0]
    match what:
        case "time":
            trace.frames[0] = msgspec.structs.replace(first, t_us=11)
        case "sender":
            trace.frames[0] = msgspec.structs.replace(first, sender="client")
        case "payload":
            trace.frames[0] = msgspec.structs.replace(first, payload="A")
        case "kind of payload":
            trace.frames[0] = msgspec.structs.replace(first, payload=b"a")
        case "order":
            trace.frames.reverse()
        case "a frame less":
            trace.frames.pop()
        case "mark":
            trace.marks[0] = msgspec.structs.replace(trace.marks[0], t_us=16)
        case "no mark":
            trace.marks.clear()
        case "code":
            trace.closing = Closing(30, 1001, "bye", "client")
        case "who closed":
            trace.closing = Closing(30, 1000, "bye", "server")
        case "no end":
            trace.closing = None
    return trace


CHANGES = (
    "time",
    "sender",
    "payload",
    "kind of payload",
    "order",
    "a frame less",
    "mark",
    "no mark",
    "code",
    "who closed",
    "no end",
)


def test_equal_traces_have_equal_digests_and_every_change_another() -> None:
    whole = a_trace().sha256()
    assert a_trace().sha256() == whole
    digests = [change(a_trace(), what).sha256() for what in CHANGES]
    assert len({whole, *digests}) == len(CHANGES) + 1


def test_the_order_of_a_marks_details_does_not_matter() -> None:
    other = a_trace()
    other.marks = [Mark(15, "fault", {"b": 1, "fault": "stall"})]
    assert other.sha256() == a_trace().sha256()


def test_a_frames_text_cannot_be_mistaken_for_the_next_frame() -> None:
    one = Trace(frames=[Frame(1, "client", "ab1 client t 1\nc")])
    two = Trace(frames=[Frame(1, "client", "ab"), Frame(1, "client", "c")])
    assert one.sha256() != two.sha256()


def test_the_digest_is_stable_over_versions() -> None:
    """Snapshots and bug reports quote it: what it covers must not change unnoticed."""
    assert Trace(frames=[Frame(1, "client", "é")]).sha256() == (
        hashlib.sha256(b"1 client t 2\n" + "é".encode() + b"null").hexdigest()
    )


@given(
    st.lists(
        st.tuples(
            st.integers(0, 10**12), st.sampled_from(["client", "server"]), st.text(max_size=20) | st.binary(max_size=20)
        )
    )
)
def test_any_frames_have_a_digest(rows: list[tuple[int, Any, str | bytes]]) -> None:
    frames = [Frame(*row) for row in rows if isinstance(row[2], bytes) or row[2].isprintable()]
    assert len(Trace(frames=frames).sha256()) == 64


def test_frames_do_not_change() -> None:
    with pytest.raises(AttributeError):
        Frame(0, "client", "x").t_us = 1  # type: ignore[misc]


def test_traces_share_nothing_by_default() -> None:
    Trace().frames.append(Frame(0, "client", "x"))
    assert Trace().frames == []
