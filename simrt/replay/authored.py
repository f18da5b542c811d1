"""Turns an authored script into the Score that a recording of it would give, so that one engine plays both.

The event order is that of recorded sessions (Realtime, GA names); ids are counted, so equal scripts give equal scores.
"""

import base64
import hashlib
from collections import Counter
from functools import lru_cache
from typing import Any

import msgspec
import numpy as np

from simrt.audio import PCM24, Samples
from simrt.caller.cue import ReplyKey, parse_cue
from simrt.cassette.header import Word
from simrt.cassette.script import Delegate, Pacing, Reply, Script, Tool, Turn
from simrt.replay.score import (
    OPEN,
    Cause,
    ClientEvent,
    Score,
    ScoredFrame,
    ScoredReply,
    ScoredTurn,
    index_answers,
)
from simrt.replay.vad import VadName, detect, make_vad
from simrt.trace import Opening

OUTPUT = "conversation.item.create:function_call_output"
NOTICE_US = 96_000  # how much of a turn's voice has arrived when the server takes it for speech
_LAG_US = 30_000  # from that position's arrival to the event
_DEFAULT_SESSION: dict[str, Any] = {
    "type": "realtime",
    "object": "realtime.session",
    "id": "sess_0001",
    "model": "simrt-stand-in",
    "output_modalities": ["audio"],
    "instructions": "",
    "tools": [],
    "tool_choice": "auto",
    "max_output_tokens": "inf",
    "tracing": None,
    "truncation": "auto",
    "prompt": None,
    "expires_at": 1798000000,
    "audio": {
        "input": {
            "format": {"type": "audio/pcm", "rate": 24000},
            "transcription": None,
            "noise_reduction": None,
            "turn_detection": None,
        },
        "output": {"format": {"type": "audio/pcm", "rate": 24000}, "voice": "stand-in", "speed": 1.0},
    },
    "include": None,
}


def voice_of(samples: Samples, pacing: Pacing, vad: VadName = "energy") -> tuple[int, int, int, int]:
    """What the VAD reports over a clip followed by silence: start and stop ms, onset and end of the voice in µs."""
    return _voice_of(samples.tobytes(), pacing.prefix_ms, pacing.silence_ms, vad)


