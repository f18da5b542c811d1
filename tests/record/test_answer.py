import gzip

import pytest

from simrt.record.answer import Answer, plain_answer
from simrt.record.head import BadHead


def fed(raw: bytes, size: int) -> Answer:
    """An answer fed in pieces; complete with the last one and not before."""
    answer = Answer()
    done = [answer.feed(raw[start : start + size]) for start in range(0, len(raw), size)]
    assert done == [False] * (len(done) - 1) + [True]
    return answer


@pytest.mark.parametrize("size", [1, 7, 10000])
@pytest.mark.parametrize(
    "raw",
    [
        b'HTTP/1.1 401 Unauthorized\r\nContent-Length: 11\r\n\r\n{"error":1}',
        b'HTTP/1.1 429 Slow\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"err\r\n6\r\nor":1}\r\n0\r\n\r\n',
        b'HTTP/1.0 503 Busy\r\nContent-Length: 11\r\n\r\n{"error":1}',
    ],
)
def test_a_refusal_is_whole_with_its_body(raw: bytes, size: int) -> None:
    answer = fed(raw, size)
    assert answer.raw == raw
    assert answer.text() == '{"error":1}'


def test_a_refusal_without_a_length_ends_with_the_connection() -> None:
    answer = Answer()
    assert not answer.feed(b"HTTP/1.1 403 Forbidden\r\n\r\nno")
    assert answer.feed_eof()
    assert (answer.response.status, answer.text(), answer.raw[-2:]) == (403, "no", b"no")


@pytest.mark.parametrize("raw", [b"", b"HTTP/1.1 403", b"HTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\nab"])
def test_a_refusal_cut_short_is_none(raw: bytes) -> None:
    answer = Answer()
    assert not answer.feed(raw)
    assert not answer.feed_eof()


def test_a_yes_ends_with_its_head() -> None:
    answer = Answer()
    assert answer.feed(b"HTTP/1.1 103 Early\r\nLink: x\r\n\r\nHTTP/1.1 101 Switching\r\nA: b\r\n\r\n\x81\x00")
    assert (answer.raw, answer.rest) == (b"HTTP/1.1 101 Switching\r\nA: b\r\n\r\n", b"\x81\x00")


def test_a_packed_body_is_recorded_as_text_and_passed_on_as_it_was() -> None:
    body = gzip.compress(b'{"error":1}')
    raw = b"HTTP/1.1 401 No\r\nContent-Encoding: gzip\r\nContent-Length: %d\r\n\r\n" % len(body) + body
    answer = fed(raw, 10)
    assert (answer.raw, answer.text()) == (raw, '{"error":1}')


@pytest.mark.parametrize(("coding", "body"), [(b"br", b"abc"), (b"gzip", b"abc")])
def test_a_body_that_cannot_be_unpacked_is_not_recorded(coding: bytes, body: bytes) -> None:
    answer = fed(b"HTTP/1.1 401 No\r\nContent-Encoding: %s\r\nContent-Length: 3\r\n\r\n%s" % (coding, body), 500)
    assert answer.text() == ""


@pytest.mark.parametrize("raw", [b"SSH-2.0-sekrit\r\n\r\n", b"HTTP/1.1 401 No\r\nContent-Length: sekrit\r\n\r\n"])
def test_what_is_no_answer_is_not_quoted(raw: bytes) -> None:
    with pytest.raises(BadHead) as caught:
        Answer().feed(raw)
    assert "sekrit" not in str(caught.value)


def test_an_answer_of_its_own_can_be_read() -> None:
    answer = fed(plain_answer(502, "no upstream: é"), 9)
    assert (answer.response.status, answer.text()) == (502, "no upstream: é\n")
