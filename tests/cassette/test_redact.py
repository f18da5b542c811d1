import base64
import json
import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simrt.cassette.redact import REDACTED, Redactor
from simrt.dialect import dialect
from simrt.errors import CassetteError
from simrt.trace import Closing, Opening

from .builders import append, delta, pcm

KEY = "q7Zx-93hdk_Lw0/2+a"


def redactor(**options: Any) -> Redactor:
    return Redactor(environ={}, **options)


def event(r: Redactor, value: dict[str, Any]) -> dict[str, Any]:
    clean = r.payload(json.dumps(value))
    assert isinstance(clean, str)
    parsed = json.loads(clean)
    assert isinstance(parsed, dict)
    return parsed


# --- the opening


@pytest.mark.parametrize(
    "name",
    [
        *("Authorization", "Proxy-Authorization", "api-key", "X-API-KEY", "Cookie", "Set-Cookie", "x-goog-api-key"),
        *("Ocp-Apim-Subscription-Key", "xi-api-key", "X-Auth-Token", "X-Client-Secret"),
    ],
)
def test_headers_on_both_sides(name: str) -> None:
    r = redactor()
    opening = r.opening(Opening(headers=[(name, f"Bearer {KEY}")], response_headers=[(name, f"a={KEY}2; Path=/")]))
    assert opening.headers == opening.response_headers == [(name, REDACTED)]
    assert r.redacted == [f"header:{name.lower()}"]


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("User-Agent", "simrt/1"),
        ("OpenAI-Beta", "realtime=v1"),
        ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ("x-ratelimit-remaining-tokens", "39500"),
        ("OpenAI-Organization", "org-1234567890"),
    ],
)
def test_other_headers_stay(name: str, value: str) -> None:
    r = redactor()
    assert r.header(name, value) == value
    assert r.redacted == []


@pytest.mark.parametrize(
    "name",
    [
        "OPENAI_API_KEY",
        "authToken",
        "api-key",
        "api_key",
        "key",
        "token",
        "access_token",
        "sig",
        "signature",
        "X-Amz-Signature",
        "client_secret",
    ],
)
def test_query_keys(name: str) -> None:
    r = redactor()
    opening = r.opening(Opening(url=f"wss://h/v1/realtime?model=m&{name}=abc%2Fdef9012#f"))
    assert opening.url == f"wss://h/v1/realtime?model=m&{name}={REDACTED}#f"
    assert r.redacted == [f"query:{name.lower()}"]
    assert r.scrub("abc/def9012") == REDACTED


def test_a_model_name_in_the_query_stays() -> None:
    url = "wss://h/v1/realtime?model=gpt-realtime&monkey=1&api-version=2025-04-01"
    assert redactor().opening(Opening(url=url)).url == url


def test_userinfo() -> None:
    opening = redactor().opening(Opening(url=f"wss://me:{KEY.replace('/', '%2F')}@h:8/realtime"))
    assert opening.url == f"wss://{REDACTED}@h:8/realtime"


@pytest.mark.parametrize(
    ("offered", "kept"),
    [
        (["realtime", f"openai-insecure-api-key.{KEY}"], ["realtime", f"openai-insecure-api-key.{REDACTED}"]),
        (["openai-ephemeral-key.ab12", "x"], [f"openai-ephemeral-key.{REDACTED}", "x"]),
        (["base64url.bearer.authorization.k8s.io.QWxhZGRpbg"], [f"base64url.bearer.{REDACTED}"]),
        (["token", KEY], ["token", REDACTED]),
        (["openai-beta.realtime-v1", "openai-project.proj_1"], ["openai-beta.realtime-v1", "openai-project.proj_1"]),
        (["sk-proj-0123456789abcdef0123"], [REDACTED]),
        ([f"bearer-{KEY}"], [f"bearer-{REDACTED}"]),
        (["bearer-ab1cdefgh.ijkl.mnop"], [f"bearer-{REDACTED}"]),
        (["graphql-transport-ws", "token-passing-style"], ["graphql-transport-ws", "token-passing-style"]),
    ],
)
def test_subprotocols(offered: list[str], kept: list[str]) -> None:
    r = redactor()
    opening = Opening(
        subprotocols=offered, subprotocol=offered[0], headers=[("Sec-WebSocket-Protocol", ", ".join(offered))]
    )
    clean = r.opening(opening)
    assert clean.subprotocols == kept
    assert clean.subprotocol == kept[0]
    assert clean.headers == [("Sec-WebSocket-Protocol", ", ".join(kept))]
    assert r.opening(clean) == clean


