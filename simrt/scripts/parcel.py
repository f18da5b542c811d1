"""The parcel service's calls, on a Live session: what is delegated, what comes back, and what comes between."""

from collections.abc import Callable

from simrt.cassette.script import Delegate, Pacing, Reply, Script, Step, Turn
from simrt.scripts.parts import patience, reply, turn

_PATIENCE_S = 15
_READY_MS = 450  # as in the published log
_BYE = "thanks-bye"


def _call(*steps: Step) -> Script:
    """The agent greets first; a caller who hears nothing for long gives up."""
    whole: list[Step] = [reply("parcel-greeting", "start"), *steps, patience(_PATIENCE_S)]
    return Script(whole, Pacing(ready_ms=_READY_MS), dialect="live")


def _after(clip: str, number: int, ms: int = 500) -> Turn:
    """The caller says a clip when reply `number` has been heard."""
    return turn(clip, f"reply[{number}].end+{ms}ms")


def _into(clip: str, number: int, ms: int) -> Turn:
    """The caller says a clip when so much of reply `number` has been heard."""
    return turn(clip, f"reply[{number}].heard+{ms}ms")


def _result(clip: str, content: str = "") -> Reply:
    """The agent tells what the client says in a commentary."""
    return reply(clip, "commentary", content=content)


def _bye(last: int) -> list[Step]:
    """The caller says goodbye after reply `last`, and the agent does."""
    return [_after(_BYE, last), reply("parcel-goodbye")]


def _delegated(said: Turn, holding: str = "") -> list[Step]:
    return [said, Delegate(), *([reply(holding)] if holding else [])]


def parcel_status() -> Script:
    """Where is it? The number comes in words."""
    return _call(*_delegated(_after("parcel-where", 0)), _result("status-4711"), *_bye(1))


def unknown_number() -> Script:
    """The number is none; the caller says it again."""
    asked = "There is no order 4777. The caller should say the number again."
    return _call(
        *_delegated(_after("parcel-where-unknown", 0)),
        _result("order-not-found", asked),
        *_delegated(_after("parcel-again", 1)),
        _result("status-4711"),
        *_bye(2),
    )


def slow_lookup() -> Script:
    """The answer takes five seconds; the caller is silent."""
    slow = _delegated(_after("parcel-where-slow", 0), "let-me-check")
    return _call(*slow, _result("status-4712"), *_bye(2))


def late_result() -> Script:
    """The caller talks over the holding line; the result must come all the same."""
    return _call(
        *_delegated(_after("parcel-where-slow", 0), "let-me-check"),
        _into("still-there", 1, 100),
        reply("still-looking"),
        _result("status-4712"),
        *_bye(3),
    )


def interrupted_result() -> Script:
    """The caller talks over the result, which is then to be told again."""
    return _call(
        *_delegated(_after("parcel-where", 0)),
        _result("status-4711"),
        _into("hang-on", 1, 900),
        reply("take-your-time"),
        _result("status-4711"),
        *_bye(3),
    )


def cancel(answer: str, result: str) -> Script:
    """The caller wants to cancel, is asked back, and answers."""
    return _call(
        *_delegated(_after("parcel-cancel", 0)),
        _result("shall-i-cancel"),
        *_delegated(_after(answer, 1)),
        _result(result),
        *_bye(2),
    )


def unattached_dropped() -> Script:
    """Something happens to the order while the caller talks: the agent drops what it was told, and is told again."""
    return _call(
        *_delegated(_after("parcel-where-update", 0)),
        _result("status-4713"),
        _after("ill-be-home", 1),
        reply("all-right"),
        _result("update-4713"),
        *_bye(3),
    )


def verified() -> Script:
    """The caller gives the postcode and may be told the address."""
    return _call(*_delegated(_after("parcel-postcode", 0)), _result("address-4711"), *_bye(1))


def one_more() -> Script:
    """The caller talks over the goodbye: there is one more order."""
    return _call(
        *_delegated(_after("parcel-where", 0)),
        _result("status-4711"),
        *_bye(1),
        *_delegated(_into("parcel-one-more", 2, 100), "let-me-check"),
        _result("status-4712"),
        *_bye(4),
    )


PARCEL: dict[str, Callable[[], Script]] = {
    "parcel-status": parcel_status,
    "slow-lookup": slow_lookup,
    "cancel-yes": lambda: cancel("yes-please", "cancelled-4711"),
    "cancel-no": lambda: cancel("no-leave-it", "kept-4711"),
    "cancel-yes-then-no": lambda: cancel("yes-but-no", "kept-4711"),
    "unattached-dropped": unattached_dropped,
    "interrupted-result": interrupted_result,
    "late-result": late_result,
    "unknown-number": unknown_number,
    "verified": verified,
    "one-more": one_more,
}
