"""Call the front desk in real time, as a scripted caller: `python -m clients.call`.

    simrt record wss://api.us.poly.ai/v1/realtime?model=dialog-rsn-1 -- python -m clients.call

The caller asks about a booking at pickup and, once the answer has been heard, needs nothing else. The line's speaker
plays in real time, to nobody.
"""

import argparse
import asyncio
import os
import sys
from urllib.parse import urlsplit

from simrt.caller import Caller, Clock, Ear, Line, Say, fixture_clip, parse_cue

from . import Call, CallFailed, DrainCall, FrontDesk, NaiveCall

CLIENTS: dict[str, type[FrontDesk]] = {client.__name__: client for client in (Call, NaiveCall, DrainCall)}
LONGEST_CALL_S = 120.0  # whoever has not been told goodbye by then hangs up
MODEL = "gpt-realtime"


class PrintedLine(Line):
    """A line whose notes also go to the terminal, as they come."""

    def note(self, message: str) -> None:
        """Keep the message and print it with its time since pickup."""
        super().note(message)
        print(f"{self.notes[-1].t_us / 1e6:7.2f} s  {message}", flush=True)


def realtime_url() -> str | None:
    """Where the environment says the Realtime API is: DIALOG_REALTIME_URL, or what OPENAI_BASE_URL leads to."""
    if url := os.environ.get("DIALOG_REALTIME_URL"):
        return url
    base = os.environ.get("OPENAI_BASE_URL")
    if not base:
        return None
    parts = urlsplit(base)
    scheme = {"http": "ws", "https": "wss"}.get(parts.scheme, parts.scheme)
    path = f"{parts.path.rstrip('/')}/realtime"
    return parts._replace(scheme=scheme, path=path, query=parts.query or f"model={MODEL}").geturl()


async def call(client: type[FrontDesk], url: str) -> None:
    """One call, from pickup to hang-up."""
    # Nothing tells the ear of a real line where a reply ends: the caller speaks when it has been quiet for a while.
    says = [
        Say(fixture_clip("booking"), parse_cue("pickup+0ms")),
        Say(fixture_clip("nothing-else"), parse_cue("line.quiet+800ms")),
    ]
    loop = asyncio.get_running_loop()
    line = PrintedLine.on(Clock(loop), url)  # from here on the call is picked up
    Caller(says, line, Ear(line.speaker)).start()
    timer = loop.call_later(LONGEST_CALL_S, line.cut, "caller")
    try:
        await client(line).run()
    finally:
        timer.cancel()


def main() -> int:
    """The command; its exit status."""
    parser = argparse.ArgumentParser(prog="python -m clients.call", description="Call the hotel's front desk.")
    parser.add_argument(
        "--url", default=realtime_url(), help="WebSocket URL (default: $DIALOG_REALTIME_URL, or $OPENAI_BASE_URL)"
    )
    parser.add_argument("--client", choices=list(CLIENTS), default="Call", help="who takes the call")
    options = parser.parse_args()
    if not options.url:
        parser.error("where to? Give --url wss://…, or set DIALOG_REALTIME_URL or OPENAI_BASE_URL")
    try:
        asyncio.run(call(CLIENTS[options.client], options.url))
    except CallFailed as failure:
        print(f"{parser.prog}: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