def test_a_key_echoed_in_a_refusal() -> None:
    body = json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}."}})
    clean = redactor().opening(
        Opening(
            headers=[("api-key", KEY), ("X-Debug", f"sent {KEY}")],
            status=401,
            response_headers=[("X-Echo", KEY)],
            response_body=body,
        )
    )
    assert KEY not in repr(clean)
    assert json.loads(clean.response_body) == {"error": {"message": f"Incorrect API key provided: {REDACTED}."}}


# --- events


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            {"client_secret": {"value": "ek_1", "expires_at": 7}},
            {"client_secret": {"value": REDACTED, "expires_at": 7}},
        ),
        ({"session": {"client_secret": "short"}}, {"session": {"client_secret": REDACTED}}),
        ({"a": [{"b": {"Api-Key": "x"}}]}, {"a": [{"b": {"Api-Key": REDACTED}}]}),
        ({"apiKey": ["x", "y"]}, {"apiKey": [REDACTED, REDACTED]}),
        ({"azure_api_key": "x", "signingSecret": "y"}, {"azure_api_key": REDACTED, "signingSecret": REDACTED}),
        ({"name": "X-Api-Key", "value": "x"}, {"name": "X-Api-Key", "value": REDACTED}),
        ({"password": 1234}, {"password": REDACTED}),
        ({"password": None, "authorization": ""}, {"password": None, "authorization": ""}),
        (
            {
                "tools": [
                    {"type": "mcp", "server_url": "https://u:p@h/?key=k", "authorization": "t", "headers": {"X": "y"}}
                ]
            },
            {
                "tools": [
                    {
                        "type": "mcp",
                        "server_url": f"https://{REDACTED}@h/?key={REDACTED}",
                        "authorization": REDACTED,
                        "headers": {"X": REDACTED},
                    }
                ]
            },
        ),
        (
            {"headers": {"x-api-key": "k", "accept": "*/*", "cookie": ["a=b"]}},
            {"headers": {"x-api-key": REDACTED, "accept": "*/*", "cookie": [REDACTED]}},
        ),
        ({"note": "use sk-proj-0123456789abcdef now"}, {"note": f"use {REDACTED} now"}),
        ({"note": "use ka_7c1d0e5b9a2f4e6d8c3b now"}, {"note": f"use {REDACTED} now"}),
        ({"note": "use eu-ka_7c1d0e5b9a2f4e6d8c3b now"}, {"note": f"use {REDACTED} now"}),
        ({"note": "Authorization: Bearer a1b2c3d4e5"}, {"note": f"Authorization: Bearer {REDACTED}"}),
        ({"value": "ek_68af296e8e408191a1120ab6383263c2"}, {"value": REDACTED}),
    ],
)
def test_secret_fields(before: dict[str, Any], after: dict[str, Any]) -> None:
    r = redactor()
    assert event(r, before) == after
    assert event(redactor(), after) == after


def test_json_inside_strings() -> None:
    inner = json.dumps({"config": json.dumps({"api_key": "k1", "city": "Bonn"}), "n": 1})
    clean = event(redactor(), {"type": "response.function_call_arguments.done", "arguments": inner})
    assert json.loads(json.loads(clean["arguments"])["config"]) == {"api_key": REDACTED, "city": "Bonn"}


@pytest.mark.parametrize(
    "value",
    [
        {"tools": [{"parameters": {"properties": {"password": {"type": "string"}}, "required": ["password"]}}]},
        {"max_output_tokens": "inf", "usage": {"total_tokens": 12}},
        {"logprobs": [{"token": "Hello", "logprob": -0.1}]},
        {"delta": "the bearer of bad news, risk-free? key=value"},
        {"type": "response.done", "ids": ["item_ek", "task-1234567890123456"]},
    ],
)
def test_what_only_looks_like_a_secret_stays(value: dict[str, Any]) -> None:
    r = redactor()
    text = json.dumps(value)
    assert r.payload(text) is text
    assert r.redacted == []


