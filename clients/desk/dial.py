"""Getting through to the API: the key, the WebSocket, and what to tell people when either is refused."""

import os
from urllib.parse import urlsplit

from websockets.asyncio.client import ClientConnection, connect
from websockets.exceptions import InvalidHandshake, InvalidStatus, InvalidURI

KEY_VARIABLES = ("DIALOG_API_KEY", "OPENAI_API_KEY")

_KEY_ADVICE = f"set {' or '.join(KEY_VARIABLES)} to a key of this provider, and for this host"

_REFUSALS = {
    401: f"the key was not accepted: {_KEY_ADVICE}",
    403: "access denied: the key lacks access to this model or host, or something on the way removed the "
    "User-Agent header (PolyAI answers that with a bare 403)",
    429: "too many sessions or requests at once: end another call or wait, then call again",
    503: "the service is not available just now: call again in a moment",
}


class CallFailed(Exception):
    """The call could not be set up. The message says why, where and what to do; it never holds a key."""


def auth_headers() -> dict[str, str]:
    """A bearer header with the first key that the environment holds; CallFailed when it holds none."""
    for variable in KEY_VARIABLES:
        if key := os.environ.get(variable):
            return {"Authorization": f"Bearer {key}"}
    raise CallFailed(f"no API key: {_KEY_ADVICE}")


async def dial(url: str, headers: dict[str, str]) -> ClientConnection:
    """Open the WebSocket; CallFailed when there is no way through, with advice that fits the refusal."""
    parts = urlsplit(url)
    where = f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}"  # a query may hold a key
    try:
        # No limit on the size: a retrieved conversation item carries its whole audio in one message.
        # No compression: on base64 of speech it costs more time than it saves.
        return await connect(url, additional_headers=headers, max_size=None, compression=None, close_timeout=2)
    except InvalidStatus as refusal:
        status = refusal.response.status_code
        advice = _REFUSALS.get(status, _REFUSALS[503] if status >= 500 else "check the URL")
        raise CallFailed(f"{where} refused the call (HTTP {status}): {advice}") from refusal
    except InvalidURI as error:
        raise CallFailed(f"{where} is no WebSocket URL: it should start with wss:// (or ws://)") from error
    except InvalidHandshake as error:
        raise CallFailed(f"{where} did not answer as a WebSocket server: check the URL ({error})") from error
    except TimeoutError as error:
        raise CallFailed(f"{where} did not answer in time: check the network, then call again") from error
    except OSError as error:
        raise CallFailed(f"cannot reach {where}: {error}") from error