@lru_cache(64)  # faults say the same few clips in call after call
def _voice_of(data: bytes, prefix_ms: int, silence_ms: int, vad: VadName) -> tuple[int, int, int, int]:
    samples = np.frombuffer(data, np.int16)
    detector = make_vad(vad, prefix_ms=prefix_ms, silence_ms=silence_ms)
    lead = prefix_ms + 32 * 4
    quiet = np.zeros(PCM24.rate * (silence_ms + 200) // 1000, np.int16)
    padded = np.concatenate([np.zeros(PCM24.rate * lead // 1000, np.int16), samples, quiet])
    events = detect(detector, padded, PCM24.rate)
    starts = [ms - lead for what, ms in events if what == "start"]
    stops = [ms - lead for what, ms in events if what == "stop"]
    if not starts or not stops:
        length = len(samples) * 1000 // PCM24.rate
        return -prefix_ms, length + silence_ms, 0, length * 1000
    onset_us = (starts[0] + prefix_ms) * 1000
    return starts[0], stops[-1], onset_us, detector.speech_end_us - lead * 1000


class Author:
    """Builds scored frames step by step. Also used to add a caller turn and its answer to any score."""

    def __init__(self, pacing: Pacing, profile: str = "openai", vad: VadName = "energy", first_index: int = 0) -> None:
        self.pacing, self.profile, self.vad = pacing, profile, vad
        self.frames: list[ScoredFrame] = []
        self.turns: list[ScoredTurn] = []
        self.replies: list[ScoredReply] = []
        self.expected: list[ClientEvent] = []
        self.counts: Counter[str] = Counter()
        self.next_index = first_index
        self.tag = ""
        self.response = 0
        self._ids: dict[str, int] = {}
        self._last_item: str | None = None

    def _id(self, prefix: str) -> str:
        self._ids[prefix] = self._ids.get(prefix, 0) + 1
        return f"{prefix}_{self.tag}{self._ids[prefix]:04d}"

    def add(self, cause: Cause, delay_us: int, event: dict[str, Any], **fields: Any) -> ScoredFrame:
        """One event `delay_us` after `cause`; returns its frame."""
        event = {"type": event["type"], "event_id": self._id("event"), **event}
        payload = msgspec.json.encode(event).decode()
        frame = ScoredFrame(self.next_index, payload, event, event["type"], cause, delay_us, **fields)
        self.next_index += 1
        self.frames.append(frame)
        return frame

    def expect(self, kind: str) -> Cause:
        """The next client event of that kind is part of the call; returns it as a cause."""
        nth = self.counts[kind]
        self.counts[kind] += 1
        self.expected.append(ClientEvent(kind, nth, None))
        return kind, nth

    def handshake(self) -> None:
        """`session.created` on connection, `session.updated` after the client's first `session.update`."""
        detection = {"type": "server_vad", "threshold": 0.5, "prefix_padding_ms": self.pacing.prefix_ms}
        detection |= {"silence_duration_ms": self.pacing.silence_ms, "idle_timeout_ms": None}
        detection |= {"create_response": True, "interrupt_response": True}
        audio = _DEFAULT_SESSION["audio"]
        session = {**_DEFAULT_SESSION, "audio": {**audio, "input": {**audio["input"], "turn_detection": detection}}}
        self.add(OPEN, self.pacing.created_ms * 1000, {"type": "session.created", "session": session})
        updated = {"type": "session.updated", "session": session}
        self.add(self.expect("session.update"), self.pacing.ready_ms * 1000, updated)

    def turn(self, turn: Turn, index: int) -> ScoredTurn:
        """A caller turn: its speech events, its item, its transcript."""
        samples = turn.samples if turn.samples is not None else np.zeros(0, np.int16)
        start_ms, stop_ms, onset_us, end_us = voice_of(samples, self.pacing, self.vad)
        item_id = self._id("item")
        scored = ScoredTurn(
            index,
            item_id,
            turn.text,
            samples,
            list(turn.words),
            start_at_us=onset_us + NOTICE_US,
            start_value_us=start_ms * 1000,
            stop_at_us=stop_ms * 1000,
            stop_value_us=stop_ms * 1000,
            onset_us=onset_us,
            speech_end_us=end_us,
            cut_us=self.pacing.cut_ms * 1000,
            cue=turn.cue,
            clip=turn.clip,
            hearing=turn.hearing,
            leave=turn.leave,
        )
        self.turns.append(scored)
        if turn.hearing == "unheard" or not len(samples):
            return scored
        start, stop = ("turn.start", index), ("turn.stop", index)
        named = {"item_id": item_id}
        if turn.hearing == "turn":
            self.add(start, _LAG_US, {"type": "input_audio_buffer.speech_started", "audio_start_ms": 0, **named})
            self.add(stop, _LAG_US, {"type": "input_audio_buffer.speech_stopped", "audio_end_ms": 0, **named})
        committed = {"type": "input_audio_buffer.committed", "previous_item_id": self._last_item, **named}
        self.add(stop, _LAG_US + 200, committed)
        content = [{"type": "input_audio", "transcript": None}]
        item = {"id": item_id, "object": "realtime.item", "type": "message", "status": "completed", "role": "user"}
        for kind in ("conversation.item.added", "conversation.item.done"):
            previous = {"previous_item_id": self._last_item, "item": {**item, "content": content}}
            self.add(stop, _LAG_US + 400, {"type": kind, **previous})
        heard = {"type": "conversation.item.input_audio_transcription.completed", **named, "content_index": 0}
        seconds = {"type": "duration", "seconds": round(len(samples) / PCM24.rate, 2)}
        late_us = 900_000 if self.profile == "polyai" else 350_000  # PolyAI: the reply can come before it
        self.add(stop, late_us, {**heard, "transcript": turn.text, "usage": seconds})
        self._last_item = item_id
        return scored

    def talked_over(self, item_id: str) -> None:
        """The caller speaks into a reply: the client is expected to truncate the item to what was played."""
        asked = self.expect("conversation.item.truncate")
        where = {"item_id": item_id, "content_index": 0, "audio_end_ms": 0}
        self.add(asked, 20_000, {"type": "conversation.item.truncated", **where})

    def answered(self, call_id: str, previous: str | None) -> None:
        """The client is expected to give a tool call its output."""
        output = {"type": "function_call_output", "call_id": call_id, "output": ""}
        made = {"id": self._id("item"), "object": "realtime.item", "status": "completed", **output}
        asked = self.expect(OUTPUT)
        for kind in ("conversation.item.added", "conversation.item.done"):
            self.add(asked, 20_000, {"type": kind, "previous_item_id": previous, "item": made})

    def reminded(self) -> None:
        """The client is expected to add a message of its own to the conversation."""
        item = {"id": self._id("item"), "object": "realtime.item", "type": "message", "status": "completed"}
        asked = self.expect("conversation.item.create:message")
        for kind in ("conversation.item.added", "conversation.item.done"):
            self.add(asked, 20_000, {"type": kind, "previous_item_id": self._last_item, "item": item})

    def reply(self, reply: Reply, cause: Cause, key: ReplyKey) -> None:
        """One response: speech, a tool call, or both."""
        pace = self.pacing
        think = (pace.think_ms if reply.think_ms is None else reply.think_ms) * 1000
        number, response_id = self.response, self._id("resp")
        self.response += 1
        has_audio = reply.samples is not None and len(reply.samples) > 0
        at = {"response": number, "reply": key if has_audio else None}
        body: dict[str, Any] = {"object": "realtime.response", "id": response_id, "conversation_id": "conv_0001"}
        body |= {"metadata": None}
        body |= {"output_modalities": ["audio"], "max_output_tokens": "inf", "usage": None, "status_details": None}
        begun = {**body, "status": "in_progress", "output": []}
        self.add(cause, min(93_000, think), {"type": "response.created", "response": begun}, **at)
        output: list[dict[str, Any]] = []
        end_us = think
        if has_audio:
            end_us, message = self._speech(reply, cause, think, response_id, at, key)
            output.append(message)
        if reply.tool is not None:
            moment = think + (pace.tool_ms * 1000 if has_audio else 0)
            output.append(self._call(reply.tool, cause, moment, response_id, at, len(output)))
        done_us = end_us + (pace.done_ms if has_audio else 10) * 1000
        at["audio_start_us"] = self._length(reply)
        usage = {"total_tokens": 200, "input_tokens": 120, "output_tokens": 80}
        ended = {**body, "status": "completed", "output": output, "usage": usage}
        if reply.done:
            self.add(cause, done_us, {"type": "response.done", "response": ended}, **at)
            limits = [{"name": "tokens", "limit": 40000, "remaining": 39800, "reset_seconds": 0.3}]
            self.add(cause, done_us + 30_000, {"type": "rate_limits.updated", "rate_limits": limits}, **at)

    @staticmethod
    def _length(reply: Reply) -> int:
        return 0 if reply.samples is None else len(reply.samples) * 1_000_000 // PCM24.rate

    def _speech(
        self, reply: Reply, cause: Cause, think: int, response_id: str, at: dict[str, Any], key: ReplyKey
    ) -> tuple[int, dict[str, Any]]:
        """A spoken message item; returns when its last piece goes out, and the finished item."""
        samples = reply.samples if reply.samples is not None else np.zeros(0, np.int16)
        item_id = self._id("item")
        where = {"response_id": response_id, "item_id": item_id, "output_index": 0, "content_index": 0}
        item = {"id": item_id, "object": "realtime.item", "type": "message", "role": "assistant"}
        opened = {**item, "status": "in_progress", "content": []}
        self._item_opens(cause, max(think - 121_000, 0), opened, response_id, 0, at)
        part = {"type": "audio", "transcript": ""}
        self.add(
            cause, max(think - 121_000, 0) + 400, {"type": "response.content_part.added", **where, "part": part}, **at
        )
        words = list(reply.words) or [Word(reply.text, 0, 0)]
        words = words[:1] + [msgspec.structs.replace(word, text=f" {word.text}") for word in words[1:]]
        total = len(samples)
        start, end_us = 0, think
        while start < total:
            size = (self.pacing.ahead_ms if start == 0 else self.pacing.chunk_ms) * PCM24.rate // 1000
            stop = min(total, start + size)
            end_us = think + max(0, start * 1000 // PCM24.rate - self.pacing.ahead_ms) * 1000
            at["audio_start_us"] = start * 1_000_000 // PCM24.rate
            self._words(cause, end_us, words, stop * 1000 // PCM24.rate if stop < total else None, where, at)
            data = samples[start:stop].astype("<i2").tobytes()
            delta = {"type": "response.output_audio.delta", **where, "delta": base64.b64encode(data).decode()}
            self.add(cause, end_us, delta, audio=data, audio_us=PCM24.duration_us(len(data)), **at)
            start = stop
        at["audio_start_us"] = self._length(reply)
        text = reply.text
        closing = end_us + 200
        self.add(cause, closing, {"type": "response.output_audio.done", **where}, **at)
        self.add(cause, closing, {"type": "response.output_audio_transcript.done", **where, "transcript": text}, **at)
        said = {"type": "audio", "transcript": text}
        self.add(cause, closing, {"type": "response.content_part.done", **where, "part": said}, **at)
        message = {**item, "status": "completed", "content": [{"type": "output_audio", "transcript": text}]}
        self._item_closes(cause, closing, message, response_id, 0, at)
        scored = ScoredReply(key, int(at["response"]), response_id, item_id, text, list(reply.words) or None)
        scored.audio_us = self._length(reply)
        self.replies.append(scored)
        at["audio_start_us"] = 0
        return end_us, message

    def _words(
        self,
        cause: Cause,
        delay_us: int,
        words: list[Word],
        until_ms: int | None,
        where: dict[str, Any],
        at: dict[str, Any],
    ) -> None:
        """Transcript deltas for the words that begin before `until_ms` of the audio (None: all that are left)."""
        while words and (until_ms is None or words[0].start_ms < until_ms):
            event = {"type": "response.output_audio_transcript.delta", **where, "delta": words.pop(0).text}
            self.add(cause, delay_us, event, **at)

    def _call(
        self, tool: Tool, cause: Cause, moment: int, response_id: str, at: dict[str, Any], output_index: int
    ) -> dict[str, Any]:
        """A tool call whose arguments are complete at `moment`; returns the finished item."""
        item_id = self._id("item")
        arguments = msgspec.json.encode(tool.arguments).decode()
        call_id = "call_" + hashlib.sha256(f"{self.tag}{item_id}{tool.name}".encode()).hexdigest()[:32]
        item = {
            "id": item_id,
            "object": "realtime.item",
            "type": "function_call",
            "name": tool.name,
            "call_id": call_id,
        }
        where = {"response_id": response_id, "item_id": item_id, "output_index": output_index, "call_id": call_id}
        opened = {**item, "status": "in_progress", "arguments": ""}
        self._item_opens(cause, max(moment - 40_000, 0), opened, response_id, output_index, at)
        delta = {"type": "response.function_call_arguments.delta", **where, "delta": arguments}
        self.add(cause, max(moment - 20_000, 0), delta, **at)
        done = {"type": "response.function_call_arguments.done", **where, "name": tool.name, "arguments": arguments}
        self.add(cause, moment, done, **at)
        finished = {**item, "status": "completed", "arguments": arguments}
        self._item_closes(cause, moment, finished, response_id, output_index, at)
        if tool.answered:
            self.answered(call_id, item_id)
        return finished

    def _item_opens(
        self, cause: Cause, delay: int, item: dict[str, Any], response_id: str, index: int, at: dict[str, Any]
    ) -> None:
        outer = {"response_id": response_id, "output_index": index}
        self.add(cause, delay, {"type": "response.output_item.added", **outer, "item": item}, **at)
        added = {"type": "conversation.item.added", "previous_item_id": self._last_item, "item": item}
        self.add(cause, delay + 200, added, **at)

    def _item_closes(
        self, cause: Cause, delay: int, item: dict[str, Any], response_id: str, index: int, at: dict[str, Any]
    ) -> None:
        done = {"type": "conversation.item.done", "previous_item_id": self._last_item, "item": item}
        self.add(cause, delay, done, **at)
        outer = {"response_id": response_id, "output_index": index}
        self.add(cause, delay, {"type": "response.output_item.done", **outer, "item": item}, **at)
        self._last_item = str(item["id"])


def author(script: Script, profile: str = "openai", vad: VadName = "energy") -> Score:
    """The score of a script."""
    made = Author(script.pacing, profile, vad)
    made.handshake()
    turn_count = reply_count = 0
    stop: Cause = OPEN
    for step in script.steps:
        if isinstance(step, Turn):
            made.turn(step, turn_count)
            cue = parse_cue(step.cue)
            if step.hearing == "turn":
                stop = ("turn.stop", turn_count)
                if cue.anchor == "heard" and isinstance(cue.reply, int):
                    made.talked_over(made.replies[cue.reply].item_id)
            turn_count += 1
            continue
        if isinstance(step, Delegate):
            continue
        if step.reminded:
            made.reminded()
        cause = made.expect("response.create") if step.on == "create" else stop
        made.reply(step, cause, reply_count)
        reply_count += bool(step.samples is not None and len(step.samples))
    return Score(
        dialect="realtime",
        profile=profile,
        opening=Opening(subprotocol="realtime"),
        frames=made.frames,
        answers=index_answers(made.frames),
        turns=made.turns,
        replies=made.replies,
        client_events=made.expected,
        pacing=script.pacing,
        authored=True,
    )
