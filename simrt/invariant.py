"""What must hold of the user's own store, whatever happens in a call: no order paid twice, nobody charged untold.

An invariant is a function that returns messages, one for each thing that is wrong; none, or None, is well. It may also
be written with `assert`. One runs when the call is over, and gets the CallResult:

    def books_agree(result: CallResult) -> list[str]:
        return mismatches(ledger.rows(), provider.payments, result)

One marked with `always` runs at every step as well (after each frame of either side but audio and text in pieces, at
that very moment of the call), and gets the `Step`:

    @always
    def paid_once(step: Step) -> Iterator[str]:
        if len(provider.paid) > 1:
            yield f"paid {len(provider.paid)} times"
"""

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar

import msgspec

from simrt.errors import CallError
from simrt.trace import Frame, parse_event

if TYPE_CHECKING:
    from simrt.result import CallResult


class Step(msgspec.Struct, frozen=True):
    """A moment of a call: `event` of `sender` has just crossed. Times are ms from pickup.

    At the end of the call there is a last one, with the sender "end" and an empty event.
    """

    t_ms: float
    sender: Literal["client", "server", "end"]
    event: dict[str, Any] = {}


class Broken(msgspec.Struct, frozen=True):
    """An invariant that did not hold. `connection` and `frame` (its index there): after which frame that was seen
    first; None: at the end of the call."""

    invariant: str
    message: str
    t_ms: float
    connection: int = 0
    frame: int | None = None


Messages = Iterable[str] | None
Invariant = Callable[["CallResult"], Messages] | Callable[[Step], Messages]
_Check = TypeVar("_Check", bound=Callable[[Step], Messages])


def always(check: _Check) -> _Check:
    """Mark an invariant that shall hold at every step, not at the end alone."""
    check.__simrt_always__ = True  # type: ignore[attr-defined]
    return check


def name_of(invariant: Any) -> str:
    """What a report calls an invariant: its function's name."""
    return str(getattr(invariant, "__name__", None) or type(invariant).__name__).strip("<>")


def _asked(invariant: Any, about: "CallResult | Step") -> list[str]:
    """The messages of one invariant. CallError: it raised something else than AssertionError."""
    try:
        found = invariant(about)
        return [found] if isinstance(found, str) else [str(message) for message in found or ()]
    except AssertionError as error:
        return [str(error) or "it does not hold"]
    except Exception as error:
        what = f"{type(error).__name__}: {error}".removesuffix(": ")
        raise CallError(f"the invariant {name_of(invariant)} raised {what}; it should return messages") from error


class Watch:
    """Asks the invariants of one call, and keeps what did not hold: each message once, from when it was first seen."""

    def __init__(self, invariants: Sequence[Invariant] = ()) -> None:
        self.broken: list[Broken] = []
        self.error: CallError | None = None
        self.steps = [invariant for invariant in invariants if getattr(invariant, "__simrt_always__", False)]
        self._ends = [invariant for invariant in invariants if invariant not in self.steps]
        self._seen: set[tuple[int, str]] = set()

    def frame(self, frame: Frame, opened_us: int, connection: int, index: int) -> None:
        """A frame has crossed."""
        if self.error is not None or (isinstance(frame.payload, str) and _is_piece(frame.payload)):
            return
        t_ms = (opened_us + frame.t_us) / 1000
        step = Step(t_ms, frame.sender, parse_event(frame.payload) or {})
        self._ask(self.steps, step, t_ms, connection, index)

    def end(self, result: "CallResult") -> None:
        """The call is over."""
        if self.error is None:
            self._ask(self.steps, Step(result.virtual_ms, "end"), result.virtual_ms, 0, None)
            self._ask(self._ends, result, result.virtual_ms, 0, None)

    def _ask(
        self, some: Sequence[Invariant], about: "CallResult | Step", t_ms: float, connection: int, frame: int | None
    ) -> None:
        for invariant in some:
            try:
                messages = _asked(invariant, about)
            except CallError as error:  # not out of the network's own callback
                self.error = error
                return
            for message in messages:
                if (id(invariant), message) not in self._seen:
                    self._seen.add((id(invariant), message))
                    self.broken.append(Broken(name_of(invariant), message, t_ms, connection, frame))


def ask(invariants: Sequence[Invariant], result: "CallResult") -> list[Broken]:
    """What does not hold at the end of a call that is over. CallError: an invariant raised."""
    watch = Watch(invariants)
    watch.end(result)
    if watch.error is not None:
        raise watch.error
    return watch.broken


def _is_piece(payload: str) -> bool:
    """Audio or text in pieces; its type stands near the beginning, whoever wrote it."""
    head = payload[:200]
    return '.delta"' in head or '"input_audio_buffer.append"' in head or '"session.input_audio.append"' in head
