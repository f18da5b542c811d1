"""Recordings written by hand, event by event, for rules that read traces."""

import base64
from typing import Any

import msgspec

from simrt.audio import PCM24, AudioFormat
from simrt.cassette.header import Header
from simrt.checks import Case, Finding, judge
from simrt.trace import Closing, Ender, Frame, Opening, Trace

PATH = "/v1/realtime?model=m"


class Talk:
    """A trace in the making; times are ms since the connection opened, and never go back."""

    def __init__(self) -> None:
        self.frames: list[Frame] = []
        self.closing: Closing | None = None

    def server(self, ms: float, kind: str, **fields: Any) -> "Talk":
        """An event of the server's."""
        return self._add(ms, "server", {"type": kind, "event_id": f"event_{len(self.frames)}", **fields})

    def client(self, ms: float, kind: str, **fields: Any) -> "Talk":
        """An event of the client's."""
        return self._add(ms, "client", {"type": kind, **fields})

    def ready(self, ms: float = 100, **session: Any) -> "Talk":
        """The handshake."""
        self.server(ms - 100, "session.created", session={"type": "realtime"})
        self.client(ms - 100, "session.update", session={"type": "realtime", **session})
        return self.server(ms, "session.updated", session={"type": "realtime", **session})

    def turn(self, start_ms: float, end_ms: float, item_id: str = "item_u", text: str | None = "Hello.") -> "Talk":
        """The caller speaks; the server tells of it."""
        self.server(start_ms, "input_audio_buffer.speech_started", item_id=item_id, audio_start_ms=round(start_ms))
        self.server(end_ms, "input_audio_buffer.speech_stopped", item_id=item_id, audio_end_ms=round(end_ms))
        self.server(end_ms, "input_audio_buffer.committed", item_id=item_id)
        if text is not None:
            kind = "conversation.item.input_audio_transcription.completed"
            self.server(end_ms, kind, item_id=item_id, content_index=0, transcript=text)
        return self

    def created(self, ms: float, response_id: str = "resp_1", **fields: Any) -> "Talk":
        """A response begins."""
        return self.server(ms, "response.created", response={"id": response_id, "status": "in_progress", **fields})

    def done(self, ms: float, response_id: str = "resp_1", status: str = "completed", **fields: Any) -> "Talk":
        """It is over."""
        return self.server(ms, "response.done", response={"id": response_id, "status": status, "output": [], **fields})

    def audio(
        self,
        ms: float,
        length_ms: float,
        response_id: str = "resp_1",
        item_id: str = "item_1",
        format: AudioFormat = PCM24,
        **fields: Any,
    ) -> "Talk":
        """A delta of a reply."""
        delta = base64.b64encode(format.silence(length_ms)).decode()
        ids = {"response_id": response_id, "item_id": item_id, "output_index": 0, "content_index": 0}
        return self.server(ms, "response.output_audio.delta", **ids, delta=delta, **fields)

    def call(
        self, ms: float, call_id: str = "call_1", response_id: str = "resp_1", arguments: str = "{}", **fields: Any
    ) -> "Talk":
        """A function call, complete."""
        item = {"id": f"item_{call_id}", "type": "function_call", "call_id": call_id, "name": "look_up", **fields}
        begun = {**item, "status": "in_progress", "arguments": ""}
        whole = {"status": "completed", **item, "arguments": arguments}
        self.server(ms, "response.output_item.added", response_id=response_id, output_index=1, item=begun)
        ids = {"response_id": response_id, "item_id": item["id"], "output_index": 1, "call_id": call_id}
        self.server(ms, "response.function_call_arguments.done", **ids, name="look_up", arguments=arguments)
        return self.server(ms, "response.output_item.done", response_id=response_id, output_index=1, item=whole)

    def output(self, ms: float, call_id: str = "call_1", output: str = "{}") -> "Talk":
        """The client's output for a call."""
        item = {"type": "function_call_output", "call_id": call_id, "output": output}
        return self.client(ms, "conversation.item.create", item=item)

    def append(self, ms: float, audio: bytes) -> "Talk":
        """The caller's audio."""
        return self.client(ms, "input_audio_buffer.append", audio=base64.b64encode(audio).decode())

    def error(self, ms: float, code: str, event_id: str | None = None, message: str = "No.") -> "Talk":
        """An error event."""
        body = {"type": "invalid_request_error", "code": code, "message": message, "event_id": event_id}
        return self.server(ms, "error", error=body)

    def close(self, ms: float, by: Ender = "client", code: int = 1000) -> "Talk":
        """The end."""
        self.closing = Closing(round(ms * 1000), code, "", by)
        return self

    def trace(self) -> Trace:
        """What came of it."""
        return Trace(Opening(PATH), list(self.frames), self.closing)

    def case(self, **header: Any) -> Case:
        """It as a case; the header's fields may be given."""
        return Case.of_trace(self.trace(), Header(**header))

    def findings(self, *select: str, **header: Any) -> list[Finding]:
        """What those rules find in it."""
        return judge(self.case(**header), select=select)

    def _add(self, ms: float, sender: Any, event: dict[str, Any]) -> "Talk":
        t_us = round(ms * 1000)
        assert not self.frames or t_us >= self.frames[-1].t_us, "times go back"
        self.frames.append(Frame(t_us, sender, msgspec.json.encode(event).decode()))
        return self
