"""Dialects by name: `realtime` (OpenAI Realtime and its relatives), `live` (OpenAI Live), `generic` (anything else)."""

from simrt.dialect.base import Dialect, Event, Formats
from simrt.dialect.generic import Generic
from simrt.dialect.live import Live
from simrt.dialect.realtime import Realtime
from simrt.errors import SimrtError

__all__ = ["Dialect", "Event", "Formats", "dialect", "dialect_for_url"]

_DIALECTS: dict[str, Dialect] = {"realtime": Realtime(), "live": Live(), "generic": Generic()}
_PATHS = {"/realtime": "realtime", "/live/sessions": "live"}


def dialect(name: str) -> Dialect:
    """The dialect called `name`; SimrtError names the ones there are."""
    try:
        return _DIALECTS[name]
    except KeyError:
        raise SimrtError(f"no dialect is called {name!r}; there are: {', '.join(_DIALECTS)}") from None


def dialect_for_url(url: str) -> str:
    """The dialect that a URL's path speaks, by how it ends: /realtime or /live/sessions; anything else is generic."""
    path = url.partition("?")[0].partition("#")[0].rstrip("/")
    return next((name for end, name in _PATHS.items() if path.endswith(end)), "generic")
