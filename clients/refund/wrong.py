"""Refund desks that are wrong, each in one thing, as desks really were."""

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..desk import Output, ToolCall
from .ledger import Ledger
from .provider import Provider
from .refund_desk import News, RefundDesk, Reply
from .store import Order

if TYPE_CHECKING:
    from simrt import Line


class CallIdLedger(Ledger):
    """Has a row for each tool call, so that the second one for an order is a second refund."""

    key = "refund_id"

    def _refund_id(self, order: Order, call_id: str) -> str:
        return f"R-{call_id}"


class CallIdDesk(RefundDesk):
    """Tells refunds apart by the tool's call id."""

    ledger_type = CallIdLedger

    def __init__(
        self, line: "Line", ledger: Ledger | str | Path | None = None, provider: Provider | None = None
    ) -> None:
        super().__init__(line, ledger.path if isinstance(ledger, Ledger) else ledger, provider)


class PassiveDesk(RefundDesk):
    """Reminds the model with a note alone, which waits for the caller to speak."""

    def remind(self, text: str) -> None:
        self.inform(text, reply=False)


class BeforeDesk(PassiveDesk):
    """As it was before: no reply is asked for when the caller has spoken since the call (their turn brought one, did it
    not?), and a reminder is a note."""

    spoken = 0

    async def _issue_refund(self, call: ToolCall) -> Output | None:
        before = self.spoken
        output = await super()._issue_refund(call)
        return output and output._replace(reply=output.reply and self.spoken == before)

    def on_event(self, event: dict[str, Any]) -> None:
        self.spoken += event.get("type") == "input_audio_buffer.speech_started"
        super().on_event(event)


class SentDesk(RefundDesk):
    """Takes what was sent for what was heard."""

    def heard_text(self, reply: Reply) -> str:
        return reply.text


class HoldingDesk(RefundDesk):
    """Takes the holding line, which names the card too, for the confirmation."""

    def counts(self, reply: Reply, news: News) -> bool:
        return True
