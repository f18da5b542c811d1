"""Authored cassettes: a call written down as turns, replies and pacing instead of recorded frames.

simrt.replay.authored turns a script into the same Score that a recording gives, so one engine serves both.
"""

from typing import Any, Literal

import msgspec

from simrt.audio import Samples
from simrt.cassette.header import Word


class Pacing(msgspec.Struct, frozen=True, omit_defaults=True):
    """When the authored server sends what, in ms. The defaults are those measured live on 10 November 2026.

    `ready_ms`: from `session.update` to `session.updated`, or from `session.start` to `session.started`; `created_ms`:
    from the connection to `session.created`.
    `think_ms`: from the end of the caller's turn (or the client's request) to the first audio. A reply's first
    `ahead_ms` of audio go out at once, the rest in `chunk_ms` pieces at speaking pace; `response.done` follows
    `done_ms` after the last piece. A spoken tool argument is heard `tool_ms` before the call's arguments are done.
    `cut_ms`: from the caller's first sound to the cancelled `response.done`. `lag_ms`: Live only, how long after the
    caller's audio for a moment has arrived the agent's audio for that moment goes out (published log: 0.74 to 0.8 s).
    """

    created_ms: int = 60
    ready_ms: int = 50
    think_ms: int = 520
    ahead_ms: int = 300
    chunk_ms: int = 200
    done_ms: int = 400
    tool_ms: int = 46
    cut_ms: int = 760
    silence_ms: int = 500
    prefix_ms: int = 300
    lag_ms: int = 800


class Tool(msgspec.Struct, frozen=True, omit_defaults=True):
    """A tool call inside a reply. `spoken` names the argument whose text is the reply's audio (`poly_spoken`).

    `answered` False: the call ends with it, no output is expected (a hang-up).
    """

    name: str
    arguments: dict[str, Any]
    spoken: str | None = None
    answered: bool = True


Hearing = Literal["turn", "unheard", "background"]


class Turn(msgspec.Struct, omit_defaults=True, tag="turn", tag_field="step"):
    """The caller says something. `samples` are 24 kHz; `cue` says when (see simrt.caller.cue); `clip` is its name.

    `hearing`: how the server takes it: as a turn; not at all (a soft "mm-hmm" into the agent's speech); or as talk in
    the background, which interrupts nobody and is yet transcribed as the caller's. `leave`: the caller hangs up at the
    end of it (with nothing to say: at the cue).
    """

    text: str
    cue: str
    words: list[Word] = []
    samples: Samples | None = None
    clip: str = ""
    hearing: Hearing = "turn"
    leave: bool = False


class Reply(msgspec.Struct, omit_defaults=True, tag="reply", tag_field="step"):
    """One response of the agent: speech, a tool call, or both.

    `on`: what brings it out: the end of the caller's turn before it, or the client's next `response.create`; on Live
    also the session's start (a greeting), or a commentary that the client appends. `content`: the commentary that it
    is the answer to, where that does not have the reply's own words: a commentary with enough of these words is said
    with this reply, any other with a made-up voice.
    `done` False: its `response.done` never comes. `reminded`: before it asks, the client adds a message of its own to
    the conversation.
    """

    on: Literal["turn", "create", "start", "commentary"] = "turn"
    text: str = ""
    words: list[Word] = []
    samples: Samples | None = None
    tool: Tool | None = None
    done: bool = True
    think_ms: int | None = None
    reminded: bool = False
    content: str = ""


class Delegate(msgspec.Struct, omit_defaults=True, tag="delegate", tag_field="step"):
    """Live: the agent hands the caller's turn before it over to the client (`session.delegation.created`).

    A reply on "turn" beside it is what the agent says meanwhile; the result is a reply on "commentary".
    """


Step = Turn | Reply | Delegate
ScriptDialect = Literal["realtime", "live"]


class Script(msgspec.Struct):
    """A whole authored call. `dialect`: the protocol that it is played in."""

    steps: list[Step]
    pacing: Pacing = Pacing()
    dialect: ScriptDialect = "realtime"
