"""The caller's audio is in another format than the session has.

A listener notices that the agent hears nothing of what is said, or hears a roar: no turn, no transcript, no error.

The session's input format is what the server last stated (`session.updated`), 24 kHz PCM16 before that. A
`session.update` that was refused, or in which the format stands at a place that the API does not know (a name of the
beta API, say), changes nothing. A wrong rate is a wrong format, too: the agent hears a voice that is too fast or too
slow.

To mend: read `session.audio.input.format` in `session.updated`, and convert to what it says.
"""

from collections.abc import Iterator

from simrt.checks.base import Finding, found, rule
from simrt.checks.case import Case
from simrt.checks.misread import misread, name_of


@rule("CLR105", "audio-in-wrong-format", "The caller's audio is in another format than was agreed", harm="legal")
def check(case: Case) -> Iterator[Finding]:
    """Runs of audio that are misread; see CLR104 for those before the format was named."""
    for run in misread(case):
        if not run.early:
            yield found(
                run.first.t_us,
                f"{run.audio_us / 1000:.0f} ms of audio were sent in {name_of(run.format)}; the session has "
                f"{name_of(run.agreed)}",
                connection=run.first.connection,
                frame=run.first.frame,
                sent_ms=run.audio_us / 1000,
            )
