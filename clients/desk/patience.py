"""What a desk does when nothing comes: a call must not stand still because one event was lost on the way.

The server takes a cough for a turn and answers nothing; it loses a request, or what was to follow a
`response.created`; the caller has put the telephone down and says no more. Each has its time, after which the desk does
not wait on.
"""

import asyncio
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .desk import Desk

ANSWER_S = 3.0  # from the end of the caller's turn to the reply that it brings, at the latest
STUCK_S = 8.0  # nothing of a response that was asked for, or that is under way
CANCELLED_S = 2.0  # from a cancel to the end of the response, at the latest
RETRY_S = 0.5  # after a refusal
QUIET_S = 60.0  # neither side has said anything


class Patience:
    """Watches one desk's call; `noticed` is told of every event."""

    def __init__(self, desk: "Desk") -> None:
        self._desk = desk
        self._turn = 0  # of the caller
        self.caller_talks = False  # as far as the server says
        self._last = 0.0  # when something came, or was still being played
        self._last_of: dict[str, float] = {}  # by response
        self._with_call: set[str] = set()  # responses that have made a call

    def noticed(self, event: dict[str, Any]) -> None:
        """An event has come, and the desk has dealt with it."""
        desk, kind = self._desk, event.get("type")
        self._last = _now()
        response_id = event.get("response_id") or (event.get("response") or {}).get("id")
        if response_id:
            self._last_of[response_id] = self._last
        match kind:
            case "input_audio_buffer.speech_started":
                self._turn, self.caller_talks = self._turn + 1, True
            case "input_audio_buffer.speech_stopped":
                self.caller_talks = False
                desk.spawn(self._answered(self._turn, desk.turns.begun))
            case "response.created":
                if not desk.turns.asked_for:
                    self.caller_talks = False  # if the end of their words was lost on the way
                desk.spawn(self._goes_on(event["response"]["id"]))
            case "response.function_call_arguments.done":
                self._with_call.add(event["response_id"])
            case "response.output_item.done" if event["item"].get("type") == "function_call":
                self._with_call.add(event["response_id"])

    async def _answered(self, turn: int, begun: int) -> None:
        """The caller's turn is over. If nobody answers it, ask for an answer."""
        await asyncio.sleep(ANSWER_S)
        if turn == self._turn and begun == self._desk.turns.begun:
            self._desk.unanswered()

    async def _goes_on(self, response_id: str) -> None:
        """A response is under way. If it stops, cancel it, and ask again unless it has done its work."""
        desk = self._desk
        while desk.turns.active == response_id:
            heard = desk.playout.heard(response_id)
            unheard_s = 0.0 if heard.over else (heard.received_ms - heard.heard_ms) / 1000
            left_s = max(self._last_of[response_id] + STUCK_S - _now(), unheard_s)
            if left_s > 0.001:
                await asyncio.sleep(left_s + 0.001)
                continue
            desk.line.note(f"nothing more of response {response_id} for {STUCK_S} s: cancelled")
            if not heard.whole and response_id not in self._with_call:
                desk.turns.owe(response_id)
            await desk.cancel(response_id)
            await asyncio.wait([desk.outcome(response_id)], timeout=CANCELLED_S)
            desk.turns.finished(response_id)  # if the server will not say so
            desk._ask_for_reply()

    async def asked(self, event_id: str) -> None:
        """A response was asked for. If none begins, and no refusal comes, ask again."""
        await asyncio.sleep(STUCK_S)
        while self.caller_talks:
            await asyncio.sleep(RETRY_S)
        if self._desk.turns.waiting == event_id:
            self._desk.line.note(f"no answer to {event_id} for {STUCK_S} s: asked again")
            self._desk.turns.refused(event_id, None)
            self._desk._ask_for_reply()

    async def retry(self) -> None:
        """A request was refused, and no response that is under way will bring another chance."""
        await asyncio.sleep(RETRY_S)
        self._desk._ask_for_reply()

    async def quiet(self) -> None:
        """End a call in which nothing happens any more."""
        self._last = _now()
        while (left_s := self._last + QUIET_S - _now()) > 0:
            await asyncio.sleep(left_s + 0.001)
            if self._desk.line.speaker.queued_ms > 0:
                self._last = _now()
        self._desk.end(f"nobody has said anything for {QUIET_S:.0f} s")


def _now() -> float:
    return asyncio.get_running_loop().time()
