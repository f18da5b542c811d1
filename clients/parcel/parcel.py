"""A parcel service on the phone: where an order is, and cancelling one when the caller has confirmed it."""

import asyncio
import tempfile
from collections import Counter
from collections.abc import Coroutine
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..numbers import numbers
from .book import BookError, Order, OrderBook
from .carrier import Carrier, CarrierError
from .live_desk import Append, Kind, LiveDesk
from .transcript import Turn
from .trial import ParcelTrial
from .voice import Utterance
from .words import Wish, read, says_bye, tells

if TYPE_CHECKING:
    from simrt import Line

KUGEL: dict[str, Any] = {}
TRIES = 5  # how often the caller is told the same
TELL_AGAIN_S = 4.0  # of quiet, in which something that was placed should have been said
PLACE_AGAIN_S = 6.0  # ... and in which it should have been placed, which takes a second
NOT_PLACED = "context_injection_incomplete"
FAREWELL_S = 0.6  # of quiet, after which a goodbye was the end of a turn
HANG_UP_CAP_S = 8.0
_SLACK_MS = 300.0  # the timeline's positions are in steps of 200 ms


@dataclass
class News:
    """That `order` is `status`, which the caller has to hear. `append` told the agent last, for the first time when
    the timeline was at `since_ms`."""

    order: str
    status: str
    append: Append
    since_ms: float
    tries: int = 1
    told: bool = False


