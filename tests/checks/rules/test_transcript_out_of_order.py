import pytest

from .calling import findings, messages
from .small import Event, Small

LATE = "late-transcript:nth=0,after=200ms"
CALLER = "conversation.item.input_audio_transcription.completed"
AGENT = "response.output_audio_transcript.done"


class AsItComes(Small):
    """Writes each line when its words come."""

    named = True

    async def on_event(self, event: Event) -> None:
        await super().on_event(event)
        if event["type"] in (CALLER, AGENT):
            role = "user" if event["type"] == CALLER else "assistant"
            self.line.transcript(role, event["transcript"], event["item_id"] if self.named else None)


class ByText(AsItComes):
    """Says no items."""

    named = False


class InPlace(AsItComes):
    """Keeps a place for what is still to come."""

    async def on_event(self, event: Event) -> None:
        if event["type"] == "input_audio_buffer.committed":
            self.line.transcript("user", "", event["item_id"])
        await super().on_event(event)


@pytest.mark.parametrize("client", [AsItComes, ByText])
def test_a_line_that_comes_late_and_is_written_where_it_comes(client: type[Small]) -> None:
    (message,) = messages(findings("PRO314", client, "front-desk", LATE))
    assert message.startswith("\"Hi, yes, I'm calling about my booking")
    assert 'is written behind "Thanks, Ms Okafor.' in message


@pytest.mark.parametrize(("client", "faults"), [(InPlace, (LATE,)), (AsItComes, ()), (Small, (LATE,))])
def test_a_place_that_was_kept_and_one_who_writes_nothing(client: type[Small], faults: tuple[str, ...]) -> None:
    assert findings("PRO314", client, "front-desk", *faults) == []
