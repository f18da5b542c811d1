from .calling import findings
from .small import Event, Small


class Swaps(Small):
    """Plays the third piece of each item before the second."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.count: dict[str, int] = {}
        self.kept: Event | None = None

    def play(self, event: Event) -> None:
        number = self.count[event["item_id"]] = self.count.get(event["item_id"], 0) + 1
        if number == 2:
            self.kept = event
            return
        super().play(event)
        if number == 3 and self.kept is not None:
            super().play(self.kept)


def test_pieces_that_overtake() -> None:
    found = findings("AGT206", Swaps, "front-desk")
    assert [round(one.evidence["late_ms"]) for one in found] == [200, 200]


def test_the_order_of_coming_is_the_order_of_playing() -> None:
    for faults in ((), ("reorder:percent=20",), ("burst",), ("second-item:reply=0,at=4s",)):
        assert findings("AGT206", Small, "front-desk", *faults) == []
