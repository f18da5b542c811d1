"""Keeping credentials out of cassettes, journals, logs and error messages.

What is replaced, always by `<redacted>`: headers, query parameters, subprotocols and URL userinfo that carry keys;
event fields that hold credentials (at any depth, also in JSON inside strings); the values of environment variables
whose name ends in _KEY, _TOKEN, _SECRET or _PASSWORD; texts with a known key's shape; and whatever was seen to be a
secret earlier on the same connection, wherever it comes back: in an event, an error body, a close reason. Base64 audio
is left alone. A secret that is spoken, or spelt out over several text deltas, cannot be recognised.
"""

import contextlib
import json
import os
import re
from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any
from urllib.parse import quote, quote_plus, unquote

import msgspec

from simrt.cassette.secret_names import (
    AUDIO_TYPE,
    AUDIO_VALUE,
    ESCAPE_HINTS,
    FIELD_SUFFIXES,
    FIELDS,
    HEADER_NAMES,
    HEADER_SUFFIXES,
    PREFIX_HINTS,
    QUERY_NAMES,
    QUERY_SUFFIXES,
    SHAPES,
    SUBPROTOCOL,
    SUBPROTOCOL_ANNOUNCERS,
    WORD_HINTS,
    normal,
)
from simrt.dialect import Dialect
from simrt.errors import CassetteError
from simrt.trace import Closing, Opening

REDACTED = "<redacted>"
MIN_SECRET = 8
"""Shorter values are replaced where they stand, but not looked for elsewhere: they would hit ordinary words."""

Hook = Callable[[dict[str, Any]], dict[str, Any]]

_ENV_SUFFIXES = ("_KEY", "_TOKEN", "_SECRET", "_PASSWORD")
_USERINFO = re.compile(r"([a-z][a-z0-9+.-]*://)[^/\s@\"'<>?#]+@", re.IGNORECASE)
_LABELLED = re.compile(
    r"(\b(?:(?:proxy-)?authorization|x-api-key|api[-_]?key|(?:set-)?cookie|password|(?:access|auth)[-_]token)"
    r"[\"']?\s*[:=]\s*[\"']?(?:(?:bearer|basic)\s+)?)([^\s\"',;&<>]+)",
    re.IGNORECASE,
)
_PLACEHOLDER = "simrt:audio:7c1d0e"
_OPAQUE = re.compile(r"[A-Za-z0-9+/]{256,}={0,2}")
_QUERY = re.compile(r"([?&;#]([\w.%\[\]-]+)=)([^&#\s\"'<>]+)")
_RAW_HINTS = (*PREFIX_HINTS, *ESCAPE_HINTS)
_MAX_CLEAN = 256
_MAX_ENVELOPE = 100  # a caller's append; a server's delta has ids that never come back


