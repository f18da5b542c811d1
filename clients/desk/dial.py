"""Getting through to the API: the key, the WebSocket, and what to tell people when either is refused."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import ConnectionClosed, InvalidHandshake, InvalidStatus, InvalidURI

KEY_VARIABLES = ("DIALOG_API_KEY", "OPENAI_API_KEY")

_REFUSALS = {
    401: "the key was not accepted: {keys}",
    403: "access denied: the key lacks access to this model or host, or something on the way removed the "
    "User-Agent header (PolyAI answers that with a bare 403)",
    429: "too many sessions or requests at once: end another call or wait, then call again",
    503: "the service is not available just now: call again in a moment",
}


class CallFailed(Exception):
    """The call could not be set up. The message says why, where and what to do; it never holds a key."""


def auth_headers(variables: tuple[str, ...] = KEY_VARIABLES) -> dict[str, str]:
    """A bearer header with the first key that the environment holds; CallFailed when it holds none."""
    for variable in variables:
        if key := os.environ.get(variable):
            return {"Authorization": f"Bearer {key}"}
    raise CallFailed(f"no API key: {_key_advice(variables)}")


async def dial(url: str, headers: dict[str, str]) -> ClientConnection:
    """Open the WebSocket; CallFailed when there is no way through."""
    with explained(url):
        # No limit on the size: a retrieved conversation item carries its whole audio in one message.
        # No compression: on base64 of speech it costs more time than it saves.
        # No limit for pongs: under load they come late over a connection on which everything else still comes.
        return await connect(
            url, additional_headers=headers, max_size=None, compression=None, ping_timeout=None, close_timeout=2
        )


@contextmanager
def explained(url: str, variables: tuple[str, ...] = KEY_VARIABLES) -> Iterator[None]:
    """Turns what stops a WebSocket from being opened into CallFailed, with advice that fits the refusal."""
    parts = urlsplit(url)
    where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"  # a query may hold a key
    try:
        yield
    except InvalidStatus as refusal:
        status = refusal.response.status_code
        advice = _REFUSALS.get(status, _REFUSALS[503] if status >= 500 else "check the URL")
        message = f"{where} refused the call (HTTP {status}): {advice.format(keys=_key_advice(variables))}"
        raise CallFailed(message) from refusal
    except InvalidURI as error:
        raise CallFailed(f"{where} is no WebSocket URL: it should start with wss:// (or ws://)") from error
    except InvalidHandshake as error:
        raise CallFailed(f"{where} did not answer as a WebSocket server: check the URL ({error})") from error
    except TimeoutError as error:
        raise CallFailed(f"{where} did not answer in time: check the network, then call again") from error
    except OSError as error:
        raise CallFailed(f"cannot reach {where}: {error}") from error


def why_closed(closed: ConnectionClosed) -> str:
    """How the other side closed a connection, in brackets."""
    if closed.rcvd is None:
        return "(no close frame)"
    return f"({closed.rcvd.code} {closed.rcvd.reason})" if closed.rcvd.reason else f"({closed.rcvd.code})"


def _key_advice(variables: tuple[str, ...]) -> str:
    return f"set {' or '.join(variables)} to a key of this provider, and for this host"
