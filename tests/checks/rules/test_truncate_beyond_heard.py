from .calling import findings
from .small import Item, Small

OVER = ("burst:reply=0", "barge-in:reply=0,at=1500ms,answer=breakfast")


class Received(Small):
    """Takes for heard what was received."""

    async def tell(self, item_id: str, item: Item, heard_ms: float) -> None:
        await super().tell(item_id, item, item.received_ms)


def test_what_was_received_has_not_been_heard() -> None:
    (found,) = findings("PRO305", Received, "front-desk", *OVER)
    assert found.evidence["end_ms"] > 8000
    assert 1400 < found.evidence["heard_ms"] < 2600


def test_who_asks_the_speaker_is_right() -> None:
    assert findings("PRO305", Small, "front-desk", *OVER) == []


def test_a_recording_does_not_say_what_was_heard() -> None:
    from .test_truncate_beyond_sent import reply

    assert reply(2000).findings("PRO305") == []
