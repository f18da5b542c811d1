"""How a desk comes to hang up: the agent says goodbye with a tool, and the line is let go when that was heard."""

import asyncio

from .desk import Desk
from .tools import Output, Tool, ToolCall
from .turns import BROKEN

HANG_UP_CAP_S = 8.0


class GoodbyeDesk(Desk):
    """A desk with an `end_call` tool."""

    def end_call_tool(self) -> Tool:
        """The tool that says goodbye and hangs up."""
        return Tool(
            "end_call",
            "Say goodbye and hang up, once the caller needs nothing more.",
            {
                "goodbye": {
                    "type": "string",
                    "description": "The goodbye, word for word as the caller is to hear it.",
                    # The server speaks it, in the same response as the call. A model that is told to
                    # speak first and then to call does speak, but the call never comes.
                    "poly_spoken": True,
                },
                "reason": {"type": "string", "description": "Why the call ends, for the log."},
            },
            self._end_call,
        )

    async def goodbye_over(self, call: ToolCall) -> bool:
        """Wait until the line may be let go: the server has sent all of the goodbye, *and* all of it was played.

        At most 8 s from `end_call`. False: it may not, the caller has talked over the goodbye, or it broke down.
        """
        done, turns = self.outcome(call.response_id), self.caller_turns
        try:
            async with asyncio.timeout(HANG_UP_CAP_S):
                if await asyncio.shield(done) == "completed":
                    await self.line.speaker.drain()
        except TimeoutError:
            if not self.playout.lost_audio_of(call.response_id) and self.caller_turns == turns:
                self.line.note(f"the goodbye was not over {HANG_UP_CAP_S} s after end_call: hang-up cap hit")
                return True
            return False
        whole = done.done() and done.result() == "completed"
        return whole and not self.playout.lost_audio_of(call.response_id)

    async def _end_call(self, call: ToolCall) -> Output | None:
        # Broken arguments change nothing here: what was spoken was spoken by the server.
        if await self.goodbye_over(call):
            self.end("the call is finished")
            return None
        done = self.outcome(call.response_id)
        if done.done() and done.result() in BROKEN:
            self.line.note("the goodbye broke down: staying on the line")
            return Output(
                {"hung_up": False, "message": "The goodbye broke off; the line is open. Call end_call again."}
            )
        self.line.note("the caller talked over the goodbye: staying on the line")
        message = "The caller talked over the goodbye. The line is still open: answer, then call end_call again."
        return Output({"hung_up": False, "message": message})
