from .calling import findings
from .small import Event, Small

TWO = ("second-item:reply=0,at=4s",)


class OneItem(Small):
    """Plays the first item of each response only."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.first: dict[str, str] = {}

    def play(self, event: Event) -> None:
        if self.first.setdefault(event["response_id"], event["item_id"]) == event["item_id"]:
            super().play(event)


class Mute(Small):
    """Plays nothing at all."""

    def play(self, event: Event) -> None:
        pass


def test_the_second_item_is_named() -> None:
    (found,) = findings("AGT207", OneItem, "front-desk", *TWO)
    assert "item 2 of 2" in found.message
    assert findings("AGT202", OneItem, "front-desk", *TWO) == []
    assert findings("AGT207", Small, "front-desk", *TWO) == []


def test_a_client_without_a_voice() -> None:
    found = findings("AGT207", Mute, "front-desk")
    assert ["all of" in one.message for one in found] == [True]


def test_an_item_that_is_talked_over_before_its_turn_need_not_be_played() -> None:
    assert findings("AGT207", Small, "front-desk", *TWO, "barge-in:reply=0,at=2s,answer=breakfast") == []
