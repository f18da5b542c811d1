import pytest

from simrt.record.head import HEAD_LIMIT, BadHead, parse_request, parse_response, split_head

REQUEST = (
    b"GET /v1/realtime?model=m HTTP/1.1\r\nHost: 127.0.0.1:1\r\nUpgrade: WebSocket\r\nConnection: Upgrade\r\n"
    b"sec-websocket-key: k\r\nSec-WebSocket-Extensions: permessage-deflate\r\nX-Twice: 1\r\nx-twice: 2\r\n"
    b"Authorization: Bearer \xe9\r\nSec-WebSocket-Protocol: a, b,c\r\n\r\n"
)


def test_a_head_comes_back_byte_for_byte() -> None:
    assert parse_request(REQUEST).encode() == REQUEST


def test_a_forwarded_websocket_changes_host_path_and_extensions_only() -> None:
    sent = parse_request(REQUEST).forwarded("/x?y", "h:2").encode()
    wanted = REQUEST.replace(b"/v1/realtime?model=m", b"/x?y").replace(b"127.0.0.1:1", b"h:2")
    assert sent == wanted.replace(b"Sec-WebSocket-Extensions: permessage-deflate\r\n", b"")


def test_a_forwarded_plain_request_is_the_last_on_its_connection() -> None:
    request = parse_request(b"POST /v1/x HTTP/1.1\r\nHost: a\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\n")
    assert not request.is_websocket
    assert request.forwarded("/v1/x", "h").encode() == (
        b"POST /v1/x HTTP/1.1\r\nHost: h\r\nContent-Length: 2\r\nConnection: close\r\n\r\n"
    )


def test_what_is_recorded_of_a_request_is_what_the_client_said_about_the_session() -> None:
    names = [name for name, _ in parse_request(REQUEST).end_to_end()]
    assert names == ["X-Twice", "x-twice", "Authorization"]


def test_lists_and_repeats() -> None:
    request = parse_request(REQUEST)
    assert request.tokens("sec-websocket-protocol") == ["a", "b", "c"]
    assert request.values("x-twice") == ["1", "2"]
    assert request.method == "GET"


def test_an_absolute_url_is_cut_down_to_its_path() -> None:
    assert parse_request(b"GET http://h:1/v1/a?b HTTP/1.1\r\n\r\n").resource == "/v1/a?b"


def test_a_response_says_its_status() -> None:
    assert parse_response(b"HTTP/1.1 429 Too Many Requests\r\nA: b\r\n\r\n").status == 429
    assert parse_response(b"HTTP/1.0 200\r\n\r\n").status == 200


def test_a_head_is_split_from_what_follows() -> None:
    assert split_head(b"a\r\n\r\nrest") == (b"a\r\n\r\n", b"rest")
    assert split_head(b"a\r\n\r") is None


@pytest.mark.parametrize(
    "head",
    [b"hello sekrit\r\n\r\n", b"GET  HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nsekrit\r\n\r\n", b"GET / SPDY\r\n\r\n"],
)
def test_no_request(head: bytes) -> None:
    with pytest.raises(BadHead) as caught:
        parse_request(head)
    assert "sekrit" not in str(caught.value)


@pytest.mark.parametrize("head", [b"SSH-2.0-x\r\n\r\n", b"HTTP/1.1 abc\r\n\r\n", b"HTTP/1.1 200 OK\r\n: x\r\n\r\n"])
def test_no_response(head: bytes) -> None:
    with pytest.raises(BadHead):
        parse_response(head)


def test_an_endless_head_is_refused() -> None:
    with pytest.raises(BadHead, match="longer"):
        split_head(b"x" * (HEAD_LIMIT + 1))