class Parcel(LiveDesk):
    """Answers from an order book, and keeps in it what each caller has really been told.

    `book`: an OrderBook or where its file is (default: a file of its own, gone with the desk).
    """

    cassettes: ClassVar[tuple[str, ...]] = (
        "parcel-status",
        "slow-lookup",
        "cancel-yes",
        "cancel-no",
        "cancel-yes-then-no",
        "unattached-dropped",
        "interrupted-result",
        "late-result",
        "unknown-number",
        "verified",
        "one-more",
    )
    progress: ClassVar[Kind] = "thinking"  # of work that is under way: nothing to tell the caller

    instructions = (
        "You answer the phone of a parcel service. Greet the caller first, in one short sentence. Be warm and brief. "
        "Delegate whatever is about an order: where it is, cancelling it, and what the caller answers when asked back. "
        "Say nothing about an order but what you are told; never say an address unless you are told that the caller "
        "may have it. When the caller says goodbye, say goodbye."
    )

    def __init__(
        self,
        line: "Line",
        book: OrderBook | str | Path | None = None,
        carrier: Carrier | None = None,
        *,
        kugel: dict[str, Any] | None = KUGEL,
    ) -> None:
        super().__init__(line, kugel=kugel)
        if book is None:
            self._folder = tempfile.TemporaryDirectory(prefix="parcel-")
            book = Path(self._folder.name) / "book.sqlite"
        self.book = book if isinstance(book, OrderBook) else OrderBook(book)
        self.carrier = carrier or Carrier()
        self.news: list[News] = []
        self.question: tuple[str, Append] | None = None  # the order that may be cancelled
        self._aside = False  # the caller has said something else since: a yes may be about that
        self.last: str | None = None  # the order that was spoken of last
        self._repeated: Counter[str] = Counter()  # what was told again, and how often
        self._writing: dict[asyncio.Task[Any], None] = {}  # must not be broken off by a hang-up

    @classmethod
    def trial(cls, script: str, folder: Path) -> ParcelTrial:
        """For simrt: one run of this desk, with its book in `folder`."""
        return ParcelTrial(cls, script, folder)

    async def run(self) -> None:
        try:
            await super().run()
        finally:
            self.voice.review(self.position_ms, last=True)
            self._note_heard()
            while self._writing:
                await asyncio.wait(self._writing)
            for news in self.news:
                if not news.told:
                    self.line.note(f"untold: order {news.order} is {news.status}, send the caller a message")

    # What is delegated

    async def work(self, delegation_id: str, turn: Turn | None) -> None:
        if turn is None:
            await self.append("thinking", "This is being dealt with already.", delegation_id)
            return
        text = self.words_of(turn)
        try:
            orders = await asyncio.to_thread(self.book.orders)
            (asked, self.question), (aside, self._aside) = (self.question, None), (self._aside, False)
            wish = read(text, [order.number for order in orders], asked and asked[0], self.last)
            self.line.note(f"{delegation_id}: {text.strip()!r}: {wish.kind} {wish.order or wish.said or ''}".rstrip())
            self.last = wish.order or self.last
            if wish.kind == "nothing":
                self.question, self._aside = asked, True
            await self._grant(wish, delegation_id, turn, None if asked is None or aside else asked[1])
        except BookError as error:
            self.line.note(str(error))
            fact = "The order book cannot be used just now. Nothing was changed; the caller may try again later."
            await self.append("commentary", fact, delegation_id)

    def words_of(self, turn: Turn) -> str:
        """What the caller said in a turn that was delegated: all of it."""
        return turn.text

    async def _grant(self, wish: Wish, delegation_id: str, turn: Turn, question: Append | None) -> None:
        if wish.kind in ("bye", "nothing"):
            await self.append("thinking", "There is nothing to be done.", delegation_id)
        elif wish.kind == "unclear":
            what = "The caller was asked nothing that this would answer. They should say what they want."
            await self.append("commentary", what, delegation_id)
        elif wish.order is None:
            what = f"There is no order {wish.said}." if wish.said else "The order's number was not understood."
            await self.append("commentary", f"{what} The caller should say the number again.", delegation_id)
        elif wish.kind == "where":
            await self._look_up(wish.order, delegation_id, turn)
        elif wish.kind == "no":
            order = await self._asked(wish.order, delegation_id)
            await self._tell(order, f"Order {order.number} stays as it is.", delegation_id)
        elif wish.kind == "yes" and question is not None and self.heard(question, wish.order, before=turn):
            await self._asked(wish.order, delegation_id)
            outcome, order = await self._write(self.book.cancel, wish.order, self.words_of(turn).strip())
            self.line.note(f"order {order.number}: {outcome}")
            await self._tell(order, order.facts, delegation_id)
        else:
            await self._asked(wish.order, delegation_id)
            asks = f"Shall I really cancel order {wish.order}?"
            self.question = wish.order, await self.append("commentary", asks, delegation_id, expects_reply=True)

    async def _look_up(self, number: str, delegation_id: str, turn: Turn) -> None:
        order = await asyncio.to_thread(self.book.order, number)
        verified = order.postcode in numbers(self.words_of(turn))
        order = await self._asked(number, delegation_id, verified=verified)
        if verified:
            known = f"The caller has given the postcode of order {number} and may be told its address."
            await self.append("instructions", known, delegation_id)
        if not order.facts:
            await self.append(self.progress, f"The carrier is being asked about order {number}.", delegation_id)
            try:
                report = await self.carrier.look_up(number)
            except CarrierError as error:
                self.line.note(str(error))
                fact = f"The carrier does not say where order {number} is. The caller may try again later."
                await self.append("commentary", fact, delegation_id)
                return
            order = await self._write(self.book.report, number, report.status, report.facts)
        address = f" It goes to {order.address}." if verified else ""
        await self._tell(order, order.facts + address, delegation_id)
        self.spawn(self._announce_news(number))

    async def _announce_news(self, number: str) -> None:
        report = await self.carrier.next_news(number)
        if report is not None:
            order = await self._write(self.book.report, number, report.status, report.facts)
            if order.facts == report.facts:
                await self._tell(order, order.facts, None)

    async def _asked(self, number: str, delegation_id: str, *, verified: bool = False) -> Order:
        asker = f"{self.session_id} {delegation_id}"
        return await asyncio.to_thread(self.book.asked, number, asker, verified=verified)

    async def _tell(self, order: Order, facts: str, delegation_id: str | None) -> None:
        append = await self.append("commentary", facts, delegation_id)
        self.news.append(News(order.number, order.status, append, append.sent_ms))

    # What the caller hears

    def heard(self, append: Append, order: str, *, before: Turn | None = None, since_ms: float | None = None) -> bool:
        """Whether the caller has heard what an append is about. `before`: when this turn of theirs began."""
        since_ms = append.sent_ms if since_ms is None else since_ms
        return any(
            spoken.whole
            and tells(spoken.since(since_ms - _SLACK_MS), order, append.content)
            and (before is None or (spoken.heard_ms or 0) <= before.start_ms + _SLACK_MS)
            for spoken in self.voice.utterances
        )

    def review(self) -> None:
        self._note_heard()
        farewell = self.farewell()
        if farewell is None:
            lost = next((news for news in self.news if self._lost(news)), None)
            if lost is not None:
                self._tell_again(lost, lost.append.delegation_id)
            if self.question is not None and self._due(self.question[1]) and not self.heard(*self.question[::-1]):
                self._repeat(self.question[1])
        elif self.quiet_s() >= HANG_UP_CAP_S:
            self.end(f"no goodbye for {HANG_UP_CAP_S:g} s: hang-up cap hit")
        elif any(self.is_goodbye(spoken, farewell) for spoken in self.voice.utterances):
            owed = [news for news in self.news if self._owed(news)]
            lost = next((news for news in owed if self._lost(news, FAREWELL_S)), None)
            if lost is not None:
                self._tell_again(lost, lost.append.delegation_id)
            elif not owed:
                self.end("the call is finished")

    def _owed(self, news: News) -> bool:
        """Whether the caller should hear this before the call ends: they have not, and it may be told again or may
        still be said."""
        on_its_way = not self._due(news.append, 0)
        return not news.told and news.append.refused is None and (news.tries < TRIES or on_its_way)

    def _lost(self, news: News, quiet_s: float = TELL_AGAIN_S) -> bool:
        return self._due(news.append, quiet_s) and not news.told and news.tries < TRIES

    def _due(self, append: Append, quiet_s: float = TELL_AGAIN_S) -> bool:
        """Whether something should have been said by now, or placed at least: the line has been quiet for `quiet_s`,
        or, where it was not placed, for as long as that takes."""
        waiting_s = (self.position_ms - append.sent_ms) / 1000
        if append.placed_ms is None:
            return append.refused is None and min(self.quiet_s(), waiting_s) >= PLACE_AGAIN_S
        return append.refused is None and waiting_s >= TELL_AGAIN_S and self.quiet_s() >= quiet_s

    def farewell(self) -> Turn | None:
        """The caller's goodbye, if that is the last that they have said."""
        turn = self.transcript.last
        over = turn is not None and (turn.committed or self.caller_quiet_s() >= FAREWELL_S)
        return turn if turn is not None and over and says_bye(turn.text) else None

    def is_goodbye(self, spoken: Utterance, farewell: Turn) -> bool:
        """Whether that is the goodbye which answers the caller's, and it has been heard to its end."""
        since = spoken.start_ms >= farewell.start_ms
        return since and spoken.whole and says_bye(spoken.text) and self.quiet_s() >= FAREWELL_S

    def refused(self, append: Append, param: str | None) -> None:
        for news in self.news:
            if news.append is append and append.delegation_id is not None and param == "delegation_id":
                self._tell_again(news, None)  # the result is left, and the delegation gone
        if param is None and append.refused != NOT_PLACED:
            self._repeat(append)  # nothing is wrong with it

    def _repeat(self, append: Append) -> None:
        """Tell the agent the same again, but not for ever."""
        if self._repeated[append.content] >= TRIES - 1:
            return
        self._repeated[append.content] += 1

        async def tell() -> None:
            of = append.delegation_id
            again = await self.append(append.kind, append.content, of, expects_reply=append.expects_reply)
            for news in self.news:
                news.append = again if news.append is append else news.append
            if self.question is not None and self.question[1] is append:
                self.question = self.question[0], again

        self.spawn(tell())

    def _tell_again(self, news: News, delegation_id: str | None) -> None:
        news.tries += 1

        async def tell() -> None:
            self.line.note(f"order {news.order} is {news.status}: not heard, told again")
            news.append = await self.append("commentary", news.append.content, delegation_id)

        self.spawn(tell())

    def _note_heard(self) -> None:
        for news in self.news:
            if not news.told and self.heard(news.append, news.order, since_ms=news.since_ms):
                news.told = True
                self._keep(self._write_told(news))

    async def _write_told(self, news: News) -> None:
        try:
            await asyncio.to_thread(self.book.told, news.order, news.status)
        except BookError as error:
            self.line.note(f"told, but not written down: {error}")

    async def _write(self, change: Any, *values: str) -> Any:
        """A change of the book, which is made even if the call ends meanwhile."""
        return await asyncio.shield(self._keep(asyncio.to_thread(change, *values)))

    def _keep(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        task = asyncio.create_task(work)
        self._writing[task] = None
        task.add_done_callback(self._writing.pop)
        return task
