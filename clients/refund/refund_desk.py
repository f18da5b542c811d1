"""The refund desk of Copperline Kitchen Supply: one refund an order, and the caller has heard of it."""

import asyncio
import tempfile
from collections.abc import Coroutine
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from ..desk import GoodbyeDesk, Output, Tool, ToolCall, ToolError
from . import notes
from .digits import names_card
from .hearing import heard_text
from .ledger import Ledger, LedgerError, Row
from .provider import Cancelled, Provider, ProviderError
from .store import Order, dollars, find_card, find_order
from .trial import RefundTrial

if TYPE_CHECKING:
    from simrt import Line

_SUBMISSIONS = 3


@dataclass
class Reply:
    """A response of the model's, in the order of being started."""

    number: int
    response_id: str
    texts: dict[tuple[str, int], str] = field(default_factory=dict)  # by item and content index
    calls: list[str] = field(default_factory=list)  # names of the tools that it calls
    done: bool = False

    @property
    def text(self) -> str:
        return " ".join(self.texts.values())

    @property
    def is_holding_line(self) -> bool:
        """Whether it is spoken while a refund is under way: whatever it names, nothing has been done yet."""
        return "issue_refund" in self.calls


@dataclass
class News:
    """A refund that was made and that the caller has to hear of. Replies from number `since` on know of it."""

    call_id: str
    row: Row
    since: int | None = None
    told: bool = False
    reminders: int = 0
    reminded_after: int = -1


