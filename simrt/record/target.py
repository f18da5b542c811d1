"""Where a client's request goes: the upstream URL, and how the client's path and query are put onto it. Pure.

An upstream is given in one of three ways, and the client always talks to `http://127.0.0.1:PORT/v1…`:

    wss://api.openai.com                     a host: path and query go there as the client sent them
    https://host/openai/v1                   a base: the client's path follows it, and where the end of the base and
                                             the start of the path agree (`/v1`) they are one
    wss://host/v1/realtime?model=x           a session URL (its path ends in /realtime or /live/sessions): every
                                             WebSocket goes exactly there, whatever path the client used

The upstream's own query parameters are defaults: one that the client sends too is taken from the client.
"""

import difflib
from urllib.parse import parse_qsl, unquote_plus, urlsplit

import msgspec

from simrt.errors import SimrtError

_SECURE = {"ws": False, "http": False, "wss": True, "https": True}
_SESSION_PATHS = ("/realtime", "/live/sessions")


class Target(msgspec.Struct, frozen=True):
    """An upstream. `path` has no trailing slash ("" for a bare host); `query` is raw, without the question mark."""

    secure: bool
    host: str
    port: int
    path: str = ""
    query: str = ""

    @property
    def is_session(self) -> bool:
        """Whether the path names one session endpoint and not a base."""
        return self.path.endswith(_SESSION_PATHS)

    @property
    def authority(self) -> str:
        """The Host header: the port is named when it is not the scheme's own."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.secure else 80) else f"{host}:{self.port}"

    @property
    def place(self) -> str:
        """The upstream as it may be shown: scheme, host, port; no path, no query, so no secret."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'wss' if self.secure else 'ws'}://{host}:{self.port}"

    def resource(self, requested: str, *, websocket: bool) -> str:
        """The path and query to ask the upstream for, when the client asked the proxy for `requested`."""
        path, _, query = requested.partition("?")
        base = self.path
        if self.is_session:
            if websocket:
                return _with_query(base, self.query, query)
            base = next(base.removesuffix(end) for end in _SESSION_PATHS if base.endswith(end))
        return _with_query(_joined(base, path), self.query, query)

    def parameter(self, name: str) -> str:
        """The first value of a parameter of the upstream's own query, still encoded; "" when there is none."""
        pairs = (part.partition("=") for part in self.query.split("&"))
        return next((value for key, _, value in pairs if key == name), "")

    def url(self, resource: str) -> str:
        """The full WebSocket URL of a resource on this upstream."""
        return f"{'wss' if self.secure else 'ws'}://{self.authority}{resource}"


def parse_target(upstream: str) -> Target:
    """Read an upstream URL (ws, wss, http or https). SimrtError says what is wrong with it."""
    shape = "write it like wss://api.openai.com or https://host/v1"
    try:
        parts = urlsplit(upstream.strip())
        port = parts.port
    except ValueError as error:
        raise SimrtError(f"the upstream URL cannot be read ({error}); {shape}") from None
    if parts.scheme not in _SECURE or not parts.hostname:
        raise SimrtError(f"the upstream URL must begin with ws://, wss://, http:// or https:// and a host; {shape}")
    if parts.username is not None or parts.password is not None:
        raise SimrtError(
            f"the upstream URL for {parts.hostname} holds a user or password; have the client send an "
            "Authorization header instead"
        )
    if any(ord(letter) <= 32 for letter in parts.path + parts.query):
        raise SimrtError(f"the upstream URL for {parts.hostname} holds a space; write it as %20")
    secure = _SECURE[parts.scheme]
    return Target(secure, parts.hostname, port or (443 if secure else 80), parts.path.rstrip("/"), parts.query)


def _joined(base: str, path: str) -> str:
    """`base` followed by `path`, the longest end of the one that begins the other written once."""
    ours = base.split("/")[1:]
    theirs = path.split("/")[1:]
    for size in range(min(len(ours), len(theirs)), 0, -1):
        if ours[-size:] == theirs[:size]:
            return "/" + "/".join(ours + theirs[size:])
    return base + path or "/"


def _with_query(path: str, defaults: str, query: str) -> str:
    """The client's query as it was sent, and before it those defaults that it does not name."""
    named = {name for name, _ in parse_qsl(query, keep_blank_values=True)}
    kept = [part for part in defaults.split("&") if part and unquote_plus(part.partition("=")[0]) not in named]
    joined = "&".join(kept + ([query] if query else []))
    return f"{path}?{joined}" if joined else path


PROFILES = ("openai", "polyai", "azure", "azure-voice-live", "kugel")
_HOSTS = {"poly.ai": "polyai", "azure.com": "azure", "kugelaudio.com": "kugel"}


def profile_of(upstream: str) -> str:
    """Whose habits the service has, by its host name."""
    try:
        host = urlsplit(upstream).hostname or ""
    except ValueError:
        return "openai"
    return next((name for end, name in _HOSTS.items() if host == end or host.endswith(f".{end}")), "openai")


def checked_profile(name: str) -> str:
    """The name if there is such a profile; SimrtError lists those there are."""
    if name in PROFILES:
        return name
    near = difflib.get_close_matches(name, PROFILES, n=1)
    meant = f" (did you mean {near[0]!r}?)" if near else ""
    raise SimrtError(f"no profile is called {name!r}{meant}; there are: {', '.join(PROFILES)}")
