"""Where credentials stand, and what they look like. Names are compared without case, `-` and `_`."""

import re


def normal(name: str) -> str:
    """`X-API-Key`, `x_api_key` and `xApiKey` are one name."""
    return name.lower().replace("-", "").replace("_", "")


HEADER_NAMES = frozenset({"authorization", "proxyauthorization", "cookie", "setcookie"})
HEADER_SUFFIXES = ("apikey", "key", "token", "secret", "password", "authorization", "signature")

QUERY_NAMES = frozenset(
    {
        *("key", "api-key", "api_key", "apikey", "subscription-key", "ocp-apim-subscription-key"),
        *("token", "access_token", "access-token", "auth_token", "id_token", "jwt", "client_secret", "secret"),
        *("sig", "signature", "x-amz-signature", "x-amz-security-token", "x-amz-credential", "x-goog-signature"),
        *("password", "authorization", "bearer", "ephemeral_key"),
    }
)

FIELDS = frozenset(
    {
        *("authorization", "proxyauthorization", "apikey", "xapikey", "openaiapikey", "subscriptionkey"),
        *("clientsecret", "secretkey", "privatekey", "ephemeralkey", "secret"),
        *("accesstoken", "refreshtoken", "idtoken", "authtoken", "bearertoken", "sessiontoken"),
        *("password", "passwd"),
    }
)

# An event without any of these needs no closer look. Looked for in the normalised text, and in the text itself.
WORD_HINTS = (
    *("authorization", "apikey", "secret", "password", "passwd", "bearer", "privatekey", "ephemeralkey"),
    *("accesstoken", "refreshtoken", "idtoken", "authtoken", "sessiontoken", "subscriptionkey"),
    *("headers", "://"),
)
PREFIX_HINTS = ("sk-", "rk-", "ek_", "xai-", "gsk_", "AIza", "eyJ", "earer ", "insecure-api-key")

SHAPES = (
    ("subprotocol:openai-insecure-api-key", re.compile(r"(openai-insecure-api-key\.)(?!<redacted>)[^\s\"',;<>\\]+")),
    ("shape:sk-", re.compile(r"\b[sr]k-[A-Za-z0-9_-]{16,}")),
    ("shape:ek_", re.compile(r"\bek_[A-Za-z0-9_-]{8,}")),
    ("shape:xai-", re.compile(r"\bxai-[A-Za-z0-9_-]{16,}")),
    ("shape:gsk_", re.compile(r"\bgsk_[A-Za-z0-9]{16,}")),
    ("shape:AIza", re.compile(r"\bAIza[A-Za-z0-9_-]{20,}")),
    ("shape:jwt", re.compile(r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]+")),
    ("shape:bearer", re.compile(r"(\b[Bb]earer +)(?=\S*\d)[A-Za-z0-9._~+/=-]{8,}")),
)

# Up to the end of a label that names a credential: openai-insecure-api-key.<KEY>, base64url.bearer.<TOKEN>
SUBPROTOCOL = re.compile(
    r"((?:[^.]+\.)*?[^.:=]*(?:key|token|secret|bearer|password|ephemeral|authorization|jwt)[^.:=]*[.:=])(?=.)",
    re.IGNORECASE,
)
SUBPROTOCOL_ANNOUNCERS = frozenset({"token", "accesstoken", "bearer", "apikey", "key", "authorization", "jwt"})

AUDIO_VALUE = re.compile(r'"(?:audio|delta)": ?"([A-Za-z0-9+/]{64,}={0,2})"')
AUDIO_TYPE = re.compile(
    r'"type": ?"(?:input_audio_buffer\.append|response\.(?:output_)?audio\.delta|session\.(?:input_audio\.append'
    r'|output_audio\.delta))"'
)