class RefundDesk(GoodbyeDesk):
    """Refunds an order to one of its cards, and does not rest until the caller has heard to which.

    `ledger`: a Ledger or where its file is (default: a file of its own, gone with the desk). `run` returns when the
    line is hung up *and* the refunds that are under way are dealt with.
    """

    ledger_type: ClassVar[type[Ledger]] = Ledger
    cassettes: ClassVar[tuple[str, ...]] = (
        "refund",
        "wrong-card",
        "did-it-go-through",
        "missed-confirmation",
        "missed-card",
        "mm-hmm",
        "mm-hmm-confirmation",
        "mm-hmm-gap",
        "tv",
        "repeat-call",
        "provider-down",
        "calls-back-tomorrow",
        "hangs-up-untold",
    )

    instructions = (
        "You answer the phone at Copperline Kitchen Supply and refund orders. Be warm and brief: one or two short "
        "sentences. Ask for the order number and the last four digits of the card if you lack them, then call "
        "issue_refund; its say_while_working is spoken to the caller while the refund is being made. Nothing is done "
        "until its output says so: then tell the caller, and name the card by its last four digits. If they want "
        "another card, call issue_refund again. When the caller needs nothing more, call end_call: its goodbye is "
        "spoken to the caller, so do not say goodbye in any other way."
    )

    def __init__(
        self, line: "Line", ledger: Ledger | str | Path | None = None, provider: Provider | None = None
    ) -> None:
        if ledger is None:
            self._folder = tempfile.TemporaryDirectory(prefix="copperline-")
            ledger = Path(self._folder.name) / "ledger.sqlite"
        self.ledger = ledger if isinstance(ledger, Ledger) else self.ledger_type(ledger)
        self.provider = provider or Provider()
        self.pickup = datetime.now()
        self.replies: list[Reply] = []
        self.news: dict[str, News] = {}  # by order
        self._refunding = 0
        self._caller_has_turn = False
        self._unfinished: dict[asyncio.Task[Any], None] = {}  # must not be broken off by a hang-up
        super().__init__(line)

    @classmethod
    def trial(cls, script: str, folder: Path) -> RefundTrial:
        """For `simrt measure`: one run of this desk, with its files in `folder`."""
        return RefundTrial(cls, script, folder)

    @property
    def session(self) -> str:
        """This call, as the ledger knows it."""
        return f"{self.session_id or 'session'} {self.pickup.isoformat(sep=' ', timespec='milliseconds')}"

    async def run(self) -> None:
        try:
            await super().run()
        finally:
            self.review()
            while self._unfinished:
                await asyncio.wait(self._unfinished)
            self._note_untold()

    # The tools

    def tools(self) -> list[Tool]:
        return [
            Tool(
                "issue_refund",
                "Refund an order in full, to a card that it was paid with. Also moves a refund to another card.",
                {
                    "order_id": {"type": "string", "description": "The order number, such as 4417."},
                    "card_last4": {"type": "string", "description": "The last four digits of the card."},
                    "say_while_working": {
                        "type": "string",
                        "description": "One short sentence for the caller to hear meanwhile, such as: One moment, I'm "
                        "sending that to your Visa. Do not say that it is done.",
                        "poly_spoken": True,
                    },
                },
                self._issue_refund,
            ),
            self.end_call_tool(),
        ]

    async def _issue_refund(self, call: ToolCall) -> Output | None:
        order, card = _wanted(call)
        self._refunding += 1
        try:
            return await asyncio.shield(self._keep(self._refund(call, order, card)))
        finally:
            self._refunding -= 1

    async def _refund(self, call: ToolCall, order: Order, card: str) -> Output:
        try:
            decision = await asyncio.to_thread(self.ledger.request, order, card, self.session, call.call_id)
        except LedgerError as error:
            self.line.note(f"no refund: {error}")
            return Output({"status": "not_refunded", "error": notes.NOT_WRITTEN})
        row = decision.row
        self.line.note(f"refund {row.refund_id}: {dollars(row.cents)} to {row.card}, {decision.outcome}")
        self.news.pop(order.number, None)
        try:
            accepted = row.accepted or await self._submit(row)
        except ProviderError as error:
            self.line.note(f"refund {row.refund_id} is not confirmed: {error}")
            return Output(notes.not_confirmed(row))
        except LedgerError as error:
            self.line.note(f"refund {row.refund_id} may be paid, but that is not written down: {error}")
            return Output({"status": "not_confirmed", "error": notes.NOT_NOTED})
        if not accepted:
            # The other call's output brings a reply, if it is of this conversation.
            return Output(notes.superseded(order.number, card), reply=self._refunding < 2)
        self.news[order.number] = News(call.call_id, row)
        return Output(notes.note(decision, self.session))

    async def _submit(self, row: Row) -> bool:
        """Have the provider pay this row. False: meanwhile the refund goes to another card."""
        for _ in range(_SUBMISSIONS):
            await self.provider.cancel(row.refund_id, keep=row.card)
            try:
                await self.provider.submit(row.refund_id, row.card, row.cents)
            except Cancelled:
                if await self._card_now(row) != row.card:
                    return False
                continue  # by a call that was overtaken by this one
            if await asyncio.to_thread(self.ledger.accept, row.order, row.card):
                return True
            await self.provider.cancel(row.refund_id, keep=await self._card_now(row))
            return False
        raise ProviderError(f"{_SUBMISSIONS} submissions were cancelled by other calls")

    async def _card_now(self, row: Row) -> str:
        now = await asyncio.to_thread(self.ledger.row, row.order)
        return now.card if now else row.card

    # What the caller hears

    def on_event(self, event: dict[str, Any]) -> None:
        super().on_event(event)
        match event.get("type"):
            case "response.created":
                # One that was asked for just before they spoke does not end their turn.
                self._caller_has_turn = self._patience.caller_talks and self.turns.asked_for
                self._reply(event["response"]["id"])
            case "response.output_item.added":
                if event["item"].get("type") == "function_call":
                    self._reply(event["response_id"]).calls.append(event["item"]["name"])
            case "response.output_audio_transcript.delta" | "response.audio_transcript.delta":
                texts, place = self._reply(event["response_id"]).texts, _place(event)
                texts[place] = texts.get(place, "") + event["delta"]
            case "response.output_audio_transcript.done" | "response.audio_transcript.done":
                self._reply(event["response_id"]).texts[_place(event)] = event["transcript"]
            case "response.done":
                reply = self._reply(event["response"]["id"])
                reply.done = True
                self.spawn(self._follow(reply))
            case "input_audio_buffer.speech_started":
                self._caller_has_turn = True
                self.review()
            case "conversation.item.added" | "conversation.item.created" | "conversation.item.done":
                item = event["item"]
                for news in self.news.values():
                    is_result = item.get("type") == "function_call_output" and item.get("call_id") == news.call_id
                    if is_result and news.since is None:
                        news.since = len(self.replies)
                self.review()

    def review(self) -> None:
        """Look whether the caller has heard of each refund; if what they heard does not name its card, remind."""
        for news in self.news.values():
            if news.told or news.since is None:
                continue
            counted = [reply for reply in self.replies if self.counts(reply, news)]
            if any(names_card(self.heard_text(reply), news.row.card) for reply in counted):
                news.told = True
                self._keep(self._write_told(news))
            elif counted and self.is_over(counted[-1]):
                self._remind_once(news, counted[-1])

    def counts(self, reply: Reply, news: News) -> bool:
        """Whether this reply can be what tells the caller: it knows the result, and is no holding line."""
        return news.since is not None and reply.number >= news.since and not reply.is_holding_line

    def heard_text(self, reply: Reply) -> str:
        """What the caller has heard of a reply for certain."""
        heard = self.playout.heard(reply.response_id)
        return heard_text(reply.text, heard.heard_ms, heard.received_ms, heard.whole)

    def remind(self, text: str) -> None:
        """Have the model tell the caller. A note alone it would leave for later, and then forget."""
        self.inform(text)

    def _remind_once(self, news: News, last: Reply) -> None:
        if self._tasks.over.is_set() or "end_call" in last.calls or self.turns.busy:
            return
        if self._caller_has_turn:
            return  # it brings a reply of its own, which may say it
        if news.reminders >= notes.REMINDERS or news.reminded_after == last.number:
            return
        news.reminders += 1
        news.reminded_after = last.number
        row = news.row
        self.line.note(f"reminder {news.reminders}: {row.refund_id} to {row.card} was not heard of")
        self.remind(notes.reminder(row))

    async def _follow(self, reply: Reply) -> None:
        """Review when the reply has been played."""
        while not self.is_over(reply):
            heard = self.playout.heard(reply.response_id)
            await asyncio.sleep(max(heard.received_ms - heard.heard_ms, 1) / 1000)
        self.review()

    def unanswered(self) -> None:
        """The caller has no turn any more: it may be time to remind them, which is a way to go on."""
        self._caller_has_turn = False
        self.review()
        super().unanswered()

    def is_over(self, reply: Reply) -> bool:
        """Whether the caller will hear no more of this reply."""
        heard = self.playout.heard(reply.response_id)
        return heard.over or (reply.done and not heard.received_ms)

    def _reply(self, response_id: str) -> Reply:
        for reply in reversed(self.replies):
            if reply.response_id == response_id:
                return reply
        self.replies.append(Reply(len(self.replies), response_id))
        return self.replies[-1]

    # The books

    async def _write_told(self, news: News) -> None:
        row = news.row
        try:
            if await asyncio.to_thread(self.ledger.told, row.order, row.card):
                self.line.note(f"told: {row.refund_id} to {row.card}")
        except LedgerError as error:
            self.line.note(f"told, but not written down: {error}")

    def _note_untold(self) -> None:
        for news in self.news.values():
            if not news.told:
                self.line.note(f"untold: {news.row.refund_id} to {news.row.card}, send the caller a message")

    def _keep(self, work: Coroutine[Any, Any, Any]) -> "asyncio.Task[Any]":
        """Work that outlives the call."""
        task = asyncio.create_task(work)
        self._unfinished[task] = None
        task.add_done_callback(self._unfinished.pop)
        return task


def _wanted(call: ToolCall) -> tuple[Order, str]:
    """The order and the card; ToolError when they are not known. What else the model says, amounts say, is ignored."""
    given = call.given()
    said_order, said_card = (str(given.get(name) or "").strip() for name in ("order_id", "card_last4"))
    order = find_order(said_order)
    if order is None:
        raise ToolError(
            f"There is no order {said_order!r}. Nothing was refunded. Ask the caller for the order number, then call "
            f"{call.name} again."
        )
    card = find_card(order, said_card)
    if card is None:
        raise ToolError(
            f"Order {order.number} was not paid with a card ending in {said_card!r}. Nothing was refunded. Ask the "
            f"caller for the last four digits of the card, then call {call.name} again."
        )
    return order, card


def _place(event: dict[str, Any]) -> tuple[str, int]:
    return event["item_id"], event.get("content_index", 0)
