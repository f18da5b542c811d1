"""The hotel front desk's calls. Pacing and lengths are the ones measured live on 10 November 2026."""

from collections.abc import Callable

from simrt.cassette.script import Pacing, Reply, Script, Step, Tool
from simrt.scripts.parts import PICKUP, goodbye, reply, turn

_READY_MS = 200  # 60 ms to session.created and this make a session that is ready 0.26 s after pickup
_REASON = "caller has all they need"


def _lookup(clip: str = "booking") -> list[Step]:
    return [
        turn(clip, PICKUP),
        Reply(tool=Tool("lookup_booking", {"surname": "Okafor", "day": "Friday"})),
        reply("found-booking", on="create"),
        turn("nothing-else", "reply[0].end+600ms"),
    ]


def front_desk(last: str = "goodbye", *, done: bool = True) -> Script:
    """The plain call: booking looked up, anything else, goodbye."""
    return Script([*_lookup(), goodbye(last, _REASON, done=done)], Pacing(ready_ms=_READY_MS))


def talk_over() -> Script:
    """The caller has one more question half a second into the goodbye."""
    steps: list[Step] = [
        *_lookup(),
        goodbye("goodbye", _REASON, answered=True),
        turn("one-more-thing", "reply[1].heard+500ms"),
        reply("breakfast"),
        turn("thats-all", "reply[2].end+600ms"),
        goodbye("goodbye-again", _REASON),
    ]
    return Script(steps, Pacing(ready_ms=_READY_MS))


def late_ready() -> Script:
    """The session is ready ten seconds after pickup; the caller talks on all the while."""
    return Script([*_lookup("long-hello"), goodbye("goodbye", _REASON)], Pacing(ready_ms=9_940))


FRONT_DESK: dict[str, Callable[[], Script]] = {
    "front-desk": front_desk,
    "front-desk-short": lambda: front_desk("goodbye-short"),
    "talk-over": talk_over,
    "late-ready": late_ready,
    "no-done": lambda: front_desk(done=False),
}
