"""A shop's refund desk on a Realtime session: a client whose tool has side effects.

    await RefundDesk(line).run()

The model's word counts for nothing here. What was done is in the ledger, one row an order; what the caller knows is
what was played to them, and the desk does not rest until that names the card that the money went to. `wrong` has the
versions that do rest, or pay twice.
"""

from ..desk import CallFailed
from .ledger import Decision, Ledger, LedgerError, Row
from .provider import Payment, Provider, ProviderError
from .reconcile import beyond_telling, ledger_table, mismatches, replies_of
from .refund_desk import RefundDesk
from .wrong import BeforeDesk, CallIdDesk, HoldingDesk, PassiveDesk, SentDesk

__all__ = [
    "BeforeDesk",
    "CallFailed",
    "CallIdDesk",
    "Decision",
    "HoldingDesk",
    "Ledger",
    "LedgerError",
    "PassiveDesk",
    "Payment",
    "Provider",
    "ProviderError",
    "RefundDesk",
    "Row",
    "SentDesk",
    "beyond_telling",
    "ledger_table",
    "mismatches",
    "replies_of",
]
