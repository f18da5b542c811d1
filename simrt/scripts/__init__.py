"""The authored calls that come with simrt: what the stand-in says, and when its caller speaks.

Served in real time they are the stand-in that cassettes are recorded from; replayed as they are they are cassettes of
their own.
"""

from collections.abc import Callable

from simrt.cassette.header import Header
from simrt.cassette.script import Script
from simrt.cassette.store import Cassette
from simrt.scripts.front_desk import FRONT_DESK
from simrt.scripts.refund import REFUND
from simrt.trace import Trace

__all__ = ["PROFILE", "SCRIPTS", "authored"]

PROFILE = "polyai"

SCRIPTS: dict[str, Callable[[], Script]] = {**FRONT_DESK, **REFUND}


def authored(name: str) -> Cassette:
    """The script of that name as an authored cassette, in memory."""
    header = Header(profile=PROFILE, how="authored", origin=f"simrt.scripts: {name}", created="2026-11-30T00:00:00Z")
    return Cassette(header, Trace(), SCRIPTS[name]())
