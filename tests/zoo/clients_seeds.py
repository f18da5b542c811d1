"""The wrong clients that come with simrt, each beside the right one."""

from clients.call import Call, DrainCall, NaiveCall
from clients.refund import BeforeDesk, CallIdDesk, HoldingDesk, PassiveDesk, RefundDesk, SentDesk
from tests.zoo.exhibit import Exhibit

EXHIBITS = (
    Exhibit(
        "NaiveCall",
        "",
        "the first words lost; hung up a second after end_call",
        NaiveCall,
        Call,
        "front-desk",
        ("CLR101", "AGT201", "END401"),
    ),
    Exhibit(
        "DrainCall",
        "",
        "hung up as soon as the speaker's queue ran empty",
        DrainCall,
        Call,
        "front-desk",
        ("AGT201", "END401"),
        ("stall:at=1500ms",),
    ),
    Exhibit(
        "CallIdDesk",
        "",
        "an order refunded twice: the ledger's key is the call's id",
        CallIdDesk,
        RefundDesk,
        "repeat-call",
        ("EFF501",),
    ),
    Exhibit(
        "PassiveDesk",
        "",
        "the caller is never told: the reminder is a note that waits for them to speak",
        PassiveDesk,
        RefundDesk,
        "missed-confirmation",
        ("EFF501",),
    ),
    Exhibit(
        "BeforeDesk",
        "",
        "the caller is never told: no reply is asked for, since they spoke meanwhile",
        BeforeDesk,
        RefundDesk,
        "did-it-go-through",
        ("EFF501", "AGT210"),
    ),
    Exhibit(
        "SentDesk",
        "",
        "the caller is never told: what was sent is taken for heard",
        SentDesk,
        RefundDesk,
        "missed-card",
        ("EFF501",),
    ),
    Exhibit(
        "HoldingDesk",
        "",
        "the caller is never told: the holding line is taken for the confirmation",
        HoldingDesk,
        RefundDesk,
        "missed-confirmation",
        ("EFF501",),
    ),
)
