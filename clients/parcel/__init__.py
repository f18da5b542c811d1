"""A parcel service on an OpenAI Live session (fluid-1): a client that answers from a back office of its own.

    await Parcel(line).run()

The agent talks, and delegates what it cannot know. Nothing on the wire says what the caller has heard, so the service
works it out from the audio that was played, and an order is told when that is over, not when it was appended. `wrong`
has the versions that believe otherwise, stop sending silence, or ask the carrier where they should be listening.
"""

from ..desk import CallFailed
from .book import BookError, Order, OrderBook, book_table
from .carrier import Carrier, CarrierError, Report
from .parcel import Parcel
from .reconcile import mismatches
from .wrong import (
    AppendedParcel,
    BlockingParcel,
    DeltaParcel,
    ForgetfulParcel,
    GatedParcel,
    HastyParcel,
    LoudParcel,
)

__all__ = [
    "AppendedParcel",
    "BlockingParcel",
    "BookError",
    "CallFailed",
    "Carrier",
    "CarrierError",
    "DeltaParcel",
    "ForgetfulParcel",
    "GatedParcel",
    "HastyParcel",
    "LoudParcel",
    "Order",
    "OrderBook",
    "Parcel",
    "Report",
    "book_table",
    "mismatches",
]
