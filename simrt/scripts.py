"""The authored calls that come with simrt: what the stand-in front desk says, and when its caller speaks.

Served in real time they are the stand-in that cassettes are recorded from; replayed as they are they are cassettes of
their own. Pacing and lengths are the ones measured live on 10 November 2026.
"""

from collections.abc import Callable
from typing import Literal

from simrt.caller.clip import fixture_clip
from simrt.cassette.header import Header
from simrt.cassette.script import Pacing, Reply, Script, Step, Tool, Turn
from simrt.cassette.store import Cassette
from simrt.trace import Trace

_READY_MS = 200  # 60 ms to session.created and this make a session that is ready 0.26 s after pickup
_PICKUP = "pickup+0ms"


def _turn(clip: str, cue: str) -> Turn:
    said = fixture_clip(clip)
    return Turn(said.text, cue, list(said.words), said.samples, clip)


def _reply(clip: str, on: Literal["turn", "create"] = "turn", tool: Tool | None = None, done: bool = True) -> Reply:
    said = fixture_clip(clip)
    return Reply(on, said.text, list(said.words), said.samples, tool, done)


def _goodbye(clip: str, *, answered: bool = False, done: bool = True) -> Reply:
    """The last words are the tool's argument, spoken in the response that makes the call (`poly_spoken`)."""
    arguments = {"goodbye": fixture_clip(clip).text, "reason": "caller has all they need"}
    return _reply(clip, tool=Tool("end_call", arguments, spoken="goodbye", answered=answered), done=done)


def _lookup() -> list[Step]:
    return [
        _turn("booking", _PICKUP),
        Reply(tool=Tool("lookup_booking", {"surname": "Okafor", "day": "Friday"})),
        _reply("found-booking", on="create"),
    ]


def front_desk(goodbye: str = "goodbye", *, done: bool = True, ready_ms: int = _READY_MS) -> Script:
    """The plain call: booking looked up, anything else, goodbye."""
    steps: list[Step] = [*_lookup(), _turn("nothing-else", "reply[0].end+600ms"), _goodbye(goodbye, done=done)]
    return Script(steps, Pacing(ready_ms=ready_ms))


def talk_over() -> Script:
    """The caller has one more question half a second into the goodbye."""
    steps: list[Step] = [
        *_lookup(),
        _turn("nothing-else", "reply[0].end+600ms"),
        _goodbye("goodbye", answered=True),
        _turn("one-more-thing", "reply[1].heard+500ms"),
        _reply("breakfast"),
        _turn("thats-all", "reply[2].end+600ms"),
        _goodbye("goodbye-again"),
    ]
    return Script(steps, Pacing(ready_ms=_READY_MS))


def late_ready() -> Script:
    """The session is ready ten seconds after pickup; the caller talks on all the while."""
    steps: list[Step] = [
        _turn("long-hello", _PICKUP),
        Reply(tool=Tool("lookup_booking", {"surname": "Okafor", "day": "Friday"})),
        _reply("found-booking", on="create"),
        _turn("nothing-else", "reply[0].end+600ms"),
        _goodbye("goodbye"),
    ]
    return Script(steps, Pacing(ready_ms=9_940))


PROFILE = "polyai"

SCRIPTS: dict[str, Callable[[], Script]] = {
    "front-desk": front_desk,
    "front-desk-short": lambda: front_desk("goodbye-short"),
    "talk-over": talk_over,
    "late-ready": late_ready,
    "no-done": lambda: front_desk(done=False),
}


def authored(name: str) -> Cassette:
    """The script of that name as an authored cassette, in memory."""
    header = Header(profile=PROFILE, how="authored", origin=f"simrt.scripts: {name}", created="2026-11-30T00:00:00Z")
    return Cassette(header, Trace(), SCRIPTS[name]())
