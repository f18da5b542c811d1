"""Where credentials stand, and what they look like. Names are compared without case, `-` and `_`."""

import re


def normal(name: str) -> str:
    """`X-API-Key`, `x_api_key` and `xApiKey` are one name."""
    return name.lower().replace("-", "").replace("_", "")


HEADER_NAMES = frozenset({"authorization", "proxyauthorization", "cookie", "setcookie"})
HEADER_SUFFIXES = ("key", "token", "secret", "password", "authorization", "signature")

QUERY_NAMES = frozenset({"key", "sig", "jwt", "bearer", "auth"})
QUERY_SUFFIXES = (
    *("apikey", "subscriptionkey", "accesskey", "secretkey", "ephemeralkey", "token", "secret", "password"),
    *("signature", "authorization", "credential"),
)

FIELDS = frozenset({"bearer", "jwt", "credential", "credentials"})
FIELD_SUFFIXES = (
    *("authorization", "apikey", "secret", "password", "passwd", "secretkey", "privatekey", "accesskey"),
    *("ephemeralkey", "subscriptionkey", "accesstoken", "refreshtoken", "idtoken", "authtoken", "bearertoken"),
    "sessiontoken",
)

# An event without any of these needs no closer look. Looked for in the normalised text, and in the text itself.
WORD_HINTS = (
    *("authorization", "apikey", "secret", "password", "passwd", "bearer", "jwt", "credential"),
    *("privatekey", "accesskey", "ephemeralkey", "subscriptionkey"),
    *("accesstoken", "refreshtoken", "idtoken", "authtoken", "sessiontoken"),
    *("headers", "://", "key=", "token=", "sig=", "signature="),
)
PREFIX_HINTS = ("sk-", "rk-", "ek_", "xai-", "gsk_", "AIza", "ka_", "eyJ", "earer ", "insecure-api-key")
ESCAPE_HINTS = ("\\u002", "\\u003", "\\u004", "\\u005", "\\u006", "\\u007")
"""Plain letters that are written as escapes may be anything."""

SHAPES = (
    ("subprotocol:openai-insecure-api-key", re.compile(r"(openai-insecure-api-key\.)(?!<redacted>)[^\s\"',;<>\\]+")),
    ("shape:sk-", re.compile(r"\b[sr]k-[A-Za-z0-9_-]{16,}")),
    ("shape:ek_", re.compile(r"\bek_[A-Za-z0-9_-]{8,}")),
    ("shape:xai-", re.compile(r"\bxai-[A-Za-z0-9_-]{16,}")),
    ("shape:gsk_", re.compile(r"\bgsk_[A-Za-z0-9]{16,}")),
    ("shape:AIza", re.compile(r"\bAIza[A-Za-z0-9_-]{20,}")),
    ("shape:ka_", re.compile(r"\b(?:eu-)?ka_[A-Za-z0-9_-]{16,}")),
    ("shape:jwt", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+")),
    ("shape:bearer", re.compile(r"(\b[Bb]earer +)(?=\S*\d)[A-Za-z0-9._~+/=-]{8,}")),
)

# Up to the end of what names a credential: bearer-<TOKEN>; openai-insecure-api-key.<KEY>, base64url.bearer.<TOKEN>
_NAMED = "key|token|secret|bearer|password|ephemeral|authorization|jwt"
SUBPROTOCOL = re.compile(
    rf"([a-z_-]*?(?:{_NAMED})[-_:=|](?=[^\s.]*\d)(?=\S{{8}})|(?:[^.]+\.)*?[^.]*(?:{_NAMED})[^.]*\.(?=.))", re.IGNORECASE
)
SUBPROTOCOL_ANNOUNCERS = frozenset({"token", "accesstoken", "bearer", "apikey", "key", "authorization", "jwt"})

AUDIO_VALUE = re.compile(r'"(?:audio|delta)": ?"([A-Za-z0-9+/]{64,}={0,2})"')
AUDIO_TYPE = re.compile(
    r'"type": ?"(?:input_audio_buffer\.append|response\.(?:output_)?audio\.delta|session\.(?:input_audio\.append'
    r'|output_audio\.delta))"'
)
