"""The agent's audio is played in another format than it is in.

A listener hears static, a roar at full volume, instead of the agent.

The bytes of `response.output_audio.delta` are in the session's output format, which is what `session.updated` states;
what the client asked for may have been ignored (a field with its name of the beta API, an update that was refused as a
whole). PCM16 that is taken for μ-law, or the other way round, is noise.

To mend: read `session.audio.output.format` in `session.updated`, decode what it says, and convert to what the line
plays; refuse to go on when it is a format that you cannot play.

Where the server sends another format than it states, nobody can know: that is a note.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.misread import name_of
from simrt.checks.noise import static


@rule("AGT208", "static", "The agent's audio is played in another format than it is in", harm="fatal")
def check(case: Case) -> Iterator[Finding]:
    """The first reply that is heard as noise."""
    noise = static(case)
    if noise is None:
        return
    stated = name_of(noise.stated)
    if noise.real is None:
        what = f"what is sent in {stated}, as the session states, is misread"
    else:
        what = f"the session states {stated}, and {name_of(noise.real)} is sent"
    yield found(
        noise.start_us,
        f"static is heard instead of the agent: {what}",
        event=noise.response.pieces[0].event,
        severity="error" if noise.real is None else "note",
        stated=stated,
    )
