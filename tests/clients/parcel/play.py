"""One script, one parcel service, one order book: what came of the call and of the book."""

from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from clients.parcel import Order, OrderBook, Parcel, book_table, mismatches
from clients.parcel.parcel import KUGEL
from simrt import CallResult, Line, run_call
from simrt.scripts import authored
from simrt.trace import Frame


class Play(NamedTuple):
    """A call, and what the book holds after it."""

    result: CallResult
    orders: list[Order]

    @property
    def asked(self) -> list[Order]:
        """The orders that somebody asked for."""
        return [order for order in self.orders if order.asked_by]

    @property
    def mismatches(self) -> list[str]:
        return mismatches(self.orders, self.result)

    @property
    def heard(self) -> list[str]:
        """What was heard of each thing that the agent said."""
        return [reply.heard_text for reply in self.result.replies]

    @property
    def reviewed(self) -> tuple[CallResult, dict[str, Any]]:
        """For a snapshot: what was said, heard and delegated, and the book beside it."""
        return self.result, {"book": book_table(self.orders), "mismatches": self.mismatches}

    def sent(self, kind: str) -> list[dict[str, Any]]:
        """The client's events of one type."""
        events = (frame.event() or {} for frame in self.result.trace.sent_by("client"))
        return [event for event in events if event.get("type") == kind]

    def got(self, kind: str) -> list[float]:
        """When the server sent each event of a type, in ms from pickup."""
        return self._when(self.result.trace.sent_by("server"), kind)

    def sent_ms(self, kind: str) -> list[float]:
        """When the client did."""
        return self._when(self.result.trace.sent_by("client"), kind)

    def _when(self, frames: Iterable[Frame], kind: str) -> list[float]:
        opened = self.result.opened_ms[0]
        return [opened + frame.t_us / 1000 for frame in frames if (frame.event() or {}).get("type") == kind]


def play(
    folder: Path,
    cassette: Any,
    desk: type[Parcel] = Parcel,
    faults: Sequence[str] = (),
    *,
    kugel: dict[str, Any] | None = KUGEL,
    **options: Any,
) -> Play:
    """A call on the book in `folder`; `cassette` may be the name of a script."""
    book = OrderBook(folder / "book.sqlite")

    async def client(line: Line) -> None:
        await desk(line, book, kugel=kugel).run()

    scripted = authored(cassette) if isinstance(cassette, str) else cassette
    return Play(run_call(client, scripted, list(faults), **options), book.orders())


@cache
def right(script: str, mode: str = "kugel") -> Play:
    """The right one's call by a script; `mode` "plain" leaves `session.kugel` out. Made once, for all tests."""
    with TemporaryDirectory() as folder:
        return play(Path(folder), script, kugel=KUGEL if mode == "kugel" else None)
