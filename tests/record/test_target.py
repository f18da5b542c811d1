import pytest

from simrt.errors import SimrtError
from simrt.record.target import parse_target


@pytest.mark.parametrize(
    ("upstream", "asked", "wanted"),
    [
        ("wss://api.openai.com", "/v1/realtime?model=m", "/v1/realtime?model=m"),
        ("wss://api.openai.com/", "/v1/realtime", "/v1/realtime"),
        ("https://api.openai.com/v1", "/v1/realtime?model=m", "/v1/realtime?model=m"),
        ("https://api.openai.com/v1/", "/realtime", "/v1/realtime"),
        ("https://h/openai/v1", "/v1/realtime", "/openai/v1/realtime"),
        ("https://h/openai/v1", "/openai/v1/realtime", "/openai/v1/realtime"),
        ("https://h/gateway", "/v1/realtime", "/gateway/v1/realtime"),
        ("https://h", "/", "/"),
    ],
)
def test_the_clients_path_follows_the_base(upstream: str, asked: str, wanted: str) -> None:
    assert parse_target(upstream).resource(asked, websocket=True) == wanted


@pytest.mark.parametrize("path", ["/v1/realtime", "/v1/live/sessions", "/openai/realtime"])
def test_a_session_url_takes_every_websocket(path: str) -> None:
    target = parse_target(f"wss://h{path}")
    assert target.resource("/somewhere/else?a=1", websocket=True) == f"{path}?a=1"


def test_beside_a_session_url_plain_requests_go_to_its_base() -> None:
    target = parse_target("wss://h/v1/realtime?model=m")
    assert target.resource("/v1/models", websocket=False) == "/v1/models?model=m"
    assert target.resource("/v1/realtime/client_secrets", websocket=False) == "/v1/realtime/client_secrets?model=m"


def test_the_clients_parameters_win_and_are_left_as_sent() -> None:
    target = parse_target("wss://h/v1/realtime?model=mine&api-version=2&model=again")
    assert target.resource("/x?model=a%20b&q=", websocket=True) == "/v1/realtime?api-version=2&model=a%20b&q="
    assert target.resource("/x", websocket=True) == "/v1/realtime?model=mine&api-version=2&model=again"


@pytest.mark.parametrize(
    ("upstream", "secure", "authority", "place"),
    [
        ("ws://h", False, "h", "ws://h:80"),
        ("http://h:80", False, "h", "ws://h:80"),
        ("https://h:444/v1", True, "h:444", "wss://h:444"),
        ("wss://[::1]:8/v1?key=k", True, "[::1]:8", "wss://[::1]:8"),
        ("wss://h:80", True, "h:80", "wss://h:80"),
    ],
)
def test_scheme_and_port(upstream: str, secure: bool, authority: str, place: str) -> None:
    target = parse_target(upstream)
    assert (target.secure, target.authority, target.place) == (secure, authority, place)


@pytest.mark.parametrize(
    "upstream", ["api.openai.com", "ftp://h", "ws://", "ws://h:99999", "ws://u:pass-word@h", "ws://h/a b", "ws://[::1"]
)
def test_a_bad_url_is_refused_without_quoting_it(upstream: str) -> None:
    with pytest.raises(SimrtError, match="upstream URL") as caught:
        parse_target(upstream)
    assert "pass-word" not in str(caught.value)