class Redactor:
    """Replaces secrets, and remembers those it has seen. One for each connection (`fork` a configured one).

    `headers`, `query`, `fields`: more names, case, `-` and `_` do not matter. `patterns`: regular expressions whose
    matches in any text are secrets. `environ`: where to take key values from (default: this process's environment).
    `hook`: called with every event that is a JSON object, returns the event to be written; it runs first, so nothing it
    adds gets past the rest.
    """

    def __init__(
        self,
        *,
        headers: Iterable[str] = (),
        query: Iterable[str] = (),
        fields: Iterable[str] = (),
        patterns: Iterable[str] = (),
        environ: Mapping[str, str] | None = None,
        hook: Hook | None = None,
    ) -> None:
        more_fields, more_query = set(map(normal, fields)), set(map(normal, query))
        self._headers = HEADER_NAMES | set(map(normal, headers))
        self._fields = FIELDS | more_fields
        self._query = QUERY_NAMES | more_query
        self._hints = (*WORD_HINTS, *sorted(more_fields), *sorted(f"{name}=" for name in more_query))
        self._patterns = tuple(re.compile(pattern) for pattern in patterns)
        self._hook = hook
        self._needles: dict[str, str] = {}
        self._longest_first: tuple[str, ...] = ()
        self._clean: set[str] = set()
        self._found: set[str] = set()
        for name, value in (os.environ if environ is None else environ).items():
            if name.upper().endswith(_ENV_SUFFIXES):
                self.learn(value.strip(), f"env:{name}")

    def fork(self) -> "Redactor":
        """A redactor of the same kind for another connection; it knows the secrets seen so far."""
        other = object.__new__(Redactor)
        other.__dict__.update(self.__dict__)
        other._needles, other._clean, other._found = dict(self._needles), set(), set()
        return other

    @property
    def redacted(self) -> list[str]:
        """What has been replaced, for `Header.redacted`: "header:authorization", "query:api-key"; never a value."""
        return sorted(self._found)

    def learn(self, secret: str, kind: str) -> None:
        """Replace this value from now on, wherever it stands, also escaped or percent-encoded."""
        if len(secret) < MIN_SECRET or secret in self._needles or REDACTED in secret:
            return
        escaped = json.dumps(secret, ensure_ascii=False)[1:-1]
        forms = [
            *(secret, quote(secret, safe=""), quote(secret), quote_plus(secret)),
            *(escaped, json.dumps(secret)[1:-1], json.dumps(escaped)[1:-1]),
            *(secret.replace("/", "\\/"), escaped.replace("/", "\\/")),
        ]
        for form in forms:
            self._needles.setdefault(form, kind)
        self._longest_first = tuple(sorted(self._needles, key=len, reverse=True))
        self._clean.clear()

    def opening(self, opening: Opening) -> Opening:
        """The opening without its secrets. They are learned first, so an echo in the response is found too."""
        headers = [(name, self.header(name, value)) for name, value in opening.headers]
        offered = self.subprotocols(opening.subprotocols)
        url = self.text(opening.url)
        chosen = None if opening.subprotocol is None else self.subprotocols([opening.subprotocol])[0]
        return msgspec.structs.replace(
            opening,
            url=url,
            headers=[(name, self.text(value)) for name, value in headers],
            subprotocols=offered,
            subprotocol=chosen,
            response_headers=[(name, self.header(name, value)) for name, value in opening.response_headers],
            response_body=self._rewrite(opening.response_body, None),
        )

    def header(self, name: str, value: str) -> str:
        """One header's value, of a request or a response."""
        plain = normal(name)
        if plain == "secwebsocketprotocol":
            return ", ".join(self.subprotocols([part.strip() for part in value.split(",")]))
        if plain == "secwebsocketkey" or not (plain in self._headers or plain.endswith(HEADER_SUFFIXES)):
            return self.text(value)
        if not value or value == REDACTED:
            return value
        kind = f"header:{name.lower()}"
        self._found.add(kind)
        if plain in ("cookie", "setcookie"):
            for part in value.split(";")[: 1 if plain == "setcookie" else None]:
                self.learn(part.partition("=")[2].strip(), kind)
        else:
            self.learn(value.strip(), kind)
            self.learn(value.strip().rpartition(" ")[2], kind)
        return REDACTED

    def subprotocols(self, names: list[str]) -> list[str]:
        """Subprotocols without keys: a key in one, or in the one after `token`, goes; a prefix that names it stays."""
        out: list[str] = []
        for name in names:
            found = SUBPROTOCOL.match(name)
            after = bool(out) and normal(out[-1]) in SUBPROTOCOL_ANNOUNCERS
            if found or after:
                prefix = found[1] if found else ""
                kind = f"subprotocol:{prefix.rstrip('.') or out[-1]}"
                secret = name[len(prefix) :]
                if secret != REDACTED:
                    self._found.add(kind)
                    self.learn(secret, kind)
                    self.learn(unquote(secret), kind)
                out.append(prefix + REDACTED)
            else:
                out.append(self.text(name))
        return out

    def payload(self, payload: str | bytes, dialect: Dialect | None = None) -> str | bytes:
        """One message as it may be written. Untouched text comes back as the same object; JSON stays JSON.

        CassetteError when the hook fails: a frame that it could not see to is not written.
        """
        if isinstance(payload, str) and self._hook is not None:
            payload = self._hooked(payload)
        return self.rescan(payload, dialect)

    def rescan(self, payload: str | bytes, dialect: Dialect | None = None) -> str | bytes:
        """`payload` without the hook, for text that it has seen already."""
        if isinstance(payload, bytes):
            if payload[:1] == b"{":
                with contextlib.suppress(UnicodeDecodeError):
                    text = payload.decode()
                    clean = self.rescan(text, dialect)
                    return payload if clean is text or isinstance(clean, bytes) else clean.encode()
            for needle in self._longest_first:
                raw = needle.encode("utf-8", "surrogatepass")
                if raw in payload:
                    payload = payload.replace(raw, REDACTED.encode())
                    self._found.add(self._needles[needle])
            return payload
        audio = AUDIO_VALUE.search(payload)
        if audio is None or audio[1] in self._needles:
            return self._rewrite(payload, dialect) if self._suspicious(payload) else payload
        start, end = audio.span(1)
        envelope = payload[:start] + payload[end:]
        if envelope in self._clean:
            return payload
        if not AUDIO_TYPE.search(envelope) or _PLACEHOLDER in payload:
            return self._rewrite(payload, dialect) if self._suspicious(payload) else payload
        if not self._suspicious(envelope):
            if len(envelope) < _MAX_ENVELOPE and len(self._clean) < _MAX_CLEAN:
                self._clean.add(envelope)
            return payload
        text = self._rewrite(payload[:start] + _PLACEHOLDER + payload[end:], dialect)
        return text.replace(_PLACEHOLDER, audio[1], 1)

    def closing(self, closing: Closing) -> Closing:
        """The closing with a clean reason."""
        return msgspec.structs.replace(closing, reason=self.scrub(closing.reason))

    def scrub(self, text: str) -> str:
        """Any text for a log or an error message: as `text`, and values after labels such as `Authorization:` too."""

        def labelled(found: re.Match[str]) -> str:
            self._found.add("text")
            return found[1] + REDACTED

        return _LABELLED.sub(labelled, self.text(text))

    def text(self, text: str) -> str:
        """Known secrets, texts with the shape of a key, URL userinfo and query keys replaced."""
        if any(hint in text for hint in PREFIX_HINTS):
            for kind, shape in SHAPES:
                text = shape.sub(partial(self._shaped, kind), text)
        for pattern in self._patterns:
            text = pattern.sub(lambda found: self._replace(found[0], "pattern"), text)
        if "://" in text:
            text = _USERINFO.sub(
                lambda found: found[1] + self._replace(found[0][len(found[1]) : -1], "url") + "@", text
            )
        if "=" in text:
            text = _QUERY.sub(self._queried, text)
        for needle in self._longest_first:
            if needle in text:
                text = text.replace(needle, REDACTED)
                self._found.add(self._needles[needle])
        return text

    def _replace(self, secret: str, kind: str) -> str:
        if secret and secret != REDACTED:
            self._found.add(kind)
            for part in secret.split(":") if kind == "url" else (secret,):
                if not part.isalpha() or len(part) >= 16:  # a plain word would be found in innocent places
                    self.learn(part, kind)
                    self.learn(unquote(part), kind)
        return REDACTED

    def _queried(self, found: re.Match[str]) -> str:
        name = normal(unquote(found[2])).rstrip("[]")
        if name not in self._query and not name.endswith(QUERY_SUFFIXES):
            return found[0]
        return found[1] + self._replace(found[3], f"query:{found[2].lower()}")

    def _shaped(self, kind: str, found: re.Match[str]) -> str:
        """A match of a key's shape; what its first group holds, if it has one, stays."""
        kept = found[1] if found.re.groups else ""
        return kept + self._replace(found[0][len(kept) :], kind)

    def _hooked(self, payload: str) -> str:
        assert self._hook is not None
        try:
            event = json.loads(payload)
        except ValueError:
            return payload
        if not isinstance(event, dict):
            return payload
        before = json.dumps(event)
        try:
            changed = self._hook(event)
            after = json.dumps(changed)
        except Exception as error:
            raise CassetteError(
                f"the redaction hook failed on an event of type {event.get('type')!r}: {type(error).__name__}; "
                "the frame was not written; mend the hook"
            ) from error
        return payload if after == before else json.dumps(changed, separators=(",", ":"))

    def _suspicious(self, text: str) -> bool:
        """Whether a text has to be looked at closely; False costs microseconds and is nearly always the answer."""
        for needle in self._longest_first:
            if needle in text:
                return True
        for hint in _RAW_HINTS:
            if hint in text:
                return True
        plain = normal(text)
        for hint in self._hints:
            if hint in plain:
                return True
        return any(pattern.search(text) for pattern in self._patterns)

    def _rewrite(self, text: str, dialect: Dialect | None) -> str:
        try:
            value = json.loads(text)
            if dialect is not None and isinstance(value, dict):
                for secret in dialect.secrets(value):
                    self.learn(secret, "field:client_secret")
            clean = self._walk(value)
            return text if clean == value else _dump(clean)
        except (ValueError, RecursionError):
            return self.scrub(text)

    def _walk(self, value: Any) -> Any:
        if isinstance(value, str):
            return self._string(value)
        if isinstance(value, list):
            return [self._walk(item) for item in value]
        if isinstance(value, dict):
            remote = value.get("type") == "mcp" or "server_url" in value
            name, held = value.get("name"), value.get("value")
            if isinstance(name, str) and isinstance(held, str) and held and self._is_field(name):
                value = {**value, "value": self._replace(held, f"field:{name}")}
            return {self.text(key): self._member(key, item, remote) for key, item in value.items()}
        if isinstance(value, (int, float)) and repr(value) in self._needles:
            return self._replace(repr(value), self._needles[repr(value)])
        return value

    def _member(self, key: str, value: Any, remote: bool) -> Any:
        """One member of an object. `remote`: the object describes a remote tool server, whose headers are secret."""
        if self._is_field(key):
            kind = f"field:{key}"
            if isinstance(value, dict):
                held = ("value", "secret", "token", "key")
                return {
                    name: self._replace(item, kind)
                    if name in held and isinstance(item, str) and item
                    else self._walk(item)
                    for name, item in value.items()
                }
            if isinstance(value, list):
                return [self._replace(item, kind) if isinstance(item, str) else self._walk(item) for item in value]
            if (isinstance(value, (int, float)) and not isinstance(value, bool)) or (isinstance(value, str) and value):
                return self._replace(str(value), kind)
        if normal(key) == "headers" and isinstance(value, dict):
            return {name: self._header_member(name, item, remote) for name, item in value.items()}
        return self._walk(value)

    def _is_field(self, name: str) -> bool:
        plain = normal(name)
        return plain in self._fields or plain.endswith(FIELD_SUFFIXES)

    def _header_member(self, name: str, value: Any, remote: bool) -> Any:
        if isinstance(value, list):
            return [self._header_member(name, item, remote) for item in value]
        if isinstance(value, str):
            return self._replace(value, "field:headers") if remote else self.header(name, value)
        return self._walk(value)

    def _string(self, text: str) -> str:
        if len(text) >= 256 and text not in self._needles and _OPAQUE.fullmatch(text):
            return text
        if text[:1] in ("{", "[") and self._suspicious(text):
            try:
                value = json.loads(text)
                clean = self._walk(value)
                text = text if clean == value else _dump(clean)
            except (ValueError, RecursionError):
                pass
        return self.text(text)


def _dump(value: Any) -> str:
    text = json.dumps(value, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    try:
        text.encode()
    except UnicodeEncodeError:
        text = json.dumps(value, separators=(",", ":"), allow_nan=False)
    return text