def test_an_ephemeral_secret_is_found_again_elsewhere() -> None:
    r = redactor()
    r.payload(json.dumps({"client_secret": {"value": KEY}}), dialect("realtime"))
    assert event(r, {"type": "error", "error": {"message": f"bad {KEY}"}})["error"] == {"message": f"bad {REDACTED}"}
    assert r.closing(Closing(1, 4001, f"key {KEY} expired")).reason == f"key {REDACTED} expired"
    assert r.payload(f"plain {KEY}") == f"plain {REDACTED}"
    assert r.payload(b"\x01" + KEY.encode()) == b"\x01" + REDACTED.encode()
    assert json.loads(r.payload(json.dumps({"a": KEY}).encode())) == {"a": REDACTED}


def test_values_of_the_environment() -> None:
    environ = {
        "MY_API_KEY": "alpha-99-omega",
        "A_TOKEN": "short",
        "HOME": "/home/somebody",
        "db_password": "hunter2hunter2",
    }
    r = Redactor(environ=environ)
    clean = event(r, {"a": "xalpha-99-omegax", "b": "short", "c": "/home/somebody", "hunter2hunter2": 1})
    assert clean == {"a": f"x{REDACTED}x", "b": "short", "c": "/home/somebody", REDACTED: 1}
    assert r.redacted == ["env:MY_API_KEY", "env:db_password"]


def test_a_secret_written_in_escapes() -> None:
    r = Redactor(environ={"X_KEY": KEY})
    escaped = "".join(f"\\u{ord(letter):04x}" for letter in KEY)
    assert event(r, {"b": 1}) == {"b": 1}
    assert r.payload(f'{{"a":"{escaped}"}}') == f'{{"a":"{REDACTED}"}}'


