"""The refund desk's calls: what the caller does while a refund is under way. Lengths and lags as measured live."""

from collections.abc import Callable

from simrt.caller.clip import fixture_clip
from simrt.cassette.script import Pacing, Reply, Script, Step, Tool
from simrt.scripts.parts import PICKUP, goodbye, patience, reply, turn

_READY_MS = 600  # median of 20 calls: ready 0.66 s after pickup
_TOOL_MS = 120  # the holding line's audio is this far behind the call's arguments
_PATIENCE_S = 15
_VISA, _MASTERCARD = "4242", "8812"


def _refund(clip: str, card: str) -> Reply:
    """The call of the tool: its holding line is spoken while the refund is under way."""
    arguments = {"order_id": "4417", "card_last4": card, "say_while_working": fixture_clip(clip).text}
    return reply(clip, tool=Tool("issue_refund", arguments, spoken="say_while_working"))


def _call(*middle: Step, last: int, request: str = "refund-request") -> Script:
    """From the request to the goodbye that follows reply `last`; a caller who hears nothing more gives up."""
    steps: list[Step] = [
        turn(request, PICKUP),
        _refund("hold-visa", _VISA),
        *middle,
        turn("thanks-bye", f"reply[{last}].end+600ms"),
        goodbye("refund-goodbye", "the refund is dealt with"),
        patience(_PATIENCE_S),
    ]
    return Script(steps, Pacing(ready_ms=_READY_MS, tool_ms=-_TOOL_MS))


def plain(confirmation: str = "refunded-visa", request: str = "refund-request") -> Script:
    """Nobody interrupts anybody."""
    return _call(reply(confirmation, "create"), last=1, request=request)


def mm_hmm() -> Script:
    """A soft "mm-hmm" into the holding line: the server takes no notice."""
    soft = turn("mm-hmm", "reply[0].heard+800ms", "unheard")
    return _call(soft, reply("refunded-visa", "create"), last=1)


def mm_hmm_confirmation() -> Script:
    """The same, into the confirmation."""
    soft = turn("mm-hmm", "reply[1].heard+1200ms", "unheard")
    return _call(reply("refunded-visa", "create"), soft, last=1)


def mm_hmm_gap() -> Script:
    """An "mm-hmm" right after the line, before the refund is made, is a turn; the one reply after it confirms."""
    return _call(turn("mm-hmm", "reply[0].end+50ms"), reply("refunded-visa"), last=1)


def tv() -> Script:
    """A newsreader in the background: no barge-in, but transcribed as the caller's turn."""
    news = turn("news", "reply[0].heard+800ms", "background")
    return _call(news, reply("refunded-visa", "create"), last=1)


def wrong_card() -> Script:
    """The caller changes the card half a second into the holding line."""
    return _call(
        turn("wrong-card", "reply[0].heard+500ms"),
        _refund("hold-mastercard", _MASTERCARD),
        reply("refunded-mastercard", "create"),
        last=2,
    )


def did_it_go_through() -> Script:
    """The caller asks while the refund runs; the answer to that must not be the last word."""
    return _call(
        turn("did-it-go-through", "reply[0].heard+800ms"),
        reply("still-processing"),
        reply("its-through", "create"),
        last=2,
    )


def missed_confirmation(heard_ms: int = 1200) -> Script:
    """The caller talks over the confirmation; what they did not hear must be said again."""
    return _call(
        reply("refunded-visa", "create"),
        turn("how-long", f"reply[1].heard+{heard_ms}ms"),
        reply("how-long-answer"),
        reply("reminder-visa", "create", reminded=True),
        last=3,
    )


def repeat_call() -> Script:
    """The model calls the tool again for the same order."""
    return _call(
        reply("refunded-visa", "create"),
        turn("refund-again", "reply[1].end+600ms"),
        _refund("hold-visa", _VISA),
        reply("already-refunded", "create"),
        last=3,
    )


def hangs_up_untold() -> Script:
    """The caller leaves before the confirmation."""
    steps: list[Step] = [
        turn("refund-request", PICKUP),
        _refund("hold-visa", _VISA),
        turn("whatever-hang-up", "reply[0].heard+1000ms", "unheard", leave=True),
    ]
    return Script(steps, Pacing(ready_ms=_READY_MS, tool_ms=-_TOOL_MS))


REFUND: dict[str, Callable[[], Script]] = {
    "refund": plain,
    "mm-hmm": mm_hmm,
    "mm-hmm-confirmation": mm_hmm_confirmation,
    "mm-hmm-gap": mm_hmm_gap,
    "tv": tv,
    "wrong-card": wrong_card,
    "did-it-go-through": did_it_go_through,
    "missed-confirmation": missed_confirmation,
    "missed-card": lambda: missed_confirmation(2600),  # the card has been sent, and is not heard
    "provider-down": lambda: plain("provider-down"),
    "repeat-call": repeat_call,
    "calls-back-tomorrow": lambda: plain("already-refunded-earlier", "refund-again"),
    "hangs-up-untold": hangs_up_untold,
}
