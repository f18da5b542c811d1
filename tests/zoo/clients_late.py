"""Bugs in what a client does with what comes late."""

from typing import Any

from clients.call import Call
from clients.desk.playout import Playout
from tests.zoo.exhibit import Exhibit


class Logs(Call):
    """Keeps a log of the conversation. The caller's line has its place when their turn is over, and its words later."""

    def on_event(self, event: dict[str, Any]) -> None:
        super().on_event(event)
        match event.get("type"):
            case "input_audio_buffer.committed":
                self.turn_over(event["item_id"])
            case "conversation.item.input_audio_transcription.completed":
                self.line.transcript("user", event["transcript"], item_id=event["item_id"])
            case "response.output_audio_transcript.done":
                self.line.transcript("assistant", event["transcript"], item_id=event["item_id"])

    def turn_over(self, item_id: str) -> None:
        """Keep a place for what the caller has said."""
        self.line.transcript("user", "", item_id=item_id)


class LogsAsItComes(Logs):
    """Writes each line when its words come: the caller's take a model of their own."""

    def turn_over(self, item_id: str) -> None:
        pass


class ForgetfulPlayout(Playout):
    """Remembers that the caller has talked over a response for as long as that is active."""

    def complete(self, response_id: str) -> None:
        super().complete(response_id)
        self._silenced.discard(response_id)


class PlaysLateAudio(Call):
    """Falls silent when the caller cuts in, and takes what comes behind the end of the response for something new."""

    def __init__(self, line: Any) -> None:
        super().__init__(line)
        self.playout = ForgetfulPlayout(line)


EXHIBITS = (
    Exhibit(
        "B14",
        "pipecat-ai/pipecat#1788",
        "the caller's line is logged after the reply to it",
        LogsAsItComes,
        Logs,
        "answer",
        ("PRO314",),
        ("late-transcript",),
    ),
    Exhibit(
        "B19",
        "microsoft/vscode#326611",
        "playback starts again after an interruption",
        PlaysLateAudio,
        Call,
        "answer",
        ("AGT204",),
        ("late-audio:reply=0",),
    ),
)
