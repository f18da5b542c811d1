"""simrt: record one realtime voice call, replay it in virtual time, judge it by what the caller heard."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from simrt.audio import ALAW8, PCM24, ULAW8, AudioFormat
    from simrt.call import run_call
    from simrt.caller import Clip, Line, Say, fixture_clip, load_clip, parse_cue
    from simrt.cassette.store import Cassette, load
    from simrt.errors import CallError, SimrtError
    from simrt.result import CallResult
    from simrt.world import World

_HOMES = {
    "ALAW8": "simrt.audio",
    "PCM24": "simrt.audio",
    "ULAW8": "simrt.audio",
    "AudioFormat": "simrt.audio",
    "run_call": "simrt.call",
    "Clip": "simrt.caller",
    "Line": "simrt.caller",
    "Say": "simrt.caller",
    "fixture_clip": "simrt.caller",
    "load_clip": "simrt.caller",
    "parse_cue": "simrt.caller",
    "Cassette": "simrt.cassette.store",
    "load": "simrt.cassette.store",
    "CallError": "simrt.errors",
    "SimrtError": "simrt.errors",
    "CallResult": "simrt.result",
    "World": "simrt.world",
}

__all__ = [
    "ALAW8",
    "PCM24",
    "ULAW8",
    "AudioFormat",
    "CallError",
    "CallResult",
    "Cassette",
    "Clip",
    "Line",
    "Say",
    "SimrtError",
    "World",
    "fixture_clip",
    "load",
    "load_clip",
    "parse_cue",
    "run_call",
]


def __getattr__(name: str) -> Any:
    """Load public names when they are first used, so that `simrt --help` answers at once."""
    import importlib

    if name in ("checks", "faults", "shipped"):
        return importlib.import_module(f"simrt.{name}")
    if name not in _HOMES:
        raise AttributeError(f"module 'simrt' has no attribute {name!r}")
    return getattr(importlib.import_module(_HOMES[name]), name)
