"""A response that the server begins by itself is a moment ahead of the one that the client asks for.

The session has an idle timeout (`idle_timeout_ms`): nobody has spoken for a while, the server commits the silence and
prompts the caller, just as the client's tool comes back. The client's `response.create` is refused with
`conversation_already_has_active_response`, and what it was to bring is not said unless the client asks again. Reported:
openai/openai-agents-python#1466, livekit/agents#1056, pollen-robotics/reachy_mini_conversation_app#204.
"""

from __future__ import annotations

from random import Random
from typing import Any, ClassVar

from msgspec.structs import replace

from simrt.caller.clip import fixture_clip
from simrt.faults.base import Armed, Context, Fault
from simrt.faults.draw import Draw
from simrt.faults.reject import ArmedGate, asked, find_asked
from simrt.faults.speech import reply_of
from simrt.replay.authored import Author
from simrt.replay.edit import next_index, next_response, patched
from simrt.replay.score import Score


class Collide(Fault, frozen=True):
    """Just before the client's `nth` `response.create` the server begins a response, in which it says `prompt`."""

    name: ClassVar[str] = "collide"
    nth: int = -1
    prompt: str = "take-your-time"

    @classmethod
    def draw(cls, draw: Draw) -> Collide:
        """Any request for a response."""
        return cls(draw.pick(range(-1, -1 - len(asked(draw.score, "response.create")), -1)))

    def check(self, score: Score) -> None:
        """The cassette's client must have asked, and the clip must exist."""
        self.about("realtime", score)
        find_asked(self, score, "response.create", self.nth)
        fixture_clip(self.prompt)

    def extend(self, score: Score, number: int, rng: Random) -> Score:
        """The prompt is added."""
        made = Author(score.pacing, score.profile, first_index=next_index(score))
        made.tag, made.response = f"prompt{number}_", next_response(score)
        cause = ("prompt", number)
        item_id = f"item_{made.tag}0000"
        silence = {"audio_start_ms": 0, "audio_end_ms": 0, "item_id": item_id}
        made.add(cause, 0, {"type": "input_audio_buffer.timeout_triggered", **silence})
        made.add(cause, 0, {"type": "input_audio_buffer.committed", "previous_item_id": None, "item_id": item_id})
        content = [{"type": "input_audio", "transcript": None}]
        item = {"id": item_id, "object": "realtime.item", "type": "message", "status": "completed", "role": "user"}
        for kind in ("conversation.item.added", "conversation.item.done"):
            made.add(cause, 0, {"type": kind, "previous_item_id": None, "item": {**item, "content": content}})
        made.reply(reply_of(self.prompt), cause, f"prompt-{number}")
        more = [replace(frame, delay_us=0) if frame.kind == "response.created" else frame for frame in made.frames]
        return patched(score, {}, more, replies=[*score.replies, *made.replies])

    def arm(self, context: Context, number: int) -> Armed:
        """Waits for the request."""
        return _Armed(self, context, number)


class _Armed(ArmedGate):
    fault: Collide

    def __init__(self, fault: Collide, context: Context, number: int) -> None:
        super().__init__(fault, context, number, "response.create", fault.nth)
        self.cause = ("prompt", number)

    def stop(self, event: dict[str, Any], now_us: int) -> bool:
        """The prompt begins, and the request is refused; one that is refused anyway collides already."""
        session = self.context.session
        if session.answers.busy(now_us):
            return False
        end_ms = session.turns.listener.arrivals.total_us // 1000
        frames = self.context.score.answers.get(self.cause, ())
        for frame in frames:
            if frame.kind == "input_audio_buffer.timeout_triggered":
                session.overrides[frame.index] = {**(frame.event or {}), "audio_end_ms": end_ms}
            elif frame.kind == "response.created":
                session.active_id = str((frame.event or {})["response"]["id"])
        session.happened(self.cause, now_us)
        session.answers.refuse_busy(event, now_us)
        return super().stop(event, now_us)
