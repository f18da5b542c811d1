"""The authored calls that come with simrt: what the stand-in says, and when its caller speaks.

Served in real time they are the stand-in that cassettes are recorded from; replayed as they are they are cassettes of
their own.
"""

from collections.abc import Callable

from simrt.cassette.header import Header
from simrt.cassette.script import Script
from simrt.cassette.store import Cassette
from simrt.scripts.front_desk import FRONT_DESK
from simrt.scripts.parcel import PARCEL
from simrt.scripts.refund import REFUND
from simrt.trace import Trace

__all__ = ["PROFILE", "SCRIPTS", "authored", "profile_of"]

PROFILE = "polyai"
_LIVE_PROFILE = "kugel"

SCRIPTS: dict[str, Callable[[], Script]] = {**FRONT_DESK, **REFUND, **PARCEL}


def profile_of(script: Script) -> str:
    """Whose habits the stand-in has when it plays a script."""
    return _LIVE_PROFILE if script.dialect == "live" else PROFILE


def authored(name: str) -> Cassette:
    """The script of that name as an authored cassette, in memory."""
    script, origin = SCRIPTS[name](), f"simrt.scripts: {name}"
    header = Header(profile=profile_of(script), how="authored", origin=origin, created="2026-11-30T00:00:00Z")
    header.dialect = script.dialect
    return Cassette(header, Trace(), script)
