"""The zoo's calls: short ones, with nothing in them but what the bugs need."""

import filecmp
import os
import tempfile
from collections.abc import Callable
from functools import cache
from pathlib import Path

from simrt.caller.clip import fixture_clip
from simrt.cassette.header import Header
from simrt.cassette.script import Reply, Script, Step, Tool, Turn
from simrt.cassette.store import Cassette, save
from simrt.scripts.parts import PICKUP, goodbye, patience, reply, turn
from simrt.trace import Trace

FOLDER = Path(__file__).parents[2] / "build" / "zoo"
"""Where the calls are written as cassettes; no part of the repository."""

_REASON = "caller has all they need"
_LOOKUP = Tool("lookup_booking", {"surname": "Okafor", "day": "Friday"})


def _call(*steps: Step) -> Script:
    """A caller who hears nothing for long hangs up."""
    return Script([*steps, patience(20)])


def _asks() -> Turn:
    return turn("did-it-go-through", PICKUP)


def _thats_all(last: int) -> list[Step]:
    """The caller is content with reply `last`, and the agent says goodbye with its tool."""
    return [turn("thats-all", f"reply[{last}].end+600ms"), goodbye("goodbye-short", _REASON)]


def farewell() -> Script:
    """The caller wants nothing, and the agent says goodbye with its tool."""
    return _call(turn("thats-all", PICKUP), goodbye("goodbye-short", _REASON))


def follow_up() -> Script:
    """The goodbye is the reply to the output of the tool that ends the call."""
    ends = Reply(tool=Tool("end_call", {"goodbye": "", "reason": _REASON}))
    return _call(turn("thats-all", PICKUP), ends, reply("goodbye-short", "create"))


def answer() -> Script:
    """A question, its answer, goodbye."""
    return _call(_asks(), reply("its-through"), *_thats_all(0))


def lookup() -> Script:
    """The answer takes a tool."""
    return _call(_asks(), Reply(tool=_LOOKUP), reply("its-through", "create"), *_thats_all(0))


def pushed() -> Script:
    """The agent plays for time; the client tells it of what has come up, and it says that."""
    said = reply("its-through", "create", reminded=True)
    return _call(_asks(), reply("still-processing"), said, *_thats_all(1))


def cut_in() -> Script:
    """The caller cuts in a second and a half into the answer: it is enough."""
    cuts_in = turn("thats-all", "reply[0].heard+1500ms")
    return _call(_asks(), reply("its-through"), cuts_in, goodbye("goodbye-short", _REASON))


def goes_on() -> Script:
    """The caller speaks again just as the answer begins."""
    goes_on = turn("hang-on", "turn[0].end+900ms")
    return _call(_asks(), reply("its-through"), goes_on, reply("take-your-time"), *_thats_all(1))


def long() -> Script:
    """Longer than a ping and the wait for its pong, with pauses."""
    return _call(
        _asks(),
        reply("its-through"),
        turn("how-long", "reply[0].end+14s"),
        reply("how-long-answer"),
        turn("hang-on", "reply[1].end+9s"),
        reply("found-booking"),
        *_thats_all(2),
    )


def _refund(card: str = "4242") -> Reply:
    line = fixture_clip("hold-visa").text
    arguments = {"order_id": "4417", "card_last4": card, "say_while_working": line}
    return reply("hold-visa", tool=Tool("issue_refund", arguments, spoken="say_while_working"))


def _refund_goodbye(last: int) -> list[Step]:
    return [turn("thats-all", f"reply[{last}].end+600ms"), goodbye("refund-goodbye", "the refund is dealt with")]


def refund_twice() -> Script:
    """The model calls the refund's tool twice for one order."""
    return _call(
        turn("yes-please", PICKUP),
        _refund(),
        reply("refunded-visa", "create"),
        turn("mm-hmm", "reply[1].end+600ms"),
        _refund(),
        reply("already-refunded", "create"),
        *_refund_goodbye(3),
    )


def refund_missed() -> Script:
    """The caller talks over the confirmation before its card is heard; it was sent already."""
    return _call(
        turn("yes-please", PICKUP),
        _refund(),
        reply("refunded-visa", "create"),
        turn("hang-on", "reply[1].heard+3200ms"),
        reply("all-right"),
        reply("reminder-visa", "create", reminded=True),
        *_refund_goodbye(3),
    )


def refund_asked() -> Script:
    """The caller asks while the refund is under way; the answer to that is not the last word."""
    return _call(
        turn("yes-please", PICKUP),
        _refund(),
        turn("did-it-go-through", "reply[0].heard+800ms"),
        reply("still-processing"),
        reply("its-through", "create"),
        *_refund_goodbye(2),
    )


def _leaves(last: int) -> Turn:
    return turn("thats-all", f"reply[{last}].end+600ms", leave=True)


def looked_up() -> Script:
    """The answer takes a tool, and when they have heard it the caller hangs up."""
    return _call(_asks(), Reply(tool=_LOOKUP), reply("its-through", "create"), _leaves(0))


def holding() -> Script:
    """The same, and the agent says that it looks."""
    return _call(_asks(), reply("let-me-check", tool=_LOOKUP), reply("its-through", "create"), _leaves(1))


def takes_a_breath() -> Script:
    """The caller begins to speak a second after pickup, when most sessions are ready."""
    return _call(turn("did-it-go-through", "pickup+1000ms"), reply("its-through"), *_thats_all(0))


SCRIPTS: dict[str, Callable[[], Script]] = {
    "farewell": farewell,
    "follow-up": follow_up,
    "answer": answer,
    "lookup": lookup,
    "pushed": pushed,
    "cut-in": cut_in,
    "goes-on": goes_on,
    "long": long,
    "refund-twice": refund_twice,
    "refund-missed": refund_missed,
    "refund-asked": refund_asked,
    "takes-a-breath": takes_a_breath,
    "looked-up": looked_up,
    "holding": holding,
}


@cache
def cassette(name: str) -> str:
    """What to call a cassette in a Job: the path of one of the zoo's, which is written, or a shipped name.

    The path counts from the current directory, so that a search draws the same plans wherever the repository lies.
    """
    if name not in SCRIPTS:
        return name
    script = SCRIPTS[name]()
    header = Header(how="authored", origin=f"tests.zoo.scripts: {name}")
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=FOLDER, prefix=".new-") as folder:
        made, place = Path(folder) / name, FOLDER / name
        save(Cassette(header, Trace(), script), made)
        if not _same(made, place):
            save(Cassette(header, Trace(), script), place, overwrite=True)
    return os.path.relpath(place)


def _same(made: Path, place: Path) -> bool:
    names = [path.name for path in made.iterdir()]
    return place.is_dir() and filecmp.cmpfiles(made, place, names, shallow=False)[0] == names