def test_the_environment_of_the_process_is_the_default(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SOME_VENDOR_KEY", KEY)
    assert KEY not in Redactor().scrub(f"connecting with {KEY}")


@settings(max_examples=200, deadline=None)
@given(st.text(st.characters(exclude_categories=["Cs"]), min_size=8), st.text(max_size=5), st.booleans())
def test_a_secret_of_any_letters_is_found_in_any_spelling(secret: str, around: str, ascii_only: bool) -> None:
    if secret in REDACTED or secret != secret.strip():
        return
    r = Redactor(environ={"X_KEY": secret})
    nested = json.dumps({"args": around + secret}, ensure_ascii=ascii_only)
    clean = event(r, {"a": secret + around, "b": nested, "c": [secret]})
    assert clean["a"].startswith(REDACTED) or secret not in clean["a"]
    assert secret not in json.loads(clean["b"])["args"] or secret in REDACTED + around
    assert clean["c"] == [REDACTED]


def test_a_secret_made_of_digits_leaves_valid_json() -> None:
    r = Redactor(environ={"PIN_KEY": "123456789"})
    assert event(r, {"pin": 123456789, "other": 1234567890, "text": "is 123456789."}) == {
        "pin": REDACTED,
        "other": 1234567890,
        "text": f"is {REDACTED}.",
    }


# --- audio


def test_audio_comes_through_untouched() -> None:
    silence = append(bytes(960))
    r = Redactor(environ={"X_KEY": "AAAAAAAAAAAA", "Y_KEY": base64.b64encode(pcm(480)).decode()[100:112]})
    for text in (silence, append(pcm(480)), delta(pcm(4800)), append(pcm(480)), silence):
        assert r.payload(text) is text
    assert r.redacted == []


def test_a_secret_beside_the_audio_is_found_and_the_audio_kept() -> None:
    r = Redactor(environ={"X_KEY": KEY})
    audio = base64.b64encode(pcm(480)).decode()
    clean = event(r, {"type": "input_audio_buffer.append", "event_id": KEY, "audio": audio})
    assert clean == {"type": "input_audio_buffer.append", "event_id": REDACTED, "audio": audio}


def test_a_secret_in_the_place_of_audio_is_found() -> None:
    secret = "a1" * 42
    r = Redactor(environ={"X_KEY": secret})
    assert event(r, {"type": "input_audio_buffer.append", "audio": secret})["audio"] == REDACTED


def test_a_secret_learned_late_is_found_in_frames_of_a_known_kind() -> None:
    r = redactor()
    text = json.dumps({"type": "input_audio_buffer.append", "event_id": KEY, "audio": "A" * 80})
    assert r.payload(text) is text
    r.learn(KEY, "test")
    assert KEY not in r.payload(text)


# --- spelling


@pytest.mark.parametrize(
    "text",
    ['{"a": 1.0,  "b":1e5, "a":2}', '{"a":NaN}', '{"x":"\\ud800"}', "no json", "", "[1]", "sk-", '{"secret":null}'],
)
def test_clean_text_is_the_same_object(text: str) -> None:
    assert redactor().payload(text) is text


@pytest.mark.parametrize(
    "text",
    [
        '{"n":1e400,"api_key":"%s"}',
        '{"n":NaN,"api_key":"%s"}',
        '{"s":"\\ud800","api_key":"%s"}',
        '{"api_key":"%s"',
        "[" * 9000 + "%s",
    ],
)
def test_odd_json_is_redacted_too(text: str) -> None:
    r = Redactor(environ={"X_KEY": KEY})
    clean = r.payload(text % KEY)
    assert isinstance(clean, str)
    assert KEY not in clean
    clean.encode()


# --- options


def test_more_names_and_patterns() -> None:
    r = redactor(headers=["X-Pin"], query=["pin"], fields=["card_number"], patterns=[r"\b\d{4}-\d{4}\b"])
    opening = r.opening(Opening(url="wss://h/?pin=1", headers=[("x-pin", "2")]))
    assert (opening.url, opening.headers) == (f"wss://h/?pin={REDACTED}", [("x-pin", REDACTED)])
    clean = event(r, {"cardNumber": "4", "say": "it is 1234-5678."})
    assert clean == {"cardNumber": REDACTED, "say": f"it is {REDACTED}."}


def test_a_hook_sees_events_and_cannot_leak() -> None:
    seen = []

    def hook(value: dict[str, Any]) -> dict[str, Any]:
        seen.append(value["type"])
        return {**value, "name": "somebody", "extra": KEY} if "name" in value else value

    r = Redactor(environ={"X_KEY": KEY}, hook=hook)
    assert event(r, {"type": "a", "name": "Ada"}) == {"type": "a", "name": "somebody", "extra": REDACTED}
    for untouched in ('{"type": "b"}', "no json", "[1]", '{"type":"c","n":NaN}'):
        assert r.payload(untouched) is untouched
    assert seen == ["a", "b", "c"]


def test_a_hook_that_fails_stops_the_frame() -> None:
    def hook(value: dict[str, Any]) -> dict[str, Any]:
        raise KeyError(KEY)

    with pytest.raises(CassetteError, match="hook failed on an event of type 'a': KeyError") as caught:
        redactor(hook=hook).payload('{"type":"a"}')
    assert KEY not in str(caught.value)


def test_a_fork_knows_what_was_known_and_keeps_its_own() -> None:
    first = redactor()
    first.learn(KEY, "test")
    second = first.fork()
    second.learn("another-secret-1", "test")
    assert second.scrub(f"{KEY} another-secret-1") == f"{REDACTED} {REDACTED}"
    assert first.scrub("another-secret-1") == "another-secret-1"
    assert first.redacted == []


# --- logs


@pytest.mark.parametrize(
    "text",
    [
        "Authorization: Bearer abc",
        "authorization=abc",
        "{'api-key': 'abc'}",
        "GET wss://h/realtime?token=abc HTTP/1.1",
        "wss://user:abc@host/",
        "openai-insecure-api-key.abc",
        "password: abc",
    ],
)
def test_scrub_takes_labelled_values_from_any_text(text: str) -> None:
    clean = redactor().scrub(text)
    assert "abc" not in clean
    assert REDACTED in clean


def test_scrub_leaves_other_text_alone() -> None:
    text = "connected to wss://api.example.org/v1/realtime?model=gpt-realtime in 0.2 s; closed 1000 (done)"
    assert redactor().scrub(text) == text


def test_kinds_never_hold_values() -> None:
    r = redactor()
    r.opening(
        Opening(url=f"wss://{KEY}@h/?api-key={KEY}1", headers=[("Cookie", f"a={KEY}2")], subprotocols=["token", KEY])
    )
    event(r, {"client_secret": KEY + "3", "x": KEY})
    assert r.redacted
    assert not re.search("q7Zx", repr(r.redacted))
