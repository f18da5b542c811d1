from .calling import findings
from .small import Event, Small


class Echo(Small):
    """Plays the beginning of each item again when it is done."""

    def __init__(self, *arguments: object) -> None:
        super().__init__(*arguments)  # type: ignore[arg-type]
        self.begun: dict[str, Event] = {}

    async def on_event(self, event: Event) -> None:
        await super().on_event(event)
        if event["type"] == "response.output_audio.delta":
            self.begun.setdefault(event["item_id"], event)
        elif event["type"] == "response.output_audio.done":
            self.play(self.begun[event["item_id"]])


def test_audio_that_is_heard_again() -> None:
    found = findings("AGT205", Echo, "front-desk")
    assert [round(one.evidence["again_ms"]) for one in found] == [300, 300]


def test_what_the_server_sends_twice_is_not_the_clients_fault() -> None:
    for faults in ((), ("duplicate:event=response.output_audio.delta,nth=3",), ("burst",)):
        assert findings("AGT205", Small, "front-desk", *faults) == []
