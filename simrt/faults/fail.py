"""A response fails.

The model or the service breaks down in the middle of an answer (`failed`: a server error, a rate limit), or the answer
is stopped at a limit or by a filter (`incomplete`). Nobody says anything more unless the client asks again: to wait for
the answer is to leave the caller in silence.
"""

from __future__ import annotations

from typing import Any, ClassVar, Literal

from simrt.faults.base import Armed, Context, Ms
from simrt.faults.draw import Draw, Harm
from simrt.faults.rewrite import Again, Broken, draw_response, ended_early, find_response, first_from
from simrt.replay.edit import Changes
from simrt.replay.score import Score, ScoredFrame

_MESSAGES = {
    "server_error": "The server had an error while processing your request.",
    "rate_limit_exceeded": "Rate limit reached for this model.",
    "insufficient_quota": "You exceeded your current quota.",
}


class Fail(Broken, frozen=True):
    """Response `response` (all are counted, those with tool calls too) ends with `status` after `at` ms of its audio.

    With at=0 nothing of it comes between `response.created` and `response.done`, and it leaves no item in the history.
    `reason`: the error's code (failed), or `max_output_tokens` or `content_filter` (incomplete). A client that asks for
    a response before there is another one gets this one anew, whole.
    """

    name: ClassVar[str] = "fail"
    response: int = -1
    at: Ms = 0
    status: Literal["failed", "incomplete"] = "failed"
    reason: str = ""

    @classmethod
    def draw(cls, draw: Draw) -> Fail:
        """Any response, from its beginning or from within its audio."""
        response = draw_response(draw)
        at = draw.pick((0, 500, 1500))
        status: Literal["failed", "incomplete"] = draw.pick(("failed", "incomplete"))
        return cls(response, at, status)

    def harm(self) -> Harm:
        """It is the protocol's own way to say that something is broken."""
        return "survivable"

    def check(self, score: Score) -> None:
        """The response must be there, and have audio beyond `at`."""
        length = sum(frame.audio_us for frame in find_response(self, score, self.response)) // 1000
        if self.at and self.at >= length:
            raise self.never(f"response {self.response} has {length} ms of audio, at={self.at}ms lies beyond")

    def _details(self) -> dict[str, Any]:
        if self.status == "incomplete":
            return {"type": "incomplete", "reason": self.reason or "max_output_tokens"}
        code = self.reason or "server_error"
        message = _MESSAGES.get(code, _MESSAGES["server_error"])
        return {"type": "failed", "error": {"type": code, "code": code, "message": message}}

    def changes(self, score: Score) -> tuple[list[ScoredFrame], Changes]:
        """It ends early."""
        frames = find_response(self, score, self.response)
        return frames, ended_early(frames, first_from(frames, self.at * 1000), self.status, self._details())

    def arm(self, context: Context, number: int) -> Armed:
        """Waits to give it again."""
        frames = find_response(self, context.cassette, self.response)
        return Again(self, context, number, next(f.index for f in frames if f.kind == "response.done"))
