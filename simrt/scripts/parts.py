"""What authored calls are put together from: turns and replies out of the shipped clips."""

from typing import Literal

from simrt.caller.clip import fixture_clip
from simrt.cassette.script import Hearing, Reply, Tool, Turn

PICKUP = "pickup+0ms"


def turn(clip: str, cue: str, hearing: Hearing = "turn", *, leave: bool = False) -> Turn:
    """The caller says a clip at a cue. `leave`: and hangs up."""
    said = fixture_clip(clip)
    return Turn(said.text, cue, list(said.words), said.samples, clip, hearing, leave)


def patience(seconds: int) -> Turn:
    """A caller who hears nothing for so long gives up, wherever in the call that is."""
    return Turn("", f"line.quiet+{seconds}s", leave=True)


def reply(
    clip: str,
    on: Literal["turn", "create", "start", "commentary"] = "turn",
    tool: Tool | None = None,
    *,
    done: bool = True,
    reminded: bool = False,
    content: str = "",
) -> Reply:
    """The agent says a clip; see simrt.cassette.script.Reply."""
    said = fixture_clip(clip)
    return Reply(on, said.text, list(said.words), said.samples, tool, done, reminded=reminded, content=content)


def goodbye(clip: str, reason: str, *, answered: bool = False, done: bool = True) -> Reply:
    """The last words are the tool's argument, spoken in the response that makes the call (`poly_spoken`)."""
    arguments = {"goodbye": fixture_clip(clip).text, "reason": reason}
    return reply(clip, tool=Tool("end_call", arguments, spoken="goodbye", answered=answered), done=done)
