import asyncio
from typing import Any

from simrt.checks import Case, Limits, judge

from .calling import findings, result_of
from .small import Event, Small


class Collects(Small):
    """Plays nothing of an item before all of it is there."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.kept: list[Event] = []

    def play(self, event: Event) -> None:
        self.kept.append(event)

    async def on_event(self, event: Event) -> None:
        await super().on_event(event)
        if event["type"] == "response.output_audio.done":
            kept, self.kept = self.kept, []
            for one in kept:
                super().play(one)


class Blocks(Small):
    """Reads no events for 3 s when it hears of a response."""

    async def on_event(self, event: Event) -> None:
        await super().on_event(event)
        if event["type"] == "response.content_part.added":
            await asyncio.sleep(3)


def test_audio_that_is_collected() -> None:
    found = findings("AGT213", Collects, "front-desk")
    assert [one.evidence["quiet_ms"] > 3000 for one in found] == [True, True]


def test_a_loop_that_waits_for_something_else() -> None:
    found = findings("AGT213", Blocks, "front-desk")
    assert found
    assert 2000 < found[0].evidence["quiet_ms"] < 3000


def test_who_plays_at_once_is_not_to_blame() -> None:
    for faults in ([], ["stall:for=5s"], ["clog:reply=0,at=1s,for=4s"], ["burst:reply=0"], ["latency:add=1s"]):
        assert findings("AGT213", Small, "front-desk", *faults) == []
    assert findings("AGT213", Small, "talk-over") == []


def test_a_limit_decides() -> None:
    case = Case.of_result(result_of(Collects, "front-desk"))
    assert judge(case, ["AGT213"])
    assert judge(case, ["AGT213"], limits=Limits(late_play_ms=20_000)) == []
